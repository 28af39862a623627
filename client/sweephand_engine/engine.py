"""The engine: production's use cases over tables and queues in this process, and the duties of its functions.

Nothing happens by itself. Threads call the duties by the clock of this machine, and tests by a simulated one.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from sweephand.access.named_secrets import SecretReader
from sweephand.base.concurrency import Concurrently, one_by_one
from sweephand.base.instants import DAY_MS, INSTANT_MAX, SECOND_MS, Instant
from sweephand.base.limits import NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.stack_queues import SqsFlowQueue, SqsStackQueues
from sweephand.model.secret import ReadValues
from sweephand.model.timer import Cursor, Lease, PlacedTimer, placed_timers
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.queue import Targets
from sweephand.runs.received import Received, finished
from sweephand.runtime.aws_stores import stores_over
from sweephand.runtime.compose_api import compose_api
from sweephand.runtime.compose_delivery import compose_delivery
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.compose_upkeep import compose_upkeep
from sweephand.runtime.compose_wheel import compose_wheel
from sweephand.runtime.settings import Options
from sweephand.runtime.wheel import is_audit_minute, is_job_audit_minute
from sweephand.storage.payloads import DynamoPayloads
from sweephand.storage.table import Table
from sweephand.targets.destinations import Destinations
from sweephand.targets.reach import JobQueues, Reach
from sweephand_engine.dynamo.client import MemoryDynamoDB
from sweephand_engine.dynamo.tables import JournaledTables
from sweephand_engine.journal import Journal
from sweephand_engine.sqs.client import MemorySqs
from sweephand_engine.sqs.queue import MemoryQueue

_LOG: Final = logging.getLogger(__name__)

#: The URLs of the queues. No job may name one of them as its target.
DELIVERY_URL: Final = "http://127.0.0.1/sweephand-delivery"
FLOW_URL: Final = "http://127.0.0.1/sweephand-flow"
_DEAD_LETTER_URL: Final = "http://127.0.0.1/sweephand-dead-letters"

#: As template.yaml has it for the queues and the functions of a stack.
_VISIBILITY_MS: Final = 180 * SECOND_MS
_RETENTION_MS: Final = 14 * DAY_MS
_DELIVERY_MS: Final = 90 * SECOND_MS
_TICK_MS: Final = 55 * SECOND_MS
_SWEEP_MS: Final = 120 * SECOND_MS

#: The messages of a call of the delivery function (BatchSize in template.yaml). They share the read of their
#: jobs and the count of what was delivered.
MESSAGES_MAX: Final = 10

#: Calls at once. A message comes up to a second before its due time, and then waits. A slow consumer takes up
#: to a minute.
DELIVERIES_MAX: Final = 128
FLOWS_MAX: Final = 8


class Function(NamedTuple):
    """What handles the messages of a queue: so many calls at once, each with so many messages."""

    queue: MemoryQueue
    handle: Callable[[Sequence[Received]], None]
    calls_max: int
    messages_max: int


class Start(Protocol):
    """Begins a task that goes on by itself."""

    def __call__(self, task: Callable[[], object], /) -> object:
        """Begin the task. The result says nothing."""
        ...


def log_failure(sentence: str, error: Exception) -> None:
    """Log that the engine failed at something."""
    _LOG.error(sentence, exc_info=error)


class _EngineReach(Reach):
    """The reach of an engine. It lists every resource of AWS, and has no parameters."""

    def lists(self, parameter: str, arn: str) -> bool:
        """As Reach.lists()."""
        del parameter, arn
        return True


class _Functions:
    """ports.Sweepers, ports.DeliveryFunctions and ports.ExpirySwitch of an engine."""

    def __init__(self, sweep: Callable[[int], object]) -> None:
        """`sweep` begins a sweep at a shard, which goes on by itself."""
        self._sweep = sweep

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin a sweep at each of those shards."""
        for shard in first_shards:
            self._sweep(shard)

    def wake(self, count: int) -> None:
        """Nothing: no function of an engine ever sleeps."""

    def set(self, *, is_on: bool) -> None:
        """Nothing: an engine is never switched off, so its tables always expire."""


class Engine:
    """One stack in this process. Several threads may use it at once.

    `make_targets` makes what reaches consumers. HTTP targets are within `destinations` (None: everywhere that
    the egress guard permits), loopback addresses included. `concurrently` delivers the triggers of a message,
    and `start` begins a task that a duty leaves behind. A duty that fails is repeated later, and `failed` is
    told of the error.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        ids: Ids,
        make_targets: Callable[[Reach, ReadValues], Targets],
        destinations: Destinations | None,
        concurrently: Concurrently,
        start: Start,
        failed: Callable[[str, Exception], None] = log_failure,
    ) -> None:
        self.clock = clock
        self._ids = ids
        self._start = start
        self._failed = failed
        self._dynamo: Any = MemoryDynamoDB(JournaledTables(journal))
        self.queues: Mapping[str, MemoryQueue] = {
            url: MemoryQueue(url, clock.now, _VISIBILITY_MS, journal)
            for url in (DELIVERY_URL, FLOW_URL, _DEAD_LETTER_URL)
        }
        own = JobQueues(own=tuple(self.queues), arns=("*",))
        reach = _EngineReach(allow_insecure=True, queues=own, destinations=destinations)
        options = Options(
            reach=reach,
            flow_functions_max=FLOWS_MAX,
            limits_namespaces=True,
            namespace_triggers_default=NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
            counts_deliveries=True,
        )
        stores = self.stores = self._stores(own)
        stores.leases.raise_shards(options.shards)
        read_secrets = SecretReader(secrets=stores.named_secrets, clock=clock).active
        targets = make_targets(reach, read_secrets)
        self.services = compose_api(stores, options, concurrently=one_by_one)
        self._wheel = compose_wheel(stores, lambda: stores, options, one_by_one)
        self._upkeep = compose_upkeep(stores)
        self._deliveries = compose_delivery(
            stores, lambda: stores, targets, options, concurrently=concurrently
        )
        self._flow = compose_flow(stores, self._deliveries, concurrently, one_by_one)

    def _stores(self, own: JobQueues) -> Any:
        clock = self.clock
        sqs: Any = MemorySqs(self.queues)
        clients = SqsClients(lambda _: sqs)
        queue = SqsQueue(
            clients,
            DELIVERY_URL,
            _DEAD_LETTER_URL,
            lambda wait_s: self._wait(round(wait_s * SECOND_MS)),
            allow_insecure=True,
            queues=own,
            concurrently=map,
        )
        names = {"delivery": DELIVERY_URL, "flow": FLOW_URL}
        functions = _Functions(lambda shard: self._start(partial(self._attempt, partial(self._sweep, shard))))
        return stores_over(
            self._table("jobs"),
            self._table("timers"),
            clock=clock,
            ids=self._ids,
            places=(DynamoPayloads(self._table("payloads"), "payloads", clock.now, "PayloadTable"),),
            queue=queue,
            flow_queue=SqsFlowQueue(clients, FLOW_URL),
            stack_queues=SqsStackQueues(clients, queue, names),
            expiry_switch=functions,
            sweepers=functions,
            delivery_functions=functions,
        )

    def _table(self, name: str) -> Table:
        return Table(self._dynamo, name, self._wait)

    def first_due_at(self) -> Instant | None:
        """When the first timer is due that no sweep has passed; None if there is none."""
        return min(
            (
                timer.timer.due_at
                for lease in self.stores.leases.state().leases
                if (timer := self._next_timer(lease)) is not None
            ),
            default=None,
        )

    def _next_timer(self, lease: Lease) -> PlacedTimer | None:
        cursor = lease.cursor
        while items := self.stores.timers.page(lease.shard, cursor, INSTANT_MAX, 1):
            if timers := placed_timers(items, cursor):
                return timers[0]
            # The cursor stands in a pack that has no timer after it.
            cursor = Cursor(items[-1].sort_key)
        return None

    def _wait(self, duration_ms: int) -> None:
        self.clock.wait_until(self.clock.now() + duration_ms)

    def _attempt(self, duty: Callable[[], object]) -> None:
        try:
            duty()
        except Exception as error:  # noqa: BLE001 - the other duties must be done
            self._failed("the engine failed at a task, which it repeats later", error)

    def tick(self) -> None:
        """What the tick function of a stack does. Each duty is done, whatever becomes of those before it."""
        now = self.clock.now()
        self._attempt(self._sweep_due)
        if is_audit_minute(now):
            self._attempt(self._upkeep.payload_audit.step)
            self.expire()
        if is_job_audit_minute(now):
            self._attempt(self._upkeep.audit_rounds.step)

    def expire(self) -> None:
        """Remove the items and messages whose time to live is over, as DynamoDB and SQS do."""
        now = self.clock.now()
        self._attempt(lambda: self._dynamo.expire(now // SECOND_MS))
        for queue in self.queues.values():
            self._attempt(partial(queue.expire, now - _RETENTION_MS))

    def _sweep_due(self) -> None:
        deadline = self.clock.now() + _TICK_MS
        self._wheel.ticker.tick(owner=self._ids.token(), deadline=deadline).raise_faults()

    def _sweep(self, first_shard: int) -> None:
        self._wheel.sweeper.sweep(
            self.stores.leases.state().leases,
            owner=self._ids.token(),
            first_shard=first_shard,
            deadline=self.clock.now() + _SWEEP_MS,
        ).raise_faults()

    @property
    def functions(self) -> Sequence[Function]:
        """What the delivery function and the flow function of a stack do."""
        return (
            Function(self.queues[DELIVERY_URL], self.deliver, DELIVERIES_MAX, MESSAGES_MAX),
            Function(self.queues[FLOW_URL], self.work, FLOWS_MAX, 1),
        )

    def deliver(self, received: Sequence[Received]) -> None:
        """What the delivery function of a stack does with the messages of a call."""
        self._attempt(partial(self._deliver, received))

    def work(self, received: Sequence[Received]) -> None:
        """What the flow function of a stack does with the message of a call."""
        [message] = received
        self._attempt(partial(self._work, message))

    def _deliver(self, received: Sequence[Received]) -> None:
        deadline = self.clock.now() + _DELIVERY_MS
        handled = self._deliveries.intake.handle(received, deadline=deadline)
        self.stores.queue.acknowledge([each.receipt for each in finished(handled)])
        if (stats := self._deliveries.stats) is not None:
            stats.count(handled, self._ids.token(), deadline)
        self._report(each.error for each in handled)

    def _work(self, received: Received) -> None:
        deadline = self.clock.now() + _DELIVERY_MS
        worked = self._flow.handle(received, deadline=deadline)
        if worked.is_done:
            self.stores.flow_queue.acknowledge(received.receipt)
        if (stats := self._deliveries.stats) is not None:
            stats.count_of_line(worked.namespace, worked.triggers, self._ids.token(), deadline)
        self._report(worked.errors)

    def _report(self, errors: Iterable[Exception | None]) -> None:
        for error in errors:
            if error is not None:
                self._failed("a message could not be handled, and comes again", error)
