"""When tick takes a step of the audit."""

import pytest
from tests.fakes.doubles import NOON, HandClock
from tests.fakes.world import World

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE
from sweephand.jobs.payload_audit import Audited
from sweephand.runtime import wheel


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    clock = HandClock()
    app = World().app(clock)
    monkeypatch.setattr(wheel, "app", lambda: app)
    return clock


def test_tick_takes_one_step_of_the_audit_in_each_hour(clock: HandClock) -> None:
    steps = []
    for minute in range(2 * HOUR_MS // MINUTE_MS):
        clock.time = NOON + minute * MINUTE_MS + 20_000
        if (audited := wheel.audit()) is not None:
            steps.append((minute, audited))
    assert steps == [(AUDIT_MINUTE, Audited(0, 0)), (60 + AUDIT_MINUTE, Audited(0, 0))]
