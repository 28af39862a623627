"""Limits how many commands run at once. Those that wait go in the order in which they came."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Slot:
    """A place among the commands that run, as soon as it is free. `changed` is called then."""

    changed: Callable[[], None]
    is_free: bool = False


class Slots:
    """So many places. Threads share them."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._lock = threading.Lock()
        self._waiting: list[Slot] = []

    @contextmanager
    def wanted(self, changed: Callable[[], None]) -> Iterator[Slot]:
        """Wait in line for a place. Leaving the context gives it up, or leaves the line."""
        slot = Slot(changed)
        with self._lock:
            self._waiting.append(slot)
            self._hand_out()
        try:
            yield slot
        finally:
            with self._lock:
                if slot.is_free:
                    self._left += 1
                else:
                    self._waiting.remove(slot)
                self._hand_out()

    def _hand_out(self) -> None:
        while self._left and self._waiting:
            slot = self._waiting.pop(0)
            self._left -= 1
            slot.is_free = True
            slot.changed()
