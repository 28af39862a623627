"""The oracle on the ends of runs: it has no complaint if all promises were kept, and names broken ones."""

from collections.abc import Sequence
from dataclasses import replace

from tests.simulation.oracle.overlap import is_overdue
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.broken_switch import switched_off
from tests.simulation.traces.doctored import complaints, of, without
from tests.simulation.traces.stories import NOON, THROUGH, UID, cursor, in_order, requested, timer, written
from tests.simulation.traces.stories_of_ends import (
    TRIGGER,
    asked,
    reported,
    told_of,
)
from tests.simulation.traces.trace import (
    Event,
    Mishap,
    Told,
)


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
