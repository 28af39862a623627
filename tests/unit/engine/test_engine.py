"""The duties of an engine, by a clock that the test moves: no thread of it runs."""

from typing import Any

import pytest
from tests.fakes.definitions import definition, key_of
from tests.fakes.doubles import CountingIds, HandClock

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.timing import AUDIT_MINUTE
from sweephand.delivery.adapter import AwsClients, Service, Stack
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType
from sweephand_engine.engine import Engine
from sweephand_engine.inbox import Inbox
from sweephand_engine.journal import Journal

TOPIC = {"type": "sns", "topicArn": "arn:aws:sns:eu-west-1:123456789012:orders"}


class Bench:
    """An engine whose targets arrive in an inbox."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.started: list[Any] = []
        self.inbox = Inbox(self.clock.now)
        sqs: Any = self.inbox.client(Service("sqs", None))
        self.engine = Engine(
            journal=Journal(),
            clock=self.clock,
            ids=CountingIds(),
            make_targets=lambda reach, read_secrets: TargetsByType(
                Stack(
                    self.clock, SqsClients(lambda _: sqs), AwsClients(self.inbox.client), reach, read_secrets
                )
            ),
            destinations=None,
            concurrently=one_by_one,
            start=self.started.append,
        )

    def put(self, name: str, **written: Any) -> None:
        asked = definition(target=TOPIC, **written)
        now = self.clock.now()
        self.engine.services.writer.put(key_of(name), asked, caller="test", requested_at=now)

    def deliver(self) -> None:
        """Handle the messages that are visible now."""
        for function in self.engine.functions:
            while received := function.queue.receive(function.messages_max):
                function.handle(received)

    def pass_minutes(self, count: int) -> None:
        """Let that many minutes pass second by second, and tick in each."""
        for _ in range(count):
            self.engine.tick()
            for _ in range(60):
                self.clock.time += SECOND_MS
                self.deliver()

    def dues(self) -> list[str]:
        return [each.names["due"] for each in self.inbox.arrivals()]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_job_that_is_due_far_ahead_goes_through_the_wheel(bench: Bench) -> None:
    bench.put("later", dueTime="30m")
    bench.pass_minutes(29)
    assert bench.dues() == []

    bench.pass_minutes(2)

    assert bench.dues() == ["2026-11-21T12:30:00.000Z"]


def test_a_recurring_job_fires_at_each_due_time(bench: Bench) -> None:
    bench.put("often", schedule="@every 10m")
    bench.pass_minutes(31)
    assert len(bench.dues()) == 3


def test_what_has_expired_is_removed_once_an_hour(bench: Bench) -> None:
    bench.put("short", dueTime="1s")
    bench.pass_minutes(1)
    assert bench.engine.stores.jobs.get(key_of("short")) is not None

    bench.clock.time += 400 * DAY_MS
    bench.clock.time += AUDIT_MINUTE * MINUTE_MS - bench.clock.time % HOUR_MS
    bench.engine.tick()

    assert bench.engine.stores.jobs.get(key_of("short")) is None


def test_a_duty_that_fails_does_not_keep_the_others_from_their_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    bench.put("short", dueTime="1s")
    bench.pass_minutes(1)
    bench.clock.time += 400 * DAY_MS
    bench.clock.time += AUDIT_MINUTE * MINUTE_MS - bench.clock.time % HOUR_MS
    monkeypatch.setattr(bench.engine, "_sweep_due", fail)

    bench.engine.tick()

    assert "the engine failed at a task, which it repeats later" in caplog.text
    assert bench.engine.stores.jobs.get(key_of("short")) is None


def test_a_sweeper_that_tick_starts_sweeps_its_shard(bench: Bench) -> None:
    bench.put("later", dueTime="10m")
    bench.clock.time += 8 * MINUTE_MS

    bench.engine.stores.sweepers.start([0])
    [sweep] = bench.started
    sweep()

    assert len(bench.engine.queues["http://127.0.0.1/sweephand-delivery"]) == 1
