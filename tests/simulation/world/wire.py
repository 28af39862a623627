"""The stores and the queue of a simulation over clients in memory, so that the production adapters run too.

Each request of an adapter passes the gate, so a process can be stopped between two requests of one call. The
faults are those of DynamoDB, SQS and the SDK: parts of batches are left, and answers get lost and the SDK
asks again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.memory_audits import MemoryAudits
from tests.fakes.sqs_client import DEAD_LETTERS_URL, FakeSqs, Inbox, sqs_queue
from tests.fakes.wire_trouble import Fate, Trouble
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.gate import Gate
from tests.simulation.world.removals import ExpiringTables
from tests.simulation.world.sqs import Sqs
from tests.simulation.world.stores import Ports, flow_stores

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.model.batch_mark import BatchName
from sweephand.model.batch_progress import PageName, ProgressPage
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand, DemandKind
from sweephand.storage import batches, changes, counters, jobs, leases, lines, namespaces, runs, timers
from sweephand.storage.table import Table
from sweephand_engine.dynamo.expressions import Attributes
from sweephand_engine.dynamo.tables import Tables, place_of
from sweephand_engine.wire import refusal

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_URL: Final = "https://aws.example"

#: The share of lost answers after which the SDK asks again. The others become errors.
_AGAIN: Final = 2 / 3

#: How long the SDK waits before it asks again: after a cut connection, or after storage.connect's time-out.
_WAITS_MS: Final = (50, 50, 4_000)

#: The requests that write. With the trouble "repeats" the SDK makes them again after up to 9 s.
_WRITING: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"})

Port = TypeVar("Port")


def wire(gate: Gate, chronicle: Chronicle, queues: DeliveryQueues) -> Ports:
    """Return ports whose every request passes the gate.

    Each has a client of its own, so that each can be down alone.
    """
    watch, removals, staleness = Watch(chronicle), chronicle.removals, gate.staleness

    def changed(before: Attributes | None, after: Attributes | None) -> None:
        staleness.changed(place_of(_key_of(before or after or {})), before)
        watch.changed(before, after)

    tables = Tables(changed) if removals is None else ExpiringTables(changed, watch.removed, removals)
    # Keys of the two tables differ.
    get = tables.get
    tables.get_stale = lambda table, place: staleness.as_read(place, get(table, place))  # type: ignore[method-assign]

    def table(port: str, name: str) -> Table:
        client = FakeDynamoDB(GateTrouble(gate, port), tables)
        return Table(cast("DynamoDBClient", client), name, gate.sleep)

    payloads = chronicle.bucket.store()
    inboxes: dict[str, Inbox] = {**queues.by_url, DEAD_LETTERS_URL: _DeadLetters(queues.normal)}
    queue = sqs_queue(
        FakeSqs(inboxes, GateTrouble(gate, "queue")),
        lambda wait_s: gate.sleep(round(wait_s * SECOND_MS)),
        queues.lanes,
    )
    return Ports(
        jobs=_told(gate, jobs.DynamoJobs(table("jobs", "jobs")), "jobs"),
        changes=_told(gate, changes.DynamoChanges(table("changes", "jobs")), "changes"),
        timers=_told(gate, timers.DynamoTimers(table("timers", "timers")), "timers"),
        leases=_told(gate, leases.DynamoLeases(table("leases", "timers")), "leases"),
        runs=_told(gate, runs.DynamoRuns(table("runs", "jobs")), "runs"),
        flags=chronicle.flags,
        stats=chronicle.stats,
        wheel_history=chronicle.wheel_history,
        lines=_told(gate, lines.DynamoLines(table("lines", "jobs")), "lines"),
        batches=_told(gate, batches.DynamoBatches(table("batches", "jobs")), "batches"),
        payloads=gate.wrapped(payloads, "payloads"),
        audits=gate.wrapped(MemoryAudits(), "audits"),
        allowances=_told(gate, counters.DynamoAllowances(table("allowances", "jobs")), "allowances"),
        queue=_told(gate, queue, "queue"),
        namespaces=_told(gate, namespaces.DynamoNamespaces(table("jobs", "jobs")), "namespaces"),
        **flow_stores(gate, chronicle),
    )


def _key_of(item: Attributes) -> Attributes:
    return {name: item[name] for name in ("pk", "sk")}


class GateTrouble(Trouble):
    """Applies the gate's faults to the requests of one port's client."""

    def __init__(self, gate: Gate, port: str) -> None:
        self._gate = gate
        self._port = port

    def before(self, operation: str) -> Fate:
        """Let time pass before a request. A StoreError becomes the error that the SDK raises."""
        gate, where = self._gate, f"{self._port}.{operation}"
        try:
            kinds = gate.enter(where)
        except StoreError as error:
            if "throttled" in str(error):
                raise refusal("ThrottlingException", operation) from error
            raise EndpointConnectionError(endpoint_url=_URL) from error
        if not kinds:
            return Fate(memo=kinds)
        is_repeated = "repeat" in kinds and operation in _WRITING
        is_lost = is_repeated or ("loss" in kinds and gate.random.random() < _AGAIN)
        if is_lost:
            if not is_repeated:
                gate._mishap("answer lost", where)
            kinds = tuple(kind for kind in kinds if kind != "loss")

        def served(count: int) -> Sequence[int]:
            some = gate.part(where, range(count), kinds)
            return range(count) if some is None else some

        return Fate(served, breaks_off="part" in kinds, is_lost=is_lost, memo=kinds)

    def after(self, operation: str, fate: Fate) -> None:
        """Let time pass after a request."""
        try:
            self._gate.leave(f"{self._port}.{operation}", fate.memo)
        except StoreError as error:
            raise ReadTimeoutError(endpoint_url=_URL) from error
        if not fate.is_lost:
            return
        if "repeat" in fate.memo:
            self._gate.wait_for_repeat(f"{self._port}.{operation}")
        else:
            self._gate.sleep(self._gate.random.choice(_WAITS_MS))


@dataclass(frozen=True, slots=True)
class Watch:
    """Reports to the chronicle what each written item means."""

    chronicle: Chronicle

    def changed(self, before: Attributes | None, after: Attributes | None) -> None:
        """Note that an item was written or removed."""
        item = after or before
        assert item is not None, "what changed is or was there"
        partition, sort = item["pk"]["S"], item["sk"]["S"]
        chronicle = self.chronicle
        match partition.partition("#")[0]:
            case "jobs":
                chronicle.job_changed(_read(jobs._job, before), _read(jobs._job, after))
            case "runs":
                chronicle.run_changed(_read(runs._run, before), _read(runs._run, after))
            case "overlap":
                chronicle.line_changed(_read(lines._line, before), _read(lines._line, after))
            case "batches":
                chronicle.head_changed(_read(batches._head, before), _read(batches._head, after))
            case "marks":
                chronicle.marks_changed(_read(_marks, before), _read(_marks, after))
            case "shard":
                if after:
                    chronicle.timer_changed(None, timers._timer(after))
            case "leases" if sort.isdigit():
                chronicle.lease_changed(_read(leases._lease, before), _read(leases._lease, after))

    def removed(self, item: Attributes) -> None:
        """Note that DynamoDB has removed an item."""
        chronicle = self.chronicle
        match item["pk"]["S"].partition("#")[0]:
            case "jobs":
                chronicle.job_removed(jobs._job(item))
            case "runs":
                chronicle.run_removed(runs._run(item))
            case "overlap":
                chronicle.line_removed(lines._line(item))
            case "shard":
                chronicle.timer_removed(timers._timer(item))


@dataclass(frozen=True, slots=True)
class _DeadLetters:
    """The stack's dead-letter queue."""

    sqs: Sqs

    def accept(self, body: str, delay_s: int) -> None:
        del delay_s
        fields = json.loads(body)
        self.sqs.bury(fields["triggerId"], fields["reason"], fields["message"])

    def delete(self, receipts: Sequence[str]) -> None:
        raise AssertionError(f"nobody receives dead letters: {receipts}")


def _marks(item: Attributes) -> ProgressPage:
    """The page of a batch's progress. The store is asked for pages by name, so it does not read names."""
    _, namespace, name, level, number = item["pk"]["S"].split("#")
    due_at, *demand, uid = item["sk"]["S"].split("#")
    of = BatchName(
        JobKey(namespace, name),
        uid,
        int(due_at),
        Demand(cast("DemandKind", demand[0].removeprefix("~")), demand[1]) if demand else None,
    )
    return batches._page(PageName(of, int(level), int(number)), item)


def _read(reader: Callable[[Attributes], Port], item: Attributes | None) -> Port | None:
    return None if item is None else reader(item)


def _told(gate: Gate, port: Port, called: str) -> Port:
    """Return the port itself, or for a story one that keeps its calls."""
    return port if gate.calls is None else cast("Port", _Teller(gate, port, called))


class _Teller:
    """A port whose calls are kept for the story, with their results."""

    def __init__(self, gate: Gate, port: object, called: str) -> None:
        self._gate = gate
        self._port = port
        self._called = called

    def __getattr__(self, name: str) -> object:
        method: Any = getattr(self._port, name)

        def told(*args: object, **kwargs: object) -> object:
            result = method(*args, **kwargs)
            self._gate.told(f"{self._called}.{name}", (*args, *kwargs.values()), result)
            return result

        return told
