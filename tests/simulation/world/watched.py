"""Dicts for stores in memory: they report each write, and remove items whose time to live is over."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from tests.simulation.world.removals import Removals

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Watched(dict[Key, Value]):
    """A dict that reports each write: the item before, and the item after."""

    def __init__(self, changed: Callable[[Value | None, Value | None], None]) -> None:
        super().__init__()
        self._changed = changed

    def __setitem__(self, key: Key, value: Value) -> None:
        before = self.get(key)
        super().__setitem__(key, value)
        self._changed(before, value)

    def __delitem__(self, key: Key) -> None:
        before = self.get(key)
        super().__delitem__(key)
        self._changed(before, None)

    def pop(self, key: Key, *default: Value | None) -> Value | None:  # type: ignore[override]
        """Remove and return an item. The removal is reported if there was one."""
        before = self.get(key)
        result = super().pop(key, *default)
        if before is not None:
            self._changed(before, None)
        return result


class Expiring(Watched[Key, Value]):
    """A watched dict of items that have a time to live.

    `removed` is called for each item that DynamoDB removes.
    """

    def __init__(
        self,
        changed: Callable[[Value | None, Value | None], None],
        removed: Callable[[Value], None],
        expires_s: Callable[[Value], int | None],
        removals: Removals,
    ) -> None:
        super().__init__(changed)
        self._removed = removed
        self._expires_s = expires_s
        self._removals = removals

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self._removals.written(key, self._expires_s(value), lambda: self._look(key, must_be_due=True))

    def get(self, key: Key, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """Get an item as a dict does."""
        value = super().get(key)
        if value is None:
            return default
        self._removals.read(self._expires_s(value), lambda: self._look(key, must_be_due=False))
        return value

    def _look(self, key: Key, *, must_be_due: bool) -> None:
        value = super().get(key)
        if value is None:
            return
        expires_s = self._expires_s(value)
        if self._removals.is_due(key, expires_s) if must_be_due else self._removals.is_past(expires_s):
            dict.__delitem__(self, key)
            self._removed(value)
