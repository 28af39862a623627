"""A stack in memory whose real handlers run minute by minute, and what CloudWatch learns of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import chain, count
from typing import Any, Final

import pytest
from tests.fakes.functions import forget_the_environment, function
from tests.fakes.metrics import Datum, Metric, printed
from tests.fakes.world import NOON, World
from tests.template.alarms.cloudwatch import Alarm, Metrics

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.runs.received import Received
from sweephand.runtime import delivery, wheel

#: How long SQS hides a message that a function has received (template.yaml).
_HIDDEN_MS: Final = 180 * SECOND_MS

#: Jobs of the stack, each due once a minute, at another second.
JOBS: Final = 20

_SERVICES: Final = count()


class _Context:
    aws_request_id = "8f507cfc"

    def get_remaining_time_in_millis(self) -> int:
        """The time that is left."""
        return 55_000


class RunningStack:
    """Twenty jobs that are due once a minute, and the functions tick and deliver.

    Lambda's and SQS's own metrics are those of what happened here. A test breaks the stack by what it changes
    in the world, or by `is_ticking`, `slow_ms` and `crash`. Messages reach a function `slow_ms` late. `crash`
    is called before each delivery.
    """

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.is_ticking = True
        self.slow_ms = 0
        self.crash: Callable[[], object] = lambda: None
        self._data: list[Datum] = []
        self._sent_at: dict[int, tuple[object, Instant]] = {}
        self._hidden: list[tuple[Instant, Received]] = []
        self.deploy()
        monkeypatch.setattr(wheel, "wheel", lambda: self._wheel)
        monkeypatch.setattr(delivery, "deliveries", lambda: self._deliveries)
        # Powertools keeps a logger, and the standard output that was there, for each service.
        self._output = StringIO()
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"running {next(_SERVICES)}")
        monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "INFO")
        # As the evaluator writes the name of the stack.
        monkeypatch.setenv("STACK_NAME", "AWS::StackName")
        forget_the_environment()
        with redirect_stdout(self._output):
            self._handlers = {name: function(name).handler for name in ("tick", "deliver")}

    def deploy(self) -> None:
        """Start the functions anew, with the parameters that the world has now."""
        self._wheel, self._deliveries = self.world.wheel(), self.world.deliveries()

    def write_jobs(self) -> None:
        """Write the jobs. Each is due at another second of each minute."""
        for number in range(JOBS):
            self.world.put(f"job-{number}", schedule=f"{number * 60 // JOBS} * * * * *")

    def run(self, minutes: int) -> None:
        """Let that many minutes pass, from the beginning of one."""
        for _ in range(minutes):
            self._minute()

    def metrics(self) -> Metrics:
        """What CloudWatch knows: of itself, and by what the functions have printed."""
        return Metrics([*self._data, *printed(self._output.getvalue().splitlines())])

    def _minute(self) -> None:
        clock = self.world.clock
        end = clock.time + MINUTE_MS
        if self.is_ticking:
            self._invoke("tick", {})
        while True:
            self._reappear()
            coming = min(chain(self._visible(), (at for at, _ in self._hidden)), default=end)
            if coming >= end:
                break
            clock.time = max(clock.time, coming)
            self._reappear()
            if batch := self.world.queue.take() if min(self._visible(), default=end) <= clock.time else []:
                self._deliver(batch)
        clock.time = end
        self._publish_queues(end)

    def _visible(self) -> Iterator[Instant]:
        """When each message that waits reaches a function. It stays in the queue for `slow_ms` more."""
        return (at + self.slow_ms for at, _ in self.world.queue.waiting)

    def _deliver(self, batch: list[Received]) -> None:
        records = [
            {
                "messageId": each.id,
                "receiptHandle": each.receipt,
                "attributes": {"ApproximateReceiveCount": str(each.receives)},
                "body": each.body,
            }
            for each in batch
        ]
        answer = self._invoke("deliver", {"Records": records})
        failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]} if answer else None
        back_at = self.world.clock.time + _HIDDEN_MS
        for each in batch:
            if failed is None or each.id in failed:
                self._hidden.append((back_at, each))
            else:
                self.world.queue.acknowledge([each.receipt])

    def _reappear(self) -> None:
        """Show the messages again whose time-out is over."""
        queue = self.world.queue
        for each in [each for each in self._hidden if each[0] <= self.world.clock.time]:
            self._hidden.remove(each)
            message = queue.in_flight.pop(each[1].receipt, None)
            if message is not None:
                queue.waiting.append((self.world.clock.time - self.slow_ms, message))

    def _invoke(self, name: str, event: Mapping[str, Any]) -> Any:
        """Invoke a function as Lambda does: an error that it raises is counted, and goes no further."""
        at = self.world.clock.time
        dimensions = frozenset({("FunctionName", f"{name.title()}Function")})
        failed, answer = False, None
        try:
            if name == "deliver":
                self.crash()
            with redirect_stdout(self._output):
                answer = self._handlers[name](event, _Context())
        except Exception:  # noqa: BLE001 - whatever it is, Lambda counts it
            failed = True
        for metric, value in (("Invocations", 1), ("Errors", failed), ("Throttles", 0)):
            self._data.append(Datum(Metric("AWS/Lambda", metric, dimensions), at, float(value)))
        return answer

    def _publish_queues(self, now: Instant) -> None:
        """SQS's metrics of the minute that ends now."""
        queue = self.world.queue
        there = [*(message for _, message in queue.waiting), *queue.in_flight.values()]
        known = self._sent_at
        self._sent_at = {id(each): known.get(id(each), (each, now - 1)) for each in there}
        ages = [now - at for _, at in self._sent_at.values()]
        dead = sum(to is None for _, to in queue.buried)
        for name, metric, value in (
            ("DeadLetterQueue", "ApproximateNumberOfMessagesVisible", dead),
            ("DeliveryQueue", "ApproximateAgeOfOldestMessage", max(ages, default=0) / SECOND_MS),
        ):
            dimensions = frozenset({("QueueName", f"{name}.QueueName")})
            self._data.append(Datum(Metric("AWS/SQS", metric, dimensions), now - 1, float(value)))


def red_minutes(
    alarms: Mapping[str, Mapping[str, Any]],
    metrics: Metrics,
    since: Instant,
    until: Instant,
    *,
    late_ms: int = 0,
) -> dict[str, list[int]]:
    """The alarms that are red at any time, and in which minutes after `since`, by their properties.

    AWS publishes its own metrics `late_ms` after the end of each minute.
    """
    found: dict[str, list[int]] = {}
    for name, properties in alarms.items():
        alarm = Alarm(properties)
        for now in range(since, until + 1, MINUTE_MS):
            states = {
                alarm.state(metrics, now, fills_nothing=each, late_ms=late_ms) for each in (True, False)
            }
            [state] = states
            if state == "ALARM":
                found.setdefault(name, []).append((now - since) // MINUTE_MS)
    return found


def new_world() -> World:
    """A world at noon with one shard."""
    return World(NOON, shards=1)
