"""DynamoDB's removal of items whose time to live is over, from dicts and tables that report each write."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, Literal, TypeAlias, TypeVar
from zlib import crc32

from tests.simulation.world.faults import fraction, mixed, stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import HOUR_MS, SECOND_MS, Instant
from sweephand_engine.dynamo.expressions import Attributes
from sweephand_engine.dynamo.tables import Place, Tables

#: When the items of a seed are removed: as soon as allowed, each at a random time up to the latest, or just
#: after production code has read one. In the last case that code acts on an item that is gone.
Manner: TypeAlias = Literal["at once", "late", "when read"]

_MANNERS: Final[tuple[Manner, ...]] = ("at once", "late", "late", "when read")

_LATEST_MS: Final = 48 * HOUR_MS


class Removals:
    """Decides when each item of a seed's tables is removed. The seed ends at `until` at the latest."""

    def __init__(self, scheduler: Scheduler, seed: int, until: Instant) -> None:
        self._scheduler = scheduler
        self._seed = seed
        self._until = until
        self._is_on = True
        self._missed: list[Callable[[], None]] = []
        self.manner: Manner = stream(seed, "removals").choice(_MANNERS)

    def written(self, place: Hashable, expires_s: int | None, look: Callable[[], None]) -> None:
        """Plan the removal of an item that was written. An item without the attribute is never removed."""
        if expires_s is None:
            return
        at = self._removed_at(place, expires_s)
        if at <= self._until:
            self._scheduler.call_at(at, partial(self._look, look))

    def set(self, *, is_on: bool) -> None:
        """Remove items, or none, as ports.ExpirySwitch says. What was due meanwhile goes afterwards."""
        self._is_on = is_on
        if is_on:
            missed, self._missed = self._missed, []
            for look in missed:
                look()

    def _look(self, look: Callable[[], None]) -> None:
        if self._is_on:
            look()
        else:
            self._missed.append(look)

    def read(self, expires_s: int | None, look: Callable[[], None]) -> None:
        """Note that an item was read. It may be removed before its reader does anything else."""
        if self._is_on and self.manner == "when read" and self.is_past(expires_s):
            self._scheduler.call_at(self._scheduler.now, look)

    def is_past(self, expires_s: int | None) -> bool:
        """Whether DynamoDB may remove an item with that attribute now."""
        return expires_s is not None and expires_s * SECOND_MS < self._scheduler.now

    def is_due(self, place: Hashable, expires_s: int | None) -> bool:
        """Whether an item with that attribute is removed now."""
        return expires_s is not None and self._removed_at(place, expires_s) <= self._scheduler.now

    def _removed_at(self, place: Hashable, expires_s: int) -> Instant:
        latest_ms = 0 if self.manner == "at once" else _LATEST_MS
        code = mixed(self._seed, crc32(repr(place).encode()), expires_s)
        return expires_s * SECOND_MS + 1 + int(latest_ms * fraction(code))


class ExpiringTables(Tables):
    """Tables whose items have a time to live. `removed` is called for each item that DynamoDB removes."""

    def __init__(
        self,
        changed: Callable[[Attributes | None, Attributes | None], None],
        removed: Callable[[Attributes], None],
        removals: Removals,
    ) -> None:
        super().__init__(changed)
        self._removed = removed
        self._removals = removals

    def get(self, table: str, place: Place) -> Attributes | None:
        """Get an item as other tables do."""
        item = super().get(table, place)
        if item is not None:
            self._removals.read(_expires_s(item), lambda: self._look(table, place, must_be_due=False))
        return item

    def put(self, table: str, item: Attributes) -> None:
        """Put an item as other tables do."""
        super().put(table, item)
        place = (item["pk"]["S"], item["sk"]["S"])
        self._removals.written(place, _expires_s(item), lambda: self._look(table, place, must_be_due=True))

    def _look(self, table: str, place: Place, *, must_be_due: bool) -> None:
        item = super().get(table, place)
        if item is None:
            return
        expires_s = _expires_s(item)
        if self._removals.is_due(place, expires_s) if must_be_due else self._removals.is_past(expires_s):
            self.forget(table, place)
            self._removed(item)


def _expires_s(item: Attributes) -> int | None:
    attribute = item.get("expires_at")
    return None if attribute is None else int(attribute["N"])


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
