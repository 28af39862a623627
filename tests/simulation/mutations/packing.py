"""What may be wrong with packs: how they are cut and named, and how a cursor moves through them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, wrapping
from tests.simulation.workload.bundling import FIRST_CROWDED

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model.revisions import revision_of
from sweephand.model.timer import Cursor, Lease, OccurrenceTimer, Place, PlacedTimer, TimerPack, placed_timers
from sweephand.wheel import expand, packing, shard_visit, sweep
from sweephand.wheel.expand import Expansion
from sweephand.wheel.packing import Successor
from sweephand.wheel.span import Seen
from sweephand.wheel.sweep import Sweeper

_EXPAND: Final[Any] = expand.expand


def _expanding(change: Callable[[Expansion, Sequence[PlacedTimer], Lease], None]) -> Broken:
    """Expansions that are changed."""

    def changed(timers: Sequence[PlacedTimer], jobs: Any, lease: Lease, **kwargs: Any) -> Expansion:
        expansion: Expansion = _EXPAND(timers, jobs, lease, **kwargs)
        change(expansion, timers, lease)
        return expansion

    return patch.object(sweep, "expand", changed)


@mutation("A cursor in a pack is the number of a timer among those that are alive", first=FIRST_CROWDED)
def counts_what_is_alive() -> Broken:
    def page(self: Any, shard: int, cursor: Cursor) -> list[PlacedTimer]:
        found: list[PlacedTimer] = []
        before = sweep.horizon(self._clock.now())
        while not found and (items := self._timers.page(shard, cursor, before, shard_visit.PAGE_TIMERS_MAX)):
            for item in items:
                found += (
                    numbered(item, cursor, self)
                    if isinstance(item, TimerPack)
                    else placed_timers([item], cursor)
                )
            cursor = Cursor(items[-1].sort_key)
        return found

    def numbered(pack: TimerPack, cursor: Cursor, sweeper: Any) -> Iterator[PlacedTimer]:
        jobs = sweeper._due_jobs._jobs.get_many(list(dict.fromkeys(timer.key for timer in pack.timers)))
        alive = [each for each in pack.timers if revision_of(jobs.get(each.key), each.uid, each.rev)]
        for number, timer in enumerate(alive):
            place = Place(pack.sort_key, f"{number:04d}")
            if place > cursor.place or (place == cursor.place and cursor.within):
                yield PlacedTimer(place, timer, number == len(alive) - 1)

    return patch.object(Sweeper, "_page", page)


@mutation(
    "Successors of five minutes share a pack, which lies where the first of them begins", first=FIRST_CROWDED
)
def packs_into_the_horizon() -> Broken:
    return patch.object(packing, "bucket_of", lambda due_at: due_at - due_at % (5 * MINUTE_MS))


@mutation("A cursor forgets up to where successors are written", first=FIRST_CROWDED)
def forgets_the_chunk() -> Broken:
    return patch.object(expand, "Cursor", lambda key, within, entry, _chunk: Cursor(key, within, entry))


@mutation("A cursor in a chunk says that the successors of its whole bucket are written", first=FIRST_CROWDED)
def believes_more_is_written() -> Broken:
    def change(expansion: Expansion, _: Sequence[PlacedTimer], _lease: Lease) -> None:
        cursor = expansion.cursor
        if cursor.chunk is not None:
            of_bucket = Place(f"{cursor.key[:16]}~")
            expansion.cursor = cursor._replace(chunk=cursor.chunk._replace(last=of_bucket))

    return _expanding(change)


def _of_packs(expansion: Expansion, timers: Sequence[PlacedTimer]) -> set[tuple[str, str, int] | None]:
    """The timers of packs that an expansion puts off, by uid, revision and first due time."""
    return {_name(each) for each in expansion.copies} & {
        _name(each.timer) for each in timers if each.place.entry
    }


def _name(timer: Any) -> tuple[str, str, int] | None:
    return (timer.uid, timer.rev, timer.first.due_at) if isinstance(timer, OccurrenceTimer) else None


@mutation("A timer of a pack that cannot be expanded is left out", first=FIRST_CROWDED)
def drops_what_it_cannot_expand() -> Broken:
    def change(expansion: Expansion, timers: Sequence[PlacedTimer], _: Lease) -> None:
        put_off = _of_packs(expansion, timers)
        expansion.copies = [each for each in expansion.copies if _name(each) not in put_off]

    return _expanding(change)


@mutation("A second timer of one revision and first trigger is expanded too", first=FIRST_CROWDED)
def expands_doubles() -> Broken:
    return patch.object(Seen, "is_double", lambda *_: False)


@mutation(
    "A pack is named after the timers that it holds",
    shown_by="tests/unit/wheel/test_packing.py::test_a_repetition_writes_the_same_packs_or_the_same_without_dead_timers",
)
@wrapping(packing, "_pack")
def names_packs_by_their_timers(
    pack: Callable[..., TimerPack], bucket_at: Instant, _: str, timers: Mapping[str, Successor]
) -> TimerPack:
    return pack(bucket_at, packing._hashed(*timers), timers)


@mutation(
    "A chunk ends where the room of its first turn does",
    shown_by="tests/unit/wheel/test_packing.py::test_a_chunk_writes_all_its_successors_at_its_first_touch_however_its_turns_are_cut",
)
@wrapping(expand._Expander, "begin_chunk")
def cuts_chunks_where_turns_end(
    begin_chunk: Callable[..., None], self: Any, timers: Sequence[PlacedTimer]
) -> None:
    begin_chunk(self, timers[: self.triggers_max])


@mutation(
    "With a timer of a pack that cannot be expanded, the rest of its pack is put off",
    shown_by="tests/unit/wheel/test_packs.py::test_a_timer_that_cannot_be_expanded_is_put_off_alone",
)
def puts_off_whole_packs() -> Broken:
    successor_or_put_off = expand._Expander._successor_or_put_off
    faulty: set[str] = set()

    def careless(self: Any, placed: PlacedTimer) -> OccurrenceTimer | None:
        place, timer = placed.place, placed.timer
        if place.entry and place.key in faulty and isinstance(timer, OccurrenceTimer):
            self.put_off.add(place)
            self.expansion.put_off(timer, StoreError("its pack is put off"), self.judged_at)
            return None
        copies = len(self.expansion.copies)
        found: OccurrenceTimer | None = successor_or_put_off(self, placed)
        if len(self.expansion.copies) > copies:
            faulty.add(place.key)
        return found

    return patch.object(expand._Expander, "_successor_or_put_off", careless)
