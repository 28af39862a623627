"""The production use cases over DynamoDB Local and a counted queue, advanced minute by minute."""

import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
from botocore.config import Config
from infra.bench.clock import HandClock, SeededIds
from infra.bench.meter import Meter
from infra.bench.sqs import CountedSqs, Sent

from sweephand.base.concurrency import Concurrently, one_by_one, parts
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.work_queue import SqsWorkQueue
from sweephand.jobs.bulk_write import JobToWrite
from sweephand.jobs.write import WriteResult
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey
from sweephand.model.timer import OccurrenceTimer
from sweephand.ports import Answer, Attempt, Clock
from sweephand.runtime.app import App, Options
from sweephand.storage import jobs as stored_jobs
from sweephand.storage.allowances import DynamoAllowances
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.batches import DynamoBatches
from sweephand.storage.changes import DynamoChanges
from sweephand.storage.flags import DynamoFlags
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.lines import DynamoLines
from sweephand.storage.named_secrets import DynamoNamedSecrets
from sweephand.storage.namespaces import DynamoNamespaces
from sweephand.storage.payload_audits import DynamoAudits
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.permits import DynamoPermits
from sweephand.storage.policies import DynamoPolicies
from sweephand.storage.policy_lines import DynamoPolicyLines
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets
from sweephand.storage.stats import DynamoStats
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers
from sweephand.storage.wheel_history import DynamoWheelHistory
from sweephand.targets.queues import EVERY_QUEUE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

#: More than one, so that the cost of a shard shows.
SHARDS = 4

#: The defaults of template.yaml.
SWEEPERS_MAX = 4
BUNDLE_SPAN_MS = SECOND_MS

#: 2026-11-21T12:00:17Z: any instant that is not at the start of a minute.
_BEGIN: Instant = 1_795_262_417_000

_NAMESPACE = "bench"
_QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012/delivery"
_CREATORS = 4
_CONNECTIONS_MAX = 300

_URL = "https://hooks.example.com/tenants/4711/jobs"
_DATA = '{"tenant":4711,"task":"refresh"}'


#: What DynamoDB adds to each item for its storage.
_ITEM_BYTES = 100


class Stored(NamedTuple):
    """Bytes that are stored in each table."""

    jobs: int
    timers: int


class _Consumer:
    """ports.Targets in which every request succeeds after `answer_s` seconds and is counted."""

    def __init__(self, answer_s: float) -> None:
        self.delivered = 0
        self._answer_s = answer_s
        self._lock = Lock()

    def deliver(self, attempt: Attempt) -> Answer:
        """Count and accept."""
        del attempt
        if self._answer_s:
            time.sleep(self._answer_s)
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


@dataclass(frozen=True, slots=True)
class _Ports:
    """app.Ports."""

    jobs: DynamoJobs
    changes: DynamoChanges
    runs: DynamoRuns
    flags: DynamoFlags
    stats: DynamoStats
    wheel_history: DynamoWheelHistory
    batches: DynamoBatches
    lines: DynamoLines
    timers: DynamoTimers
    leases: DynamoLeases
    payloads: S3Payloads
    audits: DynamoAudits
    secrets: DynamoSecrets
    keys: DynamoKeys
    named_secrets: DynamoNamedSecrets
    queue: SqsQueue
    targets: _Consumer
    sweepers: _Sweepers
    delivery_functions: _DeliveryFunctions
    policies: DynamoPolicies
    allowances: DynamoAllowances
    permits: DynamoPermits
    policy_lines: DynamoPolicyLines
    work: SqsWorkQueue
    namespaces: DynamoNamespaces
    clock: Clock
    ids: SeededIds


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
        self._sqs = CountedSqs(self.clock, self.meter)
        self._work = CountedSqs(self.clock, self.meter)
        self._consumer = _Consumer(answer_s)
        self._ids = SeededIds()
        self._name = name
        self._client = client = _client(endpoint_url)
        self._jobs_table = self._table(client, f"{name}-jobs")
        self._timers_table = self._table(client, f"{name}-timers")
        self.meter.watch(client)
        clients = SqsClients(
            lambda _: self._sqs  # type: ignore[arg-type, return-value] # as much of it as is called
        )
        queue = SqsQueue(
            clients,
            _QUEUE_URL,
            f"{_QUEUE_URL}-dead",
            lambda _: None,
            allow_insecure=False,
            queues=EVERY_QUEUE,
        )
        self._app = App(
            _Ports(
                jobs=DynamoJobs(self._jobs_table),
                changes=DynamoChanges(self._jobs_table),
                runs=DynamoRuns(self._jobs_table),
                flags=DynamoFlags(self._jobs_table),
                stats=DynamoStats(self._jobs_table),
                wheel_history=DynamoWheelHistory(self._jobs_table),
                batches=DynamoBatches(self._jobs_table),
                lines=DynamoLines(self._jobs_table),
                timers=DynamoTimers(self._timers_table),
                leases=DynamoLeases(self._timers_table),
                payloads=S3Payloads("none"),
                audits=DynamoAudits(self._timers_table),
                secrets=DynamoSecrets(self._jobs_table),
                keys=DynamoKeys(self._jobs_table),
                named_secrets=DynamoNamedSecrets(self._jobs_table),
                queue=queue,
                targets=self._consumer,
                sweepers=_Sweepers(self._sweep),
                delivery_functions=_DeliveryFunctions(),
                policies=DynamoPolicies(self._jobs_table),
                allowances=DynamoAllowances(self._jobs_table),
                permits=DynamoPermits(self._jobs_table),
                policy_lines=DynamoPolicyLines(self._timers_table, self.clock.now),
                work=SqsWorkQueue(
                    SqsClients(
                        lambda _: self._work  # type: ignore[arg-type, return-value] # same
                    ),
                    f"{_QUEUE_URL}-flow",
                ),
                namespaces=DynamoNamespaces(self._jobs_table),
                clock=self.clock,
                ids=self._ids,
            ),
            Options(
                shards=shards,
                sweepers_max=SWEEPERS_MAX,
                bundle_span_ms=BUNDLE_SPAN_MS,
                flow_functions_max=flow_functions,
            ),
            sweep_concurrently=one_by_one,
            deliver_concurrently=concurrently,
        )

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
            list(threads.map(self._put, _named(jobs)))

    def create_in_bulk(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Write jobs by bulk calls of as many as a call takes, several at a time. None may be refused."""
        with ThreadPoolExecutor(_CREATORS) as threads:
            list(threads.map(self._put_in_bulk, parts(list(_named(jobs)), JOBS_PER_BULK_MAX)))

    def stored_bytes(self) -> Stored:
        """The bytes of all items of each table, as DynamoDB bills their storage."""
        return Stored(self._bytes_of("jobs"), self._bytes_of("timers"))

    def _bytes_of(self, table: str) -> int:
        """An item takes its names and values, and 100 bytes that DynamoDB adds for storage."""
        pages = self._client.get_paginator("scan").paginate(TableName=f"{self._name}-{table}")
        return sum(_ITEM_BYTES + _size({"M": item}) for page in pages for item in page["Items"])

    def store(self, jobs: Sequence[Job], timers: Sequence[OccurrenceTimer]) -> None:
        """Write jobs and timers as they are, 25 to a call. Nothing is armed."""
        self._jobs_table.put_batch([stored_jobs._item(job) for job in jobs])  # noqa: SLF001 - jobs have no batch
        self._app.ports.timers.put(timers)

    def pass_minute(self) -> Instant:
        """Move the clock to the start of the next minute, and return it."""
        minute = self.clock.now() - self.clock.now() % MINUTE_MS + MINUTE_MS
        self.clock.wait_until(minute)
        return minute

    def run(self, minutes: int) -> None:
        """Tick at the start of each of the next minutes, and deliver what is due before the next one."""
        for _ in range(minutes):
            minute = self.clock.now() - self.clock.now() % MINUTE_MS + MINUTE_MS
            self._deliver(minute)
            self.clock.wait_until(minute)
            self.tick()

    def tick(self) -> None:
        """Do one tick now."""
        self.meter.invocation()
        began = time.process_time()
        ticked = self._app.ticker.tick(owner=self._ids.token(), deadline=self.clock.now() + 55 * SECOND_MS)
        ticked.raise_faults()
        self.swept_cpu_s += time.process_time() - began

    def _put(self, job: JobToWrite) -> None:
        self._app.writer.put(job.key, job.definition, caller="bench", requested_at=self.clock.now())

    def _put_in_bulk(self, jobs: Sequence[JobToWrite]) -> None:
        results = self._app.bulk_writer.put(jobs, caller="bench", requested_at=self.clock.now())
        assert all(isinstance(each, WriteResult) for each in results), results

    def _deliver(self, until: Instant) -> None:
        while (visible_at := self._sqs.next_at()) is not None and visible_at < until:
            self.clock.wait_until(visible_at)
            batch = self._sqs.receive()
            self.meter.invocation()
            handled = self._app.intake.handle(batch, deadline=self.clock.now() + 90 * SECOND_MS)
            assert all(each.is_done and each.error is None for each in handled), handled
            self._sqs.delete()

    def _sweep(self, first_shard: int) -> None:
        self.meter.invocation()
        swept = self._app.sweeper.sweep(
            self._app.ports.leases.state().leases,
            owner=self._ids.token(),
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


def _named(jobs: Iterable[Mapping[str, Any]]) -> Iterator[JobToWrite]:
    for number, job in enumerate(jobs):
        written = {"target": {"type": "http", "url": _URL}, **job}
        yield JobToWrite(JobKey(_NAMESPACE, f"job-{number:06d}"), Definition(written, Payload.of(_DATA)))


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
