"""A wake-up holds the delivery function for a moment, and counts as no delivery."""

import json

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.functions import function
from tests.fakes.world import NOON, World

from sweephand.delivery.functions import WAKE_UP
from sweephand.runtime import delivery


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """The stack of the function."""
    world = World()
    composed = world.deliveries(world.clock)
    monkeypatch.setattr(delivery, "deliveries", lambda: composed)
    return world


EVENT = json.loads(json.dumps({**WAKE_UP, "holdMs": 590}))


def test_a_wake_up_holds_the_function_and_fails_no_message(world: World) -> None:
    assert function("deliver").handler(EVENT, None) == {"batchItemFailures": []}
    assert world.clock.time == NOON + 590


def test_a_wake_up_calls_no_port(world: World) -> None:
    deliver = function("deliver")
    assert calls_of(world, lambda: deliver.handler(EVENT, None)) == []


def test_a_wake_up_counts_no_metric(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = function("deliver")
    monkeypatch.setattr(module, "deliver", None)
    module.handler(EVENT, None)
    assert "_aws" not in capsys.readouterr().out
    assert world.clock.time > NOON
