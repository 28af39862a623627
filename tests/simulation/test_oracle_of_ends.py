"""The oracle on the ends of runs, on copies and drops of attempts, and on alerts about what did not end."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.simulation.oracle.overlap import is_overdue
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.broken_batches import DEFINITION, counted
from tests.simulation.traces.broken_ends import dropped
from tests.simulation.traces.broken_stacks import switched_off
from tests.simulation.traces.broken_watches import ALERT, watched
from tests.simulation.traces.doctored import Doctoring, changed, complaints, of, with_, without
from tests.simulation.traces.rare_events import Alerted, BatchEnded, BatchTold
from tests.simulation.traces.stories import (
    NOON,
    THROUGH,
    UID,
    concluded,
    cursor,
    deleted,
    in_order,
    requested,
    run,
    timer,
    written,
)
from tests.simulation.traces.stories_of_ends import (
    DUE,
    NEXT,
    RUN,
    TRIGGER,
    asked,
    followed_by_another,
    link,
    reported,
    silent,
    told_of,
)
from tests.simulation.traces.trace import (
    Buried,
    Event,
    Mishap,
    Requested,
    RunStored,
    Told,
)


def test_a_batch_whose_last_trigger_comes_again_may_wait_for_the_resume_of_its_job() -> None:
    events = without(of(BatchEnded), of(BatchTold))(counted())
    pause = written("pause", "1-a", 890, definition=DEFINITION, paused_at=NOON + 890_000)
    assert any("it has not ended" in each for each in complaints(events))
    assert not any("it has not ended" in each for each in complaints(in_order(events, [pause])))


def test_an_attempt_that_was_made_once_more_may_be_reported_on_once_more() -> None:
    failed = asked("fail", 200, state="running", attempts=1)
    again = requested(180, late_ms=40_000)

    def failure_text(*events: Event | Sequence[Event]) -> list[str]:
        return [each for each in complaints(in_order(reported(), *events)) if "both reports" in each]

    assert failure_text(failed)
    assert not failure_text(failed, again)
    # Another attempt is no excuse, and neither is a request before the first report.
    assert failure_text(failed, replace(again, attempt=2))
    assert failure_text(failed, replace(again, at=again.at - 30_000))


def test_a_run_whose_heartbeats_ended_an_hour_ago_is_overdue_while_the_wheel_stands_still() -> None:
    definition = {"schedule": "@every 60s", "completion": "async", "heartbeatTimeout": "20s"}
    look = timer(1_000, at_s=60, kind="deadline", what=f"{UID}-{NOON}-0,1,o")
    create = written("create", "1-a", 0, definition=definition)
    beat_at, hour_ms = NOON + 2_000_000, 3_600_000
    standing = Tale([create, look], THROUGH, None)
    assert is_overdue(standing, f"{UID}-{NOON}-0", beat_at, beat_at + 20_000 + hour_ms)
    assert not is_overdue(standing, f"{UID}-{NOON}-0", beat_at, beat_at + hour_ms - 60_000)
    swept = Tale([create, look, cursor(look, 1_000, 1)], THROUGH, None)
    assert not is_overdue(swept, f"{UID}-{NOON}-0", beat_at, beat_at + 20_000 + hour_ms)


#: The job has no notification any more.
CHANGED = written("patch", "2-n", 850, definition={"schedule": "@every 60s", "data": '"x"'})


def untold_of(*events: Event) -> list[str]:
    """Complaints about the notification, which never left."""
    untold = without(of(Told, trigger_id=TRIGGER))(told_of())
    return [each for each in complaints(in_order(untold, *events)) if "no notification left" in each]


def test_a_notification_that_no_function_received_may_meet_a_job_without_it() -> None:
    in_vain = [Mishap(NOON + at_s * 1_000, "received in vain", "Lambda") for at_s in range(200, 800, 180)]
    assert untold_of(CHANGED)
    assert untold_of(*in_vain)
    assert not untold_of(CHANGED, *in_vain)


def test_a_notification_that_waited_while_the_stack_was_off_may_meet_a_job_without_it() -> None:
    assert untold_of(CHANGED, switched_off(100, 1))
    assert not untold_of(CHANGED, switched_off(100, 10))


def first_attempt() -> Requested:
    """The attempt on which the consumer of the story `silent` could report."""
    return next(each for each in silent() if isinstance(each, Requested) and each.token is not None)


def test_a_retry_may_be_dropped_if_the_queue_has_taken_the_first_attempt_of_a_later_revision() -> None:
    first = first_attempt()
    again = replace(first, at=first.at + 10, token=None)
    said = complaints(with_(again, dropped(400))(silent()))
    assert not any("was dropped by its queue" in each for each in said)


_LEFT_WITH: Final = "left with"

#: A copy of the first attempt. A function claims it and gives it up.
_COPY: Final = requested(180, late_ms=60_000)
_CLAIM: Final = replace(run(_COPY, None, "claimed"), at=_COPY.at - 5)


def _followed(state: str) -> list[Event]:
    """The next job follows that end of the third minute's run, too."""
    said = {"triggerId": TRIGGER, "attempts": 1, "state": state}
    return link(180, at=_COPY.at + 300, data=json.dumps(said))


def ended_twice(state: str = "failed") -> list[Event]:
    """The third minute of followed_by_another() succeeds without a record. Its copy fails later."""
    return in_order(
        without(of(RunStored, run_id=RUN))(followed_by_another()),
        _CLAIM,
        _COPY,
        concluded(_COPY, "failed"),
        Buried(_COPY.at + 35, TRIGGER, "Attempt 1 of 1 failed: Response 503."),
        replace(run(_COPY, "claimed", "failed"), reason="Attempt 1 of 1 failed: Response 503."),
        _followed(state),
    )


def test_both_ends_of_an_attempt_without_a_claim_may_be_followed_under_one_id() -> None:
    assert [each for each in complaints(ended_twice()) if _LEFT_WITH in each] == []


@pytest.mark.parametrize(
    "doctoring",
    [
        # The success was recorded, so the copy should have found its run over.
        with_(replace(run(requested(180), None, "succeeded"), run_id=RUN)),
        # There was no copy.
        without(lambda event: event == _COPY),
        # The first delivery was claimed, so the copy should have waited for its record.
        changed(of(RunStored, state="claimed"), at=DUE - 5),
        # The consumer of each delivery was to report.
        changed(of(Requested, trigger_id=TRIGGER), token="shr_1"),
        # The ends are of two attempts.
        with_(
            *link(
                180,
                at=_COPY.at + 400,
                data=json.dumps({"triggerId": TRIGGER, "attempts": 2, "state": "failed"}),
            )
        ),
        # The next job was triggered with something else.
        with_(*link(180, at=_COPY.at + 400, data='"y"')),
    ],
)
def test_other_differences_between_what_a_chain_carries_are_named(doctoring: Doctoring) -> None:
    found = complaints(in_order(doctoring(ended_twice())))
    assert any(_LEFT_WITH in each for each in found)


def test_a_notification_of_no_recorded_end_is_named_though_the_attempt_left_twice() -> None:
    assert any("it had not" in each for each in complaints(ended_twice("cancelled")))


def test_a_job_that_becomes_a_batch_may_follow_an_end_under_another_id_and_no_other_job_may() -> None:
    again = link(180, at=DUE + 9_000, due_at=DUE + 5_000, trigger_id=f"{NEXT}-chained-{DUE + 5_000}-0-abc")

    def named_twice(*events: Event) -> bool:
        said = complaints(in_order(followed_by_another(), *events))
        return any("was notified under" in each for each in said)

    def patched(**fields: Any) -> Event:
        definition = {"dueTime": "2099-01-01T00:00:00Z", **fields}
        return replace(written("patch", "2-n", 181, definition=definition), name="next", uid=NEXT)

    assert named_twice(*again)
    assert named_twice(*again, patched())
    assert not named_twice(*again, patched(batch={"count": 1}))
    third = link(180, at=DUE + 9_500, due_at=DUE + 6_000, trigger_id=f"{NEXT}-chained-{DUE + 6_000}-0-abc")
    assert named_twice(*again, *third, patched(batch={"count": 1}))


def test_a_success_in_time_asks_for_no_alert_and_a_deleted_job_for_none() -> None:
    in_time = changed(of(RunStored, run_id=f"{NOON + 180_000}-0", state="succeeded"), ended_at=NOON + 240_000)
    assert complaints(without(of(Alerted))(in_time(watched()))) == []
    gone = without(of(Alerted), of(Requested, due_s=900), of(RunStored, run_id=f"{NOON + 900_000}-0"))
    said = complaints(in_order(gone(watched()), deleted(899)))
    assert not any("alert" in each for each in said)


def test_an_alert_that_is_tried_again_is_one_alert() -> None:
    again = replace(ALERT, at=ALERT.at + 5_000, attempt=2)
    assert complaints(with_(again)(watched())) == []
