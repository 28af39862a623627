"""Items are removed as DynamoDB removes them, and the oracle complains of removals that break a promise."""

from collections.abc import Callable
from itertools import chain
from typing import Final

import pytest
from tests.simulation.oracle import removal
from tests.simulation.oracle.runs import attempts_never_decrease
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.broken_removal import EXCUSED_REMOVAL
from tests.simulation.traces.doctored import CALM_AT, Doctoring
from tests.simulation.traces.stories import NOON, THROUGH, UID, in_order, requested, run, written
from tests.simulation.traces.trace import Event, Removed
from tests.simulation.world.processes import Scheduler
from tests.simulation.world.removals import Expiring, ExpiringTables, Manner, Removals

from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS
from sweephand_engine.dynamo.expressions import Range

#: From this instant on the item's time to live is over.
EXPIRES_S = NOON // SECOND_MS + 60
PAST = NOON + 60 * SECOND_MS

_DAY_S: Final = DAY_MS // SECOND_MS

#: The checks of what DynamoDB removes.
OF_REMOVAL: Final = (
    removal.what_is_over_does_not_come_back,
    removal.jobs_stay_while_they_owe,
    removal.jobs_stay_for_their_retention,
    removal.lines_stay_while_somebody_waits,
    removal.records_stay,
)


class World:
    """One item, in a dict and in tables, and the removals of a seed of that manner."""

    def __init__(self, manner: Manner) -> None:
        self.scheduler = Scheduler(NOON)
        seed = next(seed for seed in range(100) if Removals(self.scheduler, seed, NOON).manner == manner)
        removals = Removals(self.scheduler, seed, NOON + 100 * DAY_MS)
        self.removed: list[object] = []
        self.items: Expiring[str, int] = Expiring(
            lambda _before, _after: None, self.removed.append, lambda expires_s: expires_s, removals
        )
        self.tables = ExpiringTables(lambda _before, _after: None, self.removed.append, removals)

    def put(self, expires_s: int) -> None:
        """Write the item into the dict and into the tables."""
        self.items["item"] = expires_s
        item = {"pk": {"S": "pk"}, "sk": {"S": "sk"}, "expires_at": {"N": str(expires_s)}}
        self.tables.put("table", item)

    @property
    def are_there(self) -> set[bool]:
        """Whether the item is in the dict, and whether it is in the tables."""
        return {"item" in self.items, bool(self.tables.keys("table", Range("pk")))}


def test_an_item_may_be_removed_as_soon_as_it_has_expired_and_not_before() -> None:
    world = World("at once")
    world.put(EXPIRES_S)
    world.scheduler.run(PAST)
    assert world.are_there == {True}
    world.scheduler.run(PAST + 1)
    assert world.are_there == {False}
    assert len(world.removed) == 2


def test_an_item_is_removed_at_most_two_days_after_it_has_expired() -> None:
    world = World("late")
    world.put(EXPIRES_S)
    world.scheduler.run(PAST + SECOND_MS)
    assert world.are_there == {True}
    world.scheduler.run(PAST + 48 * HOUR_MS)
    assert world.are_there == {False}


def test_a_write_with_a_later_expiry_keeps_an_item() -> None:
    world = World("at once")
    world.put(EXPIRES_S)
    world.put(EXPIRES_S + 60)
    world.scheduler.run(PAST + 59 * SECOND_MS)
    assert world.are_there == {True}
    world.scheduler.run(PAST + 61 * SECOND_MS)
    assert world.are_there == {False}


def test_an_expired_item_is_removed_after_it_was_read() -> None:
    world = World("when read")
    world.put(EXPIRES_S)
    world.scheduler.run(PAST)
    world.items.get("item")
    world.tables.get("table", ("pk", "sk"))
    world.scheduler.run(PAST)
    assert world.are_there == {True}
    world.scheduler.run(PAST + 1)
    assert world.items.get("item") == EXPIRES_S
    assert world.tables.get("table", ("pk", "sk"))
    world.scheduler.run(PAST + 1)
    assert world.are_there == {False}


@pytest.mark.parametrize(("story", "doctoring"), EXCUSED_REMOVAL)
def test_the_oracle_does_not_complain_of_an_allowed_removal(
    story: Callable[[], list[Event]], doctoring: Doctoring
) -> None:
    tale = Tale(doctoring(story()), THROUGH, CALM_AT)
    assert not list(chain.from_iterable(check(tale) for check in OF_REMOVAL))


def brought_back(*, paused_s: float, gone_s: float = 9 * _DAY_S) -> Tale:
    """A paused job whose failed run has no record any more, and a resume that sends its trigger again."""
    failed, again = requested(60, attempt=2), requested(60, late_ms=10 * DAY_MS)
    events = in_order(
        [
            written("create", "1-a", 0),
            failed,
            run(failed, None, "failed"),
            written("pause", "1-a", 61, paused_at=NOON + round(paused_s * 1_000)),
        ],
        Removed(NOON + round(gone_s * 1_000), "run", "job", UID, f"{failed.due_at}-0"),
        written("resume", "2-b", 10 * _DAY_S),
        again,
        run(again, None, "claimed"),
    )
    return Tale(events, THROUGH, CALM_AT)


def complaints_of_return(tale: Tale) -> list[str]:
    return list(removal.what_is_over_does_not_come_back(tale))


def test_a_resume_may_send_again_what_clocks_put_into_its_pause_once_its_record_is_removed() -> None:
    assert not complaints_of_return(brought_back(paused_s=59.9))
    assert not list(attempts_never_decrease(brought_back(paused_s=59.9)))


def test_a_resume_sends_nothing_again_that_was_due_long_before_its_pause_or_in_it() -> None:
    assert complaints_of_return(brought_back(paused_s=60.1))
    assert complaints_of_return(brought_back(paused_s=-40))


def test_a_resume_sends_nothing_again_of_which_there_is_a_record() -> None:
    never_removed = brought_back(paused_s=59.9, gone_s=11 * _DAY_S)
    assert complaints_of_return(never_removed)
    assert list(attempts_never_decrease(never_removed))
