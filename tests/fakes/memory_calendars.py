"""The store of calendars in memory."""

import threading
from dataclasses import replace

from tests.fakes.memory_access import MemoryAdminChanges

from sweephand.model.calendar import Calendar, CalendarContent, CalendarKey
from sweephand.model.change import AdminChange
from sweephand.model.page import Page


class MemoryCalendars:
    """ports.CalendarStore."""

    def __init__(self, trail: MemoryAdminChanges | None = None) -> None:
        self._trail = trail or MemoryAdminChanges()
        self._calendars: dict[CalendarKey, tuple[Calendar, CalendarContent]] = {}
        self._lock = threading.Lock()

    def get(self, key: CalendarKey) -> Calendar | None:
        found = self._calendars.get(key)
        return None if found is None else found[0]

    def content(self, key: CalendarKey) -> CalendarContent | None:
        found = self._calendars.get(key)
        return None if found is None else found[1]

    def put(
        self, calendar: Calendar, content: CalendarContent, replacing: str | None, change: AdminChange
    ) -> bool:
        with self._lock:
            stored = self.get(calendar.key)
            if (stored.version if stored else None) == replacing:
                self._calendars[calendar.key] = calendar, content
                self._trail.add(change)
                return True
            return stored is not None and stored.version == calendar.version

    def delete(self, calendar: Calendar, change: AdminChange) -> bool:
        with self._lock:
            self._trail.add(change)
            stored = self.get(calendar.key)
            if stored is not None and stored.version != calendar.version:
                return False
            self._calendars.pop(calendar.key, None)
            return True

    def page(self, namespace: str, after: str, limit: int) -> Page[Calendar]:
        found = sorted(
            (each for each, _ in self._calendars.values() if each.key.namespace == namespace),
            key=lambda each: each.key.name,
        )
        beyond = [each for each in found if each.key.name > after]
        return Page(tuple(beyond[:limit]), beyond[limit - 1].key.name if len(beyond) > limit else None)

    def follow(self, calendar: Calendar, reached: str | None, more: int) -> None:
        with self._lock:
            stored = self._calendars.get(calendar.key)
            if stored is not None and stored[0].version == calendar.version:
                followed = replace(stored[0], reached=reached, followed=stored[0].followed + more)
                self._calendars[calendar.key] = followed, stored[1]
