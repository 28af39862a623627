"""The clients in memory fail as AWS and the SDK do, and the production adapters handle it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import pytest
from botocore.exceptions import ReadTimeoutError
from tests.contract.builders import NOON, job, next_revision, timer
from tests.fakes.doubles import HandClock, Letterbox
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import Stores, on_fake
from tests.fakes.sqs_client import DELIVERY_URL, FakeSqs, queue_over
from tests.fakes.wire_trouble import Fate, Trouble

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, Heartbeat
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand_engine.wire import refusal

LATER = NOON + HOUR_MS
LOST = Fate(is_lost=True)


@dataclass
class Script(Trouble):
    """The outcome of each try, in order. When the script is over, every try succeeds."""

    fates: Iterator[Fate] = field(default_factory=lambda: iter(()))
    error: Exception | None = None
    is_done_first: bool = False
    between: Callable[[], object] = lambda: None
    tries: list[str] = field(default_factory=list)

    def script(self, fates: Iterable[Fate]) -> None:
        self.tries.clear()
        self.fates = iter(fates)

    def before(self, operation: str) -> Fate:
        if self.tries:
            self.between()
        self.tries.append(operation)
        if self.error is not None and not self.is_done_first:
            raise self.error
        return next(self.fates, Fate())

    def after(self, operation: str, fate: Fate) -> None:
        del operation, fate
        if self.error is not None and self.is_done_first:
            raise self.error


@pytest.fixture
def trouble() -> Script:
    return Script()


@pytest.fixture
def stores(trouble: Script) -> Stores:
    return on_fake(FakeDynamoDB(trouble)).stores()


def message(number: int) -> TriggerMessage:
    return TriggerMessage(Trigger(JobKey("team", "job"), "u" * 16, "r", NOON + number, number, 0), NOON)


def test_another_client_may_act_between_two_tries_of_the_sdk(trouble: Script, stores: Stores) -> None:
    first, second = job(), next_revision(job(), "version000000002")
    stores.jobs.put(first, replacing=None)
    rival = next_revision(first, "version000000003")

    def overtake() -> None:
        trouble.between = lambda: None
        others = on_fake(FakeDynamoDB(tables=client.tables)).stores()
        assert others.jobs.delete(second)
        assert others.jobs.put(replace(rival, uid="uid0000000000002"), replacing=None)

    client = FakeDynamoDB(trouble)
    mine = on_fake(client).stores()
    mine.jobs.put(first, replacing=None)
    trouble.script([LOST])
    trouble.between = overtake
    assert not mine.jobs.put(second, replacing=first.version)


def test_the_sdk_gives_up_and_the_last_answer_counts(trouble: Script, stores: Stores) -> None:
    trouble.script([LOST] * 10)
    assert stores.jobs.get(job().key) is None
    assert len(trouble.tries) == 4


@pytest.mark.parametrize("is_done_first", [False, True])
@pytest.mark.parametrize(
    "error",
    [refusal("ThrottlingException", "PutItem"), ReadTimeoutError(endpoint_url="https://aws.example")],
)
def test_an_error_is_a_store_error_whether_or_not_it_was_done(
    trouble: Script, stores: Stores, error: Exception, *, is_done_first: bool
) -> None:
    trouble.error, trouble.is_done_first = error, is_done_first
    with pytest.raises(StoreError):
        stores.jobs.put(job(), replacing=None)
    trouble.error = None
    assert (stores.jobs.get(job().key) is not None) is is_done_first


def test_a_reader_that_needs_all_items_reads_on_after_small_pages() -> None:
    stores = on_fake(FakeDynamoDB(page_bytes=1_000)).stores()
    stores.leases.beat(Heartbeat(NOON))
    assert stores.leases.raise_shards(30) == 30
    state = stores.leases.state()
    assert (len(state.leases), state.shards, state.heartbeat_at) == (30, 30, NOON)
    for number in range(40):
        stores.jobs.put(job(f"job-{number:02d}"), replacing=None)
    assert len(stores.jobs.page("default", "", "", 40).items) == 40
    stores.timers.put([timer(NOON + number) for number in range(20)])
    assert 1 <= len(stores.timers.page(3, Cursor(), LATER, 50)) < 20


def test_messages_whose_acceptance_was_not_heard_are_there_twice(trouble: Script) -> None:
    box = Letterbox(HandClock())
    trouble.script([LOST])
    queue_over(box, trouble).send([(message(1), 0)])
    assert _sent(box) == [message(1)] * 2


def test_a_receipt_that_is_not_accepted_is_no_error(trouble: Script) -> None:
    box = Letterbox(HandClock())
    queue = queue_over(box, trouble)
    queue.send([(message(1), 0)])
    [received] = box.take()
    trouble.error = refusal("InternalError", "DeleteMessageBatch")
    queue.acknowledge([received.receipt])
    assert len(box.in_flight) == 1
    trouble.error = None
    queue.acknowledge([received.receipt])
    assert box.in_flight == {}


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [{"Id": str(number), "MessageBody": "x"} for number in range(11)],
        [{"Id": "1", "MessageBody": "x"}] * 2,
        [{"Id": "1", "MessageBody": "x", "DelaySeconds": 901}],
        [{"Id": "1", "MessageBody": "x", "DelaySeconds": -1}],
        [{"Id": "1", "MessageBody": "x", "DelaySeconds": 0.5}],
        [{"Id": "1", "MessageBody": ""}],
        [{"Id": str(number), "MessageBody": "x" * 600_000} for number in range(2)],
    ],
)
def test_a_call_that_sqs_would_refuse_raises_an_assertion_error(entries: list[dict[str, object]]) -> None:
    class Nowhere:
        def accept(self, body: str, delay_s: int) -> None:
            raise AssertionError(body, delay_s)

        def delete(self, receipts: object) -> None:
            raise AssertionError(receipts)

    client = FakeSqs({DELIVERY_URL: Nowhere()})
    with pytest.raises(AssertionError):
        client.send_message_batch(QueueUrl=DELIVERY_URL, Entries=entries)
    assert len(client.complaints) == 1


def test_a_call_that_the_client_does_not_simulate_raises_an_error() -> None:
    client = FakeDynamoDB()
    key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    for expression in ("size (#0) < :0", "#0 <> :0", "begins_with (#0, :0)", "#0[0] = :0", "#0 = :0 OR"):
        with pytest.raises(AssertionError):
            client.put_item(
                TableName="jobs",
                Item=key,
                ConditionExpression=expression,
                ExpressionAttributeNames={"#0": "pk"},
                ExpressionAttributeValues={":0": {"S": "a"}},
            )
    with pytest.raises(AssertionError):
        client.get_item(TableName="jobs", Key=key, ConsistentRead=False)
    with pytest.raises(AssertionError):
        client.put_item(TableName="jobs", Item={**key, "x": {"SS": ["a"]}})
    assert len(client.complaints) == 7


def _sent(box: Letterbox) -> list[TriggerMessage]:
    return [each for _, each in box.waiting if isinstance(each, TriggerMessage)]
