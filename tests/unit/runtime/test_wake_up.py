"""A wake-up of the delivery function: it holds the function for a moment, and counts as nothing."""

import json

import pytest
from tests.fakes.doubles import HandClock
from tests.fakes.functions import function
from tests.fakes.world import NOON

from sweephand.delivery.functions import WAKE_UP
from sweephand.runtime import tables


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    """The clock of the function."""
    clock = HandClock(NOON)
    monkeypatch.setattr(tables, "clock", lambda: clock)
    return clock


def test_a_wake_up_holds_the_function_and_fails_no_message(clock: HandClock) -> None:
    assert function("deliver").handler(json.loads(json.dumps(WAKE_UP)), None) == {"batchItemFailures": []}
    assert clock.time == NOON + 100


def test_a_wake_up_counts_no_metric(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = function("deliver")
    monkeypatch.setattr(module, "deliver", None)
    module.handler(WAKE_UP, None)
    assert "_aws" not in capsys.readouterr().out
    assert clock.time > NOON
