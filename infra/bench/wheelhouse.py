"""The production use cases over DynamoDB Local and a counted queue, advanced minute by minute."""

import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import boto3
from botocore.config import Config
from infra.bench.clock import HandClock, SeededIds
from infra.bench.jobs import named, put
from infra.bench.meter import Meter
from infra.bench.sqs import CountedSqs, Sent

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
from sweephand.runtime.settings import Options
from sweephand.storage.leases import DynamoExpirySwitch
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.table import Table
from sweephand.targets.reach import EVERY_QUEUE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

#: More than one, so that the cost of a shard shows.
SHARDS = 4

#: The defaults of template.yaml.
_SWEEPERS_MAX = 4
_BUNDLE_SPAN_MS = SECOND_MS

#: 2026-11-21T12:00:17Z: any instant that is not at the start of a minute.
_BEGIN: Instant = 1_795_262_417_000

_QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012/delivery"
_CREATORS = 4
_CONNECTIONS_MAX = 300

#: What DynamoDB adds to each item for its storage.
_ITEM_BYTES = 100


class Stored(NamedTuple):
    """Bytes that are stored in each table."""

    jobs: int
    timers: int


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


class _DeliveryFunctions:
    """ports.DeliveryFunctions that wakes none: docs/cost.md counts the wake-ups of an idle stack."""

    def wake(self, count: int) -> None:
        """Wake no function."""


class _Sweepers:
    """ports.Sweepers that sweep at once, one after the other."""

    def __init__(self, sweep: Callable[[int], None]) -> None:
        self._sweep = sweep

    def start(self, first_shards: Sequence[int]) -> None:
        """One sweep for each first shard."""
        for shard in first_shards:
            self._sweep(shard)


def _clients(sqs: CountedSqs) -> SqsClients:
    """Clients that are all this queue. It has those methods of a client that send messages, and no others."""
    client = cast("SQSClient", sqs)
    return SqsClients(lambda _: client)


class Wheelhouse:
    """A stack with tables of its own, and its usage. `swept_cpu_s` is the CPU time of its ticks.

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
        self.meter = Meter()
        self.swept_cpu_s = 0.0
        self.clock: Clock = HandClock(_BEGIN) if clock is None else clock
        self._name = name
        self._client = client = _client(endpoint_url)
        jobs, timers = (self._table(client, f"{name}-{each}") for each in ("jobs", "timers"))
        self.meter.watch(client)
        self._sqs, self._work_sqs = CountedSqs(self.clock, self.meter), CountedSqs(self.clock, self.meter)
        self._consumer = _Consumer(answer_s)
        clients, dead = _clients(self._sqs), f"{_QUEUE_URL}-dead"
        queue = SqsQueue(clients, _QUEUE_URL, dead, lambda _: None, allow_insecure=False, queues=EVERY_QUEUE)
        # No function is started, and no bucket is there.
        stores = stores_over(
            jobs,
            timers,
            clock=self.clock,
            ids=SeededIds(),
            places=(S3Payloads("none"),),
            queue=queue,
            flow_queue=SqsFlowQueue(_clients(self._work_sqs), f"{_QUEUE_URL}-flow"),
            stack_queues=SqsStackQueues(clients, queue, {"delivery": _QUEUE_URL}),
            expiry_switch=DynamoExpirySwitch(client, ()),
            sweepers=_Sweepers(self._sweep),
            delivery_functions=_DeliveryFunctions(),
        )
        options = Options(
            shards=shards,
            sweepers_max=_SWEEPERS_MAX,
            bundle_span_ms=_BUNDLE_SPAN_MS,
            flow_functions_max=flow_functions,
        )
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

    @property
    def sent(self) -> Sent:
        """What the delivery queue was sent."""
        return self._sqs.sent

    def create(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Write jobs one by one, several at a time. None may be refused."""
        with ThreadPoolExecutor(_CREATORS) as threads:
            list(threads.map(self._put, named(jobs)))

    def create_in_bulk(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Write jobs by bulk calls of as many as a call takes, several at a time. None may be refused."""
        with ThreadPoolExecutor(_CREATORS) as threads:
            list(threads.map(self._put_in_bulk, parts(list(named(jobs)), JOBS_PER_BULK_MAX)))

    def stored_bytes(self) -> Stored:
        """The bytes of all items of each table, as DynamoDB bills their storage."""
        return Stored(self._bytes_of("jobs"), self._bytes_of("timers"))

    def _bytes_of(self, table: str) -> int:
        """An item takes its names and values, and 100 bytes that DynamoDB adds for storage."""
        pages = self._client.get_paginator("scan").paginate(TableName=f"{self._name}-{table}")
        return sum(_ITEM_BYTES + _size({"M": item}) for page in pages for item in page["Items"])

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
        self.meter.invocation()
        began = time.process_time()
        ticked = self._wheel.ticker.tick(
            owner=self._wheel.stores.ids.token(), deadline=self.clock.now() + 55 * SECOND_MS
        )
        ticked.raise_faults()
        self.swept_cpu_s += time.process_time() - began

    def _put(self, job: JobToWrite) -> None:
        self._api.writer.put(job.key, job.definition, caller="bench", requested_at=self.clock.now())

    def _put_in_bulk(self, jobs: Sequence[JobToWrite]) -> None:
        list(put(self._api.bulk_writer, jobs, self.clock.now()))

    def _deliver(self, until: Instant) -> None:
        while (visible_at := self._sqs.next_at()) is not None and visible_at < until:
            self.clock.wait_until(visible_at)
            batch = self._sqs.receive()
            self.meter.invocation()
            handled = self._intake.handle(batch, deadline=self.clock.now() + 90 * SECOND_MS)
            assert all(each.is_done and each.error is None for each in handled), handled
            self._sqs.delete()

    def _sweep(self, first_shard: int) -> None:
        self.meter.invocation()
        swept = self._wheel.sweeper.sweep(
            self._wheel.stores.leases.state().leases,
            owner=self._wheel.stores.ids.token(),
            first_shard=first_shard,
            deadline=self.clock.now() + 120 * SECOND_MS,
        )
        swept.raise_faults()

    def _table(self, client: "DynamoDBClient", name: str) -> Table:
        client.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        return Table(client, name, self._wait_ms)

    def _wait_ms(self, duration_ms: int) -> None:
        self.clock.wait_until(self.clock.now() + duration_ms)


def _size(value: Mapping[str, Any]) -> int:
    """The bytes of a value, as DynamoDB's documentation counts them."""
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content if isinstance(content, bytes) else b64decode(content))
        case "N":
            return (len(content) + 1) // 2 + 1
        case "M":
            return sum(len(name.encode()) + _size(each) for name, each in content.items())
        case "L":
            return 3 + sum(1 + _size(each) for each in content)
    return 1


def _client(endpoint_url: str) -> "DynamoDBClient":
    session = boto3.Session("bench", "bench", region_name="us-east-1")
    return session.client(
        "dynamodb", endpoint_url=endpoint_url, config=Config(max_pool_connections=_CONNECTIONS_MAX)
    )
