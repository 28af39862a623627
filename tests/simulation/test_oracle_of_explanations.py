"""The oracle asks that explanations agree with the trace, and that each run that needs a look has a flag."""

from dataclasses import replace

import pytest
from tests.simulation.oracle.explain import Explained, explanations_are_true, runs_that_need_a_look_are_listed
from tests.simulation.oracle.tale import Tale
from tests.simulation.simulation import run
from tests.simulation.traces import stories
from tests.simulation.traces.losses import TimersLost
from tests.simulation.traces.stories import NOON, THROUGH, UID
from tests.simulation.traces.trace import Deleted, Event, RunStored, TimerStored, Verb

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


def test_a_trigger_without_a_record_may_be_skipped_after_a_loss_although_it_was_sent() -> None:
    events: list[Event] = [each for each in story("succeeded") if not isinstance(each, RunStored)]
    assert complaints("misfire", events) == [f"job at {DUE} is explained by misfire, but it was sent"]
    assert complaints("misfire", [*events, TimersLost(DUE + 1)]) == []


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
