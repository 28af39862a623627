"""The oracle on the ends of runs: it has no complaint if all promises were kept, and names broken ones."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from tests.simulation.oracle.overlap import is_overdue
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.broken_ends import BROKEN_ENDS, dropped, left_after_the_cancel
from tests.simulation.traces.broken_switch import switched_off
from tests.simulation.traces.doctored import Doctoring, changed, complaints, of, with_, without
from tests.simulation.traces.stories import NOON, THROUGH, UID, cursor, in_order, requested, timer, written
from tests.simulation.traces.stories_of_ends import (
    STORIES_OF_ENDS,
    TRIGGER,
    asked,
    cancelled,
    followed_by_another,
    reported,
    silent,
    told_of,
    within,
)
from tests.simulation.traces.trace import (
    Buried,
    Deleted,
    Event,
    Mishap,
    Requested,
    RunAnswered,
    RunAsked,
    Told,
)


@pytest.mark.parametrize("story", STORIES_OF_ENDS)
def test_the_oracle_complains_of_nothing_about_an_end_that_keeps_every_promise(
    story: Callable[[], list[Event]],
) -> None:
    assert complaints(story()) == []


@pytest.mark.parametrize(("story", "doctoring", "expected"), BROKEN_ENDS)
def test_a_broken_promise_about_an_end_is_named(
    story: Callable[[], list[Event]], doctoring: Doctoring, expected: str
) -> None:
    found = complaints(doctoring(story()))
    assert any(expected in each for each in found), found


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


def recorded_late(events: list[Event]) -> list[Event]:
    """The same, but the function was paused before it recorded that the attempt runs."""
    return changed(lambda event: getattr(event, "before", None) == "claimed", at=NOON + 254_000)(events)


EXCUSED: list[tuple[Callable[[], list[Event]], Doctoring]] = [
    # A report is refused after `maxRunTime`, also by a clock that is ahead.
    (
        reported,
        lambda events: in_order(within("2m", events), asked("heartbeat", 281, error="GoneError")),
    ),
    # `maxRunTime` begins with the consumer's answer. A function may pause before it records the attempt.
    (
        reported,
        lambda events: in_order(
            within("170s", recorded_late(events)),
            asked("heartbeat", 299, error="GoneError"),
        ),
    ),
    # An operator completed the run in time. The consumer's own report comes late, and changes nothing.
    (
        reported,
        lambda events: in_order(
            within("3m", without(of(RunAsked, verb="complete"), of(RunAnswered, state="succeeded"))(events)),
            asked("complete", 301, None, state="succeeded", attempts=1),
            asked("complete", 900, state="succeeded", attempts=1),
        ),
    ),
    # An answer that was lost says nothing, and the action may have been done.
    (reported, without(of(RunAnswered))),
    # Heartbeats of an attempt that is over change nothing.
    (silent, lambda events: in_order(events, asked("heartbeat", 308, error="GoneError"))),
    # Notifications follow the present definition: without `onComplete` no notification is owed.
    (
        told_of,
        lambda events: in_order(
            without(of(Told, trigger_id=TRIGGER))(events),
            written("patch", "1-a", 181, cut=NOON + 5, since=NOON - 1),
        ),
    ),
    # A notification that failed is a dead letter.
    (
        told_of,
        lambda events: in_order(
            without(of(Told, trigger_id=TRIGGER))(events),
            Buried(NOON + 300_000, TRIGGER, "The onComplete target could not be notified.", "notice"),
        ),
    ),
    # A chain needs a job to follow.
    (
        followed_by_another,
        lambda events: in_order(
            without(of(Requested, due_s=900, uid="u2"))(events), Deleted(NOON + 900_040, "next", "u2")
        ),
    ),
    # A message that the queue has taken has succeeded, though the answer to a copy was lost and another
    # attempt followed.
    (
        silent,
        lambda events: in_order(
            replace(event, token=None) if isinstance(event, Requested) else event
            for event in with_(dropped(400))(events)
        ),
    ),
    # A first attempt without a claim may be under way twice, if something has doubled its message.
    (
        cancelled,
        lambda events: in_order(
            left_after_the_cancel(events), Mishap(NOON + 170_000, "copy of 30000 ms later", "queue")
        ),
    ),
]


@pytest.mark.parametrize(("story", "doctoring"), EXCUSED)
def test_the_oracle_does_not_complain_of_an_allowed_sequel_of_an_end(
    story: Callable[[], list[Event]], doctoring: Doctoring
) -> None:
    assert complaints(doctoring(story())) == []


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


def test_a_notification_that_no_function_received_may_meet_a_job_without_it() -> None:
    untold = without(of(Told, trigger_id=TRIGGER))(told_of())
    plain = {"schedule": "@every 60s", "data": '"x"'}
    changed = written("patch", "2-n", 850, definition=plain)

    def untold_of(*events: Event) -> list[str]:
        return [each for each in complaints(in_order(untold, *events)) if "no notification left" in each]

    in_vain = [Mishap(NOON + at_s * 1_000, "received in vain", "Lambda") for at_s in range(200, 800, 180)]
    assert untold_of(changed)
    assert untold_of(*in_vain)
    assert not untold_of(changed, *in_vain)


def test_a_notification_that_waited_while_the_stack_was_off_may_meet_a_job_without_it() -> None:
    untold = without(of(Told, trigger_id=TRIGGER))(told_of())
    plain = {"schedule": "@every 60s", "data": '"x"'}
    changed = written("patch", "2-n", 850, definition=plain)

    def untold_of(*events: Event) -> list[str]:
        return [each for each in complaints(in_order(untold, *events)) if "no notification left" in each]

    assert untold_of(changed, switched_off(100, 1))
    assert not untold_of(changed, switched_off(100, 10))
