"""The production use cases over DynamoDB Local and a counted queue, advanced minute by minute."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import boto3
from botocore.config import Config
from infra.bench.clock import HandClock
from infra.bench.jobs import named, put
from infra.bench.meter import CountedSqs, Meter

from sweephand.base.concurrency import Concurrently, one_by_one, parts
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.stack_queues import SqsFlowQueue, SqsStackQueues
from sweephand.jobs.bulk import JobToWrite
from sweephand.model.attempt import Answer, Attempt
from sweephand.ports.clock import Clock
from sweephand.runtime.aws_stores import stores_over
from sweephand.runtime.compose_api import compose_api
from sweephand.runtime.compose_delivery import compose_delivery
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.compose_wheel import compose_wheel
from sweephand.runtime.machine import SystemIds
from sweephand.runtime.settings import Options
from sweephand.storage.leases import DynamoExpirySwitch
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.table import Table
from sweephand.targets.reach import EVERY_QUEUE
from sweephand_engine.costs.measured import Usage

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

#: More than one, so that the cost of a shard shows.
SHARDS = 4

#: 2026-11-21T12:00:17Z: any instant that is not at the start of a minute.
_BEGIN: Instant = 1_795_262_417_000

_QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012/delivery"
_CREATORS = 4
_CONNECTIONS_MAX = 300

#: What AWS adds to each item for its storage, and DynamoDB Local does not.
_ITEM_BYTES = 100


class _Consumer:
    """ports.Targets in which every request succeeds after `answer_s` seconds and is counted."""

    def __init__(self, answer_s: float) -> None:
        self.answer_s = answer_s
        self.delivered = 0
        self._lock = Lock()

    def deliver(self, attempt: Attempt) -> Answer:
        """Count and accept."""
        del attempt
        if self.answer_s:
            time.sleep(self.answer_s)
        with self._lock:
            self.delivered += 1
        return Answer(succeeded=True, code=200, text='{"ok":true}')


class _OtherFunctions:
    """ports.Sweepers and ports.DeliveryFunctions: tick needs no sweeper here, and wakes no function.

    docs/cost.md counts the wake-ups of an idle stack.
    """

    def start(self, first_shards: Sequence[int]) -> None:
        """Start no sweeper."""

    def wake(self, count: int) -> None:
        """Wake no function."""


class Wheelhouse:
    """A stack with tables of its own, and its usage.

    Deliveries take no time and go one after the other, unless `answer_s` and `concurrently` say otherwise.
    Then the clock has to be a real one.
    """

    def __init__(
        self,
        endpoint_url: str,
        name: str,
        shards: int = SHARDS,
        *,
        clock: Clock | None = None,
        answer_s: float = 0,
        concurrently: Concurrently = one_by_one,
        flow_functions: int = 0,
    ) -> None:
        self.clock: Clock = HandClock(_BEGIN) if clock is None else clock
        self.meter = meter = Meter()
        self._client = client = boto3.client(
            "dynamodb",
            endpoint_url=endpoint_url,
            region_name="us-east-1",
            aws_access_key_id="bench",
            aws_secret_access_key="bench",  # noqa: S106 - it opens nothing
            config=Config(max_pool_connections=_CONNECTIONS_MAX),
        )
        self._names = (f"{name}-jobs", f"{name}-timers")
        jobs, timers = map(self._table, self._names)
        meter.watch(client)
        self._sqs, self._work_sqs = CountedSqs(self.clock, meter), CountedSqs(self.clock, meter)
        self._consumer = _Consumer(answer_s)
        clients, dead = _clients(self._sqs), f"{_QUEUE_URL}-dead"
        queue = SqsQueue(clients, _QUEUE_URL, dead, lambda _: None, allow_insecure=False, queues=EVERY_QUEUE)
        # No bucket is there.
        stores = stores_over(
            jobs,
            timers,
            clock=self.clock,
            ids=SystemIds(),
            places=(S3Payloads("none"),),
            queue=queue,
            flow_queue=SqsFlowQueue(_clients(self._work_sqs), f"{_QUEUE_URL}-flow"),
            stack_queues=SqsStackQueues(clients, queue, {"delivery": _QUEUE_URL}),
            expiry_switch=DynamoExpirySwitch(client, ()),
            sweepers=_OtherFunctions(),
            delivery_functions=_OtherFunctions(),
        )
        # A message spans what the template's default lets it span.
        options = Options(shards=shards, bundle_span_ms=SECOND_MS, flow_functions_max=flow_functions)
        self._api = compose_api(stores, options)
        self._wheel = compose_wheel(stores, lambda: stores, options, one_by_one)
        deliveries = compose_delivery(
            stores, lambda: stores, self._consumer, options, concurrently=concurrently
        )
        self._intake = deliveries.intake
        self._flow_intake = compose_flow(stores, deliveries, concurrently, one_by_one)

    @property
    def delivered(self) -> int:
        """The triggers that reached their consumer."""
        return self._consumer.delivered

    def used(self) -> Usage:
        """The usage so far, and the bytes that all items of each table take now."""
        jobs_bytes, timers_bytes = map(self._stored_bytes, self._names)
        return self.meter.usage.plus(Usage(jobs_bytes=jobs_bytes, timers_bytes=timers_bytes))

    def _stored_bytes(self, table: str) -> int:
        found = self._client.describe_table(TableName=table)["Table"]
        return found["TableSizeBytes"] + _ITEM_BYTES * found["ItemCount"]

    def create(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Write jobs one by one, several at a time. None may be refused."""
        with ThreadPoolExecutor(_CREATORS) as threads:
            list(threads.map(self._put, named(jobs)))

    def create_in_bulk(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Write jobs by bulk calls of as many as a call takes, several at a time. None may be refused."""
        with ThreadPoolExecutor(_CREATORS) as threads:
            list(threads.map(self._put_in_bulk, parts(list(named(jobs)), JOBS_PER_BULK_MAX)))

    def next_minute(self) -> Instant:
        """The start of the next minute."""
        now = self.clock.now()
        return now - now % MINUTE_MS + MINUTE_MS

    def run(self, minutes: int) -> None:
        """Tick at the start of each of the next minutes, and deliver what is due before the next one."""
        for _ in range(minutes):
            minute = self.next_minute()
            self._deliver(minute)
            self.clock.wait_until(minute)
            self.tick()

    def tick(self) -> None:
        """Do one tick now."""
        began = time.process_time()
        ticked = self._wheel.ticker.tick(
            owner=self._wheel.stores.ids.token(), deadline=self.clock.now() + 55 * SECOND_MS
        )
        ticked.raise_faults()
        self.meter.add(invocations=1, sweep_cpu_ms=(time.process_time() - began) * 1_000)

    def _put(self, job: JobToWrite) -> None:
        self._api.writer.put(job.key, job.definition, caller="bench", requested_at=self.clock.now())

    def _put_in_bulk(self, jobs: Sequence[JobToWrite]) -> None:
        list(put(self._api.bulk_writer, jobs, self.clock.now()))

    def _deliver(self, until: Instant) -> None:
        while (visible_at := self._sqs.next_at()) is not None and visible_at < until:
            self.clock.wait_until(visible_at)
            batch = self._sqs.receive()
            self.meter.add(invocations=1)
            handled = self._intake.handle(batch, deadline=self.clock.now() + 90 * SECOND_MS)
            assert all(each.is_done and each.error is None for each in handled), handled
            self._sqs.delete()

    def _table(self, name: str) -> Table:
        self._client.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        return Table(self._client, name, self._wait_ms)

    def _wait_ms(self, duration_ms: int) -> None:
        self.clock.wait_until(self.clock.now() + duration_ms)


def _clients(sqs: CountedSqs) -> SqsClients:
    """Clients that are all this queue. It has those methods of a client that send messages, and no others."""
    client = cast("SQSClient", sqs)
    return SqsClients(lambda _: client)
