"""The oracle asks that explanations, forecasts, flags and counts agree with the trace."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.simulation.oracle.explain import (
    Explained,
    Forecasted,
    counts_are_what_consumers_saw,
    explanations_are_true,
    forecast_is_what_jobs_owe,
    runs_that_need_a_look_are_listed,
)
from tests.simulation.oracle.tale import Tale
from tests.simulation.simulation import run
from tests.simulation.traces import stories
from tests.simulation.traces.rare_events import TimersLost
from tests.simulation.traces.stories import NOON, THROUGH, UID
from tests.simulation.traces.trace import (
    Concluded,
    Deleted,
    Event,
    Mishap,
    RunAsked,
    RunStored,
    TimerStored,
    Verb,
)

from sweephand.model.counters import Stats

MINUTE = 60_000
DUE = NOON + MINUTE


def story(state: str = "succeeded", *more: Event) -> list[Event]:
    """A job that fires every minute, and the record of its first run."""
    request = stories.requested(60)
    return [stories.written("create", "1-a", 0), request, stories.run(request, None, state), *more]


def tale(events: list[Event]) -> Tale:
    return Tale(events, THROUGH, None)


def complaints(verdict: str, events: list[Event], at: int = DUE) -> list[str]:
    asked = [Explained("job", at, verdict, at if at == DUE else None)]
    return list(explanations_are_true(tale(events), asked))


@pytest.mark.parametrize(
    ("state", "verdict"),
    [("succeeded", "delivered"), ("failed", "failed"), ("retrying", "retrying"), ("running", "running")],
)
def test_what_the_record_says_is_true(state: str, verdict: str) -> None:
    assert complaints(verdict, story(state)) == []


def test_a_trigger_without_a_record_may_be_skipped_after_trouble_of_the_wheel_although_it_was_sent() -> None:
    events: list[Event] = [each for each in story("succeeded") if not isinstance(each, RunStored)]
    it_was_sent = [f"job at {DUE} is explained by misfire, but it was sent"]
    assert complaints("misfire", events) == it_was_sent
    assert complaints("misfire", [*events, TimersLost(DUE + 1)]) == []
    assert complaints("misfire", [*events, Mishap(DUE, "kill", "tick 2 after timers.put")]) == []
    assert complaints("misfire", [*events, Mishap(DUE, "kill", "deliver 2 after jobs.get")]) == it_was_sent
    earlier = Mishap(DUE - 20 * MINUTE, "kill", "sweep 1 after queue.send")
    assert complaints("misfire", [*events, earlier]) == it_was_sent


def sent_and_skipped(reason: str, *more: Event, skipped_ms: int = 500) -> list[Event]:
    """A trigger that Sweephand sent without a record, and the record of a copy that it skipped."""
    request = stories.requested(60)
    record = replace(stories.run(request, None, "skipped"), at=request.at + skipped_ms, reason=reason)
    return [stories.written("create", "1-a", 0), request, record, *more]


def test_a_copy_of_a_trigger_without_a_record_may_be_skipped_by_overlap() -> None:
    assert complaints("overlap", sent_and_skipped("overlap")) == []
    it_was_sent = [f"job at {DUE} is explained by overlap, but it was sent"]
    assert complaints("overlap", sent_and_skipped("overlap", skipped_ms=-1)) == it_was_sent
    succeeded = stories.run(stories.requested(60), None, "succeeded")
    assert complaints("overlap", [succeeded, *sent_and_skipped("overlap")]) == it_was_sent
    again = stories.requested(60, attempt=2)
    assert complaints("overlap", [*sent_and_skipped("overlap"), again]) == it_was_sent


def test_a_timer_that_was_put_off_excuses_no_misfire_of_what_was_sent() -> None:
    it_was_sent = [f"job at {DUE} is explained by misfire, but it was sent"]
    assert complaints("misfire", sent_and_skipped("misfire")) == it_was_sent
    timer = TimerStored(NOON, 0, "job", UID, "1-a", "occurrence", DUE + 5 * MINUTE, "key")
    put_off = replace(timer, put_off_by_ms=5 * MINUTE)
    assert complaints("misfire", sent_and_skipped("misfire", put_off)) == it_was_sent


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("failed", "the records say ['delivered']"),
        ("enqueued", "its record says ['delivered']"),
        ("not-scheduled", "it was sent"),
        ("misfire", "it was sent"),
        ("paused", "the job was not paused"),
        ("deleted", "nobody had deleted it"),
    ],
)
def test_what_the_trace_contradicts_is_named(verdict: str, expected: str) -> None:
    assert any(expected in each for each in complaints(verdict, story()))


def test_a_run_that_never_was_is_not_said_to_be_one() -> None:
    assert complaints("delivered", story(), DUE + 1) != []
    assert complaints("not-scheduled", story(), DUE + 1) == []


def test_a_pause_and_a_deletion_explain_what_falls_due_after_them() -> None:
    paused = stories.written("pause", "1-a", 90, paused_at=NOON + 90_000)
    assert complaints("paused", story("succeeded", paused), NOON + 3 * MINUTE) == []
    assert complaints("deleted", story("succeeded", stories.deleted(90)), NOON + 3 * MINUTE) == []


@pytest.mark.parametrize(("state", "needs"), [("failed", True), ("retrying", True), ("succeeded", False)])
def test_a_run_that_needs_a_look_and_has_no_flag_is_named(state: str, *, needs: bool) -> None:
    told = tale(story(state))
    assert bool(list(runs_that_need_a_look_are_listed(told, set()))) == needs
    assert list(runs_that_need_a_look_are_listed(told, {(UID, f"{DUE}-0")})) == []


def test_worlds_are_asked_about() -> None:
    """Otherwise nothing would be checked in the seeds."""
    result = run(2)
    assert result.figures["explained"] > 5
    assert not result.complaints


@pytest.mark.parametrize(("verb", "is_true"), [(None, True), ("create", True), ("delete", False)])
def test_a_job_that_expired_may_seem_deleted_and_one_that_was_deleted_later_may_not(
    verb: Verb | None, *, is_true: bool
) -> None:
    created = stories.written("create", "1-a", 0, expires_at=NOON + 10 * MINUTE)
    gone = Deleted(NOON + 20 * MINUTE, "job", UID, verb)
    asked = [Explained("job", NOON + 2 * MINUTE, "deleted", None)]
    assert (list(explanations_are_true(tale([created, gone]), asked)) == []) == is_true


#: A job that fires every minute.
THERE: list[Event] = [stories.written("create", "1-a", 0)]
PAUSED: list[Event] = [*THERE, stories.written("pause", "1-a", 10, paused_at=10)]
OWED = {0: 5, 1: 5, 2: 2}


def complaints_of_forecast(
    events: list[Event], triggers: Mapping[int, int], jobs: int = 1, paused: int = 0
) -> list[str]:
    since = NOON + 60 * MINUTE
    said = Forecasted(since, since + 12 * MINUTE, 5 * MINUTE, triggers, jobs, paused)
    return list(forecast_is_what_jobs_owe(Tale(events, THROUGH, None), said))


def test_a_forecast_of_what_is_owed_is_true() -> None:
    assert complaints_of_forecast(THERE, OWED) == []
    assert complaints_of_forecast(PAUSED, {}, 0, 1) == []


@pytest.mark.parametrize("triggers", [{}, {0: 5, 1: 5}, {0: 5, 1: 5, 2: 3}, {0: 12}])
def test_other_triggers_are_named(triggers: dict[int, int]) -> None:
    [said] = complaints_of_forecast(THERE, triggers)
    assert f"the jobs owe {OWED}" in said


def test_a_paused_job_owes_nothing_and_jobs_are_counted() -> None:
    found = complaints_of_forecast(PAUSED, OWED)
    assert any("there are 0 and 1" in each for each in found)
    assert any("the jobs owe {}" in each for each in found)


REQUEST = stories.requested(60)
TAKEN = Concluded(REQUEST.at, REQUEST.uid, REQUEST.trigger_id, 1, "succeeded")
REFUSED = Concluded(REQUEST.at, REQUEST.uid, REQUEST.trigger_id, 2, "failed")
ONE_OF_EACH = Stats(Counter({"succeeded": 1, "retrying": 1}), Counter({10: 1}))


def complaints_of_counts(counted: Stats, *more: Event, uncounted: int = 0) -> list[str]:
    tale = Tale([REQUEST, TAKEN, REFUSED, *more], THROUGH, None)
    return list(counts_are_what_consumers_saw(tale, counted, uncounted))


def test_counts_of_what_happened_are_true() -> None:
    assert complaints_of_counts(ONE_OF_EACH) == []


@pytest.mark.parametrize(
    "counted",
    [
        Stats(Counter({"succeeded": 2, "retrying": 1}), Counter({10: 1})),
        Stats(Counter({"succeeded": 1, "retrying": 1}), Counter({10: 1, 15: 1})),
        Stats(Counter({"retrying": 1}), Counter({10: 1})),
        Stats(Counter({"succeeded": 1}), Counter({10: 1})),
    ],
)
def test_what_is_counted_too_often_or_not_at_all_is_found(counted: Stats) -> None:
    assert len(complaints_of_counts(counted)) == 1


def test_a_callback_that_comes_before_the_answer_is_lost_rules() -> None:
    nothing_refused = Stats(Counter({"succeeded": 1}), Counter({10: 1}))
    run_id = REFUSED.trigger_id.removeprefix(f"{REFUSED.uid}-")
    before = RunAsked(REFUSED.at - 1, "complete", "job", REFUSED.uid, run_id, REFUSED.attempt)
    assert complaints_of_counts(nothing_refused, before) == []
    others = (
        replace(before, at=REFUSED.at),
        replace(before, attempt=1),
        replace(before, run_id=f"{run_id}0"),
        replace(before, uid="other"),
    )
    assert all(complaints_of_counts(nothing_refused, each) for each in others)


@pytest.mark.parametrize(
    "mishap",
    [
        Mishap(NOON, "kill", "deliver 4 before runs.record"),
        Mishap(NOON, "outage of 5000 ms", "jobs, runs"),
    ],
)
def test_trouble_of_a_delivery_may_lose_counts_and_adds_none(mishap: Mishap) -> None:
    nothing = Stats(Counter(), Counter())
    assert complaints_of_counts(nothing, mishap) == []
    assert complaints_of_counts(nothing, uncounted=1) == []
    assert complaints_of_counts(nothing, Mishap(NOON, "kill", "sweep 1 before timers.put"))
    assert complaints_of_counts(Stats(Counter({"succeeded": 2}), Counter()), mishap)
