"""The engine: production's use cases over tables and queues in this process, and the threads that run them.

A thread takes the place of each function of a stack: one ticks every minute, and others deliver and serve the
lines of policies, a message each.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar

from sweephand.access.named_secrets import SecretReader
from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS
from sweephand.base.limits import NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT
from sweephand.delivery.adapter import AwsClients, Stack
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.stack_queues import SqsFlowQueue, SqsStackQueues
from sweephand.ports.clock import Clock, Ids
from sweephand.runs.received import Received, finished
from sweephand.runtime.aws_stores import stores_over
from sweephand.runtime.compose_api import compose_api
from sweephand.runtime.compose_delivery import compose_delivery
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.compose_upkeep import compose_upkeep
from sweephand.runtime.compose_wheel import compose_wheel
from sweephand.runtime.machine import deliver_concurrently
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

Result = TypeVar("Result")

_LOG: Final = logging.getLogger(__name__)

#: The URLs of the queues. No job may name one of them as its target.
_DELIVERY_URL: Final = "http://127.0.0.1/sweephand-delivery"
_FLOW_URL: Final = "http://127.0.0.1/sweephand-flow"
_DEAD_LETTER_URL: Final = "http://127.0.0.1/sweephand-dead-letters"

#: As template.yaml has it for the queues and the functions of a stack.
_VISIBILITY_MS: Final = 180 * SECOND_MS
_RETENTION_MS: Final = 14 * DAY_MS
_DELIVERY_MS: Final = 90 * SECOND_MS
_TICK_MS: Final = 55 * SECOND_MS
_SWEEP_MS: Final = 120 * SECOND_MS

#: Messages that are handled at once. A message comes up to a second before its due time, and then waits in
#: its thread. A slow consumer holds a thread for up to a minute.
_DELIVERIES_MAX: Final = 128
_FLOWS_MAX: Final = 8

_STOP_S: Final = 2


class _EngineReach(Reach):
    """The reach of an engine. It lists every resource of AWS, and has no parameters."""

    def lists(self, parameter: str, arn: str) -> bool:
        """As Reach.lists()."""
        del parameter, arn
        return True


class _Functions:
    """ports.Sweepers, ports.DeliveryFunctions and ports.ExpirySwitch of an engine."""

    def __init__(self, sweep: Callable[[int], object]) -> None:
        """`sweep` begins a sweep at a shard, in a thread of its own."""
        self._sweep = sweep

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin a sweep at each of those shards."""
        for shard in first_shards:
            self._sweep(shard)

    def wake(self, count: int) -> None:
        """Nothing: the threads that deliver are always awake."""

    def set(self, *, is_on: bool) -> None:
        """Nothing: an engine is never switched off, so its tables always expire."""


class Engine:
    """One stack in this process. Several threads may use it at once.

    HTTP targets are reached within `destinations` (None: everywhere that the egress guard permits), loopback
    addresses included. Requests to AWS go to `aws_clients`.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        ids: Ids,
        aws_clients: AwsClients,
        sqs_targets: SqsClients,
        destinations: Destinations | None,
    ) -> None:
        self.clock = clock
        self._ids = ids
        self._is_over = threading.Event()
        self._tasks = ThreadPoolExecutor(_DELIVERIES_MAX, "task")
        self._dynamo: Any = MemoryDynamoDB(JournaledTables(journal))
        self._queues = {
            url: MemoryQueue(url, clock.now, _VISIBILITY_MS, journal)
            for url in (_DELIVERY_URL, _FLOW_URL, _DEAD_LETTER_URL)
        }
        own = JobQueues(own=tuple(self._queues), arns=("*",))
        reach = _EngineReach(allow_insecure=True, queues=own, destinations=destinations)
        options = Options(
            reach=reach,
            flow_functions_max=_FLOWS_MAX,
            limits_namespaces=True,
            namespace_triggers_default=NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
            counts_deliveries=True,
        )
        stores = self.stores = self._stores(own)
        stores.leases.raise_shards(options.shards)
        read_secrets = SecretReader(secrets=stores.named_secrets, clock=clock).active
        targets = TargetsByType(Stack(clock, sqs_targets, aws_clients, reach, read_secrets))
        self.services = compose_api(stores, options, concurrently=one_by_one)
        self._wheel = compose_wheel(stores, lambda: stores, options, one_by_one)
        self._upkeep = compose_upkeep(stores)
        self._deliveries = compose_delivery(
            stores, lambda: stores, targets, options, concurrently=self._concurrently
        )
        self._flow = compose_flow(stores, self._deliveries, self._concurrently, one_by_one)
        bodies: dict[str, Callable[[], None]] = {
            "tick": self._tick_every_minute,
            "deliver": partial(self._pump, _DELIVERY_URL, self._deliver, _DELIVERIES_MAX),
            "flow": partial(self._pump, _FLOW_URL, self._work, _FLOWS_MAX),
        }
        self._threads = [
            threading.Thread(target=body, name=name, daemon=True) for name, body in bodies.items()
        ]

    def _stores(self, own: JobQueues) -> Any:
        clock = self.clock
        sqs: Any = MemorySqs(self._queues)
        clients = SqsClients(lambda _: sqs)
        queue = SqsQueue(
            clients,
            _DELIVERY_URL,
            _DEAD_LETTER_URL,
            lambda wait_s: self._wait(round(wait_s * SECOND_MS)),
            allow_insecure=True,
            queues=own,
            concurrently=map,
        )
        names = {"delivery": _DELIVERY_URL, "flow": _FLOW_URL}
        functions = _Functions(lambda shard: self._tasks.submit(self._logged, partial(self._sweep, shard)))
        return stores_over(
            self._table("jobs"),
            self._table("timers"),
            clock=clock,
            ids=self._ids,
            places=(DynamoPayloads(self._table("payloads"), "payloads", clock.now, "PayloadTable"),),
            queue=queue,
            flow_queue=SqsFlowQueue(clients, _FLOW_URL),
            stack_queues=SqsStackQueues(clients, queue, names),
            expiry_switch=functions,
            sweepers=functions,
            delivery_functions=functions,
        )

    def _table(self, name: str) -> Table:
        return Table(self._dynamo, name, self._wait)

    def run(self) -> None:
        """Start the threads. The first tick is over when this returns, so the engine is healthy."""
        self._tick()
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """Take no more messages, and let the threads end what they do now if that takes no longer than 2 s.

        What they leave is done after the next start.
        """
        self._is_over.set()
        for queue in self._queues.values():
            queue.close()
        ends = monotonic() + _STOP_S
        for each in self._threads:
            each.join(max(0, ends - monotonic()))
        self._tasks.shutdown(wait=False)

    def _wait(self, duration_ms: int) -> None:
        self.clock.wait_until(self.clock.now() + duration_ms)

    def _concurrently(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        return deliver_concurrently(tasks, self._tasks)

    def _logged(self, body: Callable[[], object]) -> None:
        try:
            body()
        except Exception:  # noqa: BLE001 - the other tasks must go on
            _LOG.exception("the engine failed at a task, which it repeats later")

    def _tick_every_minute(self) -> None:
        while not self._is_over.wait((MINUTE_MS - self.clock.now() % MINUTE_MS) / SECOND_MS):
            self._tick()

    def _tick(self) -> None:
        """What the tick function of a stack does. Each duty is done, whatever becomes of those before it."""
        now = self.clock.now()
        self._logged(self._sweep_due)
        if is_audit_minute(now):
            self._logged(self._upkeep.payload_audit.step)
            self._logged(lambda: self._dynamo.expire(now // SECOND_MS))
            for queue in self._queues.values():
                self._logged(partial(queue.expire, now - _RETENTION_MS))
        if is_job_audit_minute(now):
            self._logged(self._upkeep.audit_rounds.step)

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

    def _pump(self, url: str, handle: Callable[[Received], object], most: int) -> None:
        """Give each message of a queue to a thread, at most so many at once."""
        queue, free = self._queues[url], threading.Semaphore(most)
        with ThreadPoolExecutor(most, f"pump-{url.rpartition('-')[2]}") as threads:

            def handle_one(received: Received) -> None:
                try:
                    self._logged(partial(handle, received))
                finally:
                    free.release()

            while free.acquire() and (received := queue.take()) is not None:
                threads.submit(handle_one, received)

    def _deliver(self, received: Received) -> None:
        """What the delivery function of a stack does with a message."""
        deadline = self.clock.now() + _DELIVERY_MS
        handled = self._deliveries.intake.handle([received], deadline=deadline)
        self.stores.queue.acknowledge([each.receipt for each in finished(handled)])
        if (stats := self._deliveries.stats) is not None:
            stats.count(handled, self._ids.token(), deadline)
        self._log_faults(each.error for each in handled)

    def _work(self, received: Received) -> None:
        """What the flow function of a stack does with a message."""
        deadline = self.clock.now() + _DELIVERY_MS
        worked = self._flow.handle(received, deadline=deadline)
        if worked.is_done:
            self.stores.flow_queue.acknowledge(received.receipt)
        if (stats := self._deliveries.stats) is not None:
            stats.count_of_line(worked.namespace, worked.triggers, self._ids.token(), deadline)
        self._log_faults(worked.errors)

    def _log_faults(self, errors: Iterable[Exception | None]) -> None:
        for error in errors:
            if error is not None:
                _LOG.error("a message could not be handled, and comes again", exc_info=error)
