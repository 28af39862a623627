"""The oracle asks that a trigger is given up after five crashes of each of its messages."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.simulation.oracle.runs import CRASHES_MAX
from tests.simulation.traces.doctored import complaints, of, with_, without
from tests.simulation.traces.rare_events import LimitSet
from tests.simulation.traces.stories import (
    NOON,
    UID,
    every_minute,
    in_order,
    in_turn,
    requested,
    run,
    written,
)
from tests.simulation.traces.trace import (
    Buried,
    Concluded,
    Event,
    LineStored,
    Mishap,
    Requested,
    RunStored,
    Written,
)


def killed(trigger_id: str, times: int) -> list[Event]:
    """That many functions that a trigger crashed."""
    where = "deliver 1 making a request of "
    return [Mishap(NOON + 700_000 + each, "kill", where + trigger_id) for each in range(times)]


def waited() -> str:
    """The id of a trigger that waits in a line of the story `in_turn`."""
    lines = (each for each in in_turn() if isinstance(each, LineStored))
    return next(each.trigger_id for line in lines for each in line.waiting)


@pytest.mark.parametrize(
    ("story", "trigger_id", "limit"),
    [(every_minute, f"{UID}-{NOON + 60_000}-0", CRASHES_MAX), (in_turn, waited(), 2 * CRASHES_MAX)],
    ids=["one message", "two messages"],
)
def test_more_crashes_than_its_messages_may_count_are_named(
    story: Callable[[], list[Event]], trigger_id: str, limit: int
) -> None:
    expected = f"{trigger_id} crashed {limit + 1} functions, and was not given up after {limit}"
    assert expected in complaints(with_(*killed(trigger_id, limit + 1))(story()))
    assert expected not in complaints(with_(*killed(trigger_id, limit))(story()))


@pytest.mark.parametrize(
    "again", [LimitSet(NOON, 1_000), written("resume", "2-b", 700)], ids=["waits at the valve", "resumed"]
)
def test_a_trigger_that_is_sent_anew_may_crash_as_many_functions_again(again: Event) -> None:
    trigger_id, limit = f"{UID}-{NOON + 60_000}-0", 2 * CRASHES_MAX
    expected = f"{trigger_id} crashed {limit + 1} functions, and was not given up after {limit}"
    assert expected in complaints(with_(again, *killed(trigger_id, limit + 1))(every_minute()))
    story = complaints(with_(again, *killed(trigger_id, limit))(every_minute()))
    assert not any("was not given up" in each for each in story)


@pytest.mark.parametrize(
    ("kind", "where", "after_ms", "is_excused"),
    [
        ("pause of 270000 ms", "deliver 2 after timers.top", 20, True),
        ("kill", "deliver 2 before timers.top", 20, True),
        ("kill", "deliver 2 before timers.top", 2_000, False),
        ("kill", "sweep 2 before timers.page", 20, False),
        ("throttle", "deliver 2 timers.top", 20, False),
        ("loss", "deliver 2 lines.put", 2_000, True),
    ],
)
def test_a_trigger_may_make_way_for_one_that_a_stopped_function_did_not_put_into_the_line(
    kind: str, where: str, after_ms: int, *, is_excused: bool
) -> None:
    seen_at = NOON + 330_000
    story: list[Event] = []
    for event in in_turn():
        if isinstance(event, RunStored) and event.state == "skipped":
            story.append(replace(event, at=seen_at))
        elif isinstance(event, Written):
            story.append(replace(event, definition={**event.definition, "overlap": "waitLatest"}))
        elif not isinstance(event, Requested) or event.due_at < seen_at:
            story.append(event)
    story = in_order(story, Mishap(seen_at + after_ms, kind, where))
    assert any("no newer one had come" in each for each in complaints(story)) != is_excused


@pytest.mark.parametrize(
    ("claimed_ms", "where", "before", "is_excused"),
    [
        (-1, "", None, True),
        (2_000, "deliver 2 runs.claim", None, True),
        (2_000, "deliver 2 timers.put", None, False),
        (2_000, "", None, False),
        (95_000, "deliver 2 runs.claim", None, False),
        # A redrive made this claim.
        (2_000, "deliver 2 runs.claim", "failed", False),
    ],
)
def test_a_run_may_stay_claimed_if_the_store_fails_while_a_function_gives_it_up(
    claimed_ms: int, where: str, before: str | None, *, is_excused: bool
) -> None:
    first = requested(60)
    buried_at = first.at + 180_000
    reason = "Sweephand failed to handle it: 5 functions crashed while handling it."
    claim = replace(run(first, before, "claimed"), at=buried_at + claimed_ms)
    faults = [Mishap(claim.at + 20, "loss", where)] if where else []
    begun = without(of(Concluded, trigger_id=first.trigger_id), of(RunStored, run_id=claim.run_id))
    story = with_(Buried(buried_at, first.trigger_id, reason), claim, *faults)(begun(every_minute()))
    complaint = [each for each in complaints(story) if "is claimed since" in each]
    assert bool(complaint) != is_excused, complaint


def lost_trigger(*more: Event) -> list[str]:
    """The complaints about a story in which no request left for the trigger of the fifth minute."""
    run_id = f"{NOON + 300_000}-0"
    story = without(of(Requested, due_s=300), of(RunStored, run_id=run_id))(every_minute())
    told = [each for each in story if not isinstance(each, Concluded) or run_id not in each.trigger_id]
    return [each for each in complaints(with_(*more)(told)) if "no request left for it" in each]


def buried(reason: str) -> Buried:
    return Buried(NOON + 700_000, f"{UID}-{NOON + 300_000}-0", reason)


CRASHED = "Sweephand failed to handle it: 5 functions crashed while handling it."
FAULTY = "Sweephand failed to handle it 60 times, the last time with: StoreError"


@pytest.mark.parametrize(
    ("reason", "mishaps", "is_excused"),
    [
        (FAULTY, [("throttle", 61)], True),
        (FAULTY, [("throttle", 60)], False),
        # The oracle once excused any dead letter of a world with so many mishaps.
        ("Attempt 1 of 1 failed: Response 503.", [("throttle", 61)], False),
        (CRASHED, [("kill", 5)], True),
        (CRASHED, [("pause of 270000 ms", 5)], True),
        # It also excused a trigger that no crash can explain.
        (CRASHED, [], False),
        (CRASHED, [("kill", 4), ("throttle", 70)], False),
    ],
)
def test_a_lost_trigger_is_excused_by_as_many_faults_or_crashes_as_that_takes(
    reason: str, mishaps: list[tuple[str, int]], *, is_excused: bool
) -> None:
    happened = [
        Mishap(NOON + 650_000 + number, kind, "deliver 1 runs.claim")
        for kind, count in mishaps
        for number in range(count)
    ]
    assert bool(lost_trigger(buried(reason), *happened)) == (not is_excused)


def test_a_lost_trigger_that_crashed_a_function_itself_is_excused() -> None:
    assert not lost_trigger(buried(CRASHED), *killed(f"{UID}-{NOON + 300_000}-0", 1))
