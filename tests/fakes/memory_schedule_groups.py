"""The store of schedule groups in memory."""

import threading

from sweephand.model.page import Page
from sweephand.model.schedule_group import ScheduleGroup


class MemoryScheduleGroups:
    """ports.ScheduleGroupStore."""

    def __init__(self) -> None:
        self._groups: dict[str, ScheduleGroup] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> ScheduleGroup | None:
        return self._groups.get(name)

    def put(self, group: ScheduleGroup, replacing: str | None) -> bool:
        with self._lock:
            stored = self._groups.get(group.name)
            if (stored.version if stored else None) == replacing:
                self._groups[group.name] = group
                return True
            return stored is not None and stored.version == group.version

    def delete(self, group: ScheduleGroup) -> bool:
        with self._lock:
            stored = self._groups.get(group.name)
            if stored is not None and stored.version != group.version:
                return False
            self._groups.pop(group.name, None)
            return True

    def page(self, prefix: str, after: str, limit: int) -> Page[ScheduleGroup]:
        found = [
            self._groups[name] for name in sorted(self._groups) if name.startswith(prefix) and name > after
        ]
        return Page(tuple(found[:limit]), found[limit - 1].name if len(found) > limit else None)
