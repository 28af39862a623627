"""A failed request to DynamoDB or S3 is a StoreError, with its cause, after the SDK's own retries."""

from collections.abc import Callable

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from tests.contract.builders import NOON, admin_change, api_key, job, run, secret, secrets, timer
from tests.fakes.engines import BUCKET, Dynamo, Stores
from tests.fakes.wire import cut_off, damaged_once, refused, without_waiting

from sweephand.base.errors import StoreError
from sweephand.model.api_key import MadeKey
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, Heartbeat, Lease
from sweephand.storage.payloads import S3Payloads

OWNER = "owner00000000001"
KEY = JobKey("default", "backup")


def made(stores: Stores) -> Stores:
    stores.keys.put(api_key(), admin_change())
    return stores


#: Every call of every store, and the requests that it makes, each of which can fail.
CALLS: dict[str, tuple[Callable[[Stores], object], list[str]]] = {
    "jobs.get": (lambda stores: stores.jobs.get(KEY), ["GetItem"]),
    "jobs.get_many": (lambda stores: stores.jobs.get_many([KEY]), ["BatchGetItem"]),
    "jobs.put": (lambda stores: stores.jobs.put(job(), replacing=None), ["PutItem"]),
    "jobs.delete": (lambda stores: stores.jobs.delete(job()), ["DeleteItem"]),
    "jobs.page": (lambda stores: stores.jobs.page("default", "", "", 5), ["Query"]),
    "timers.put": (lambda stores: stores.timers.put([timer()]), ["BatchWriteItem"]),
    "timers.page": (lambda stores: stores.timers.page(3, Cursor(), NOON, 5), ["Query"]),
    "leases.state": (lambda stores: stores.leases.state(), ["Query"]),
    "leases.beat": (lambda stores: stores.leases.beat(Heartbeat(NOON)), ["PutItem"]),
    "leases.raise_shards": (lambda stores: stores.leases.raise_shards(2), ["GetItem", "PutItem"]),
    "leases.claim": (
        lambda stores: stores.leases.claim(Lease(0, Cursor()), OWNER, NOON, NOON),
        ["UpdateItem"],
    ),
    "leases.commit": (
        lambda stores: stores.leases.commit(Lease(0, Cursor()), Cursor(), NOON),
        ["UpdateItem"],
    ),
    "leases.release": (lambda stores: stores.leases.release(Lease(0, Cursor()), 0, NOON), ["UpdateItem"]),
    "runs.claim": (lambda stores: stores.runs.claim(run(), NOON), ["PutItem"]),
    "runs.record": (lambda stores: stores.runs.record(run()), ["PutItem"]),
    "runs.get": (lambda stores: stores.runs.get(KEY, "1-0"), ["Query"]),
    "runs.page": (lambda stores: stores.runs.page(KEY, None, "", 5), ["Query"]),
    "secrets.get": (lambda stores: stores.secrets.get("default"), ["GetItem"]),
    "secrets.both": (lambda stores: stores.secrets.both("default"), ["Query"]),
    "secrets.create": (lambda stores: stores.secrets.create(secrets()), ["PutItem"]),
    "secrets.put": (
        lambda stores: stores.secrets.put(secrets(), None, admin_change()),
        ["TransactWriteItems"],
    ),
    "named_secrets.get_many": (
        lambda stores: stores.named_secrets.get_many("default", ["api-token"]),
        ["BatchGetItem"],
    ),
    "named_secrets.put": (
        lambda stores: stores.named_secrets.put(secret(), None, admin_change()),
        ["TransactWriteItems"],
    ),
    "named_secrets.delete": (
        lambda stores: stores.named_secrets.delete(secret().key, admin_change()),
        ["PutItem", "DeleteItem"],
    ),
    "named_secrets.page": (lambda stores: stores.named_secrets.page("default", "", 5), ["Query"]),
    "keys.rotate": (
        lambda stores: stores.keys.rotate(
            api_key(),
            api_key(replaced_by="new"),
            api_key("new", digest="1" * 64),
            None,
            [admin_change()],
        ),
        ["TransactWriteItems"],
    ),
    "keys.get": (lambda stores: stores.keys.get("key"), ["GetItem"]),
    "keys.put": (lambda stores: stores.keys.put(api_key(), admin_change()), ["TransactWriteItems"]),
    "keys.make": (
        lambda stores: stores.keys.make(api_key(), api_key("maker"), admin_change()),
        ["TransactWriteItems"],
    ),
    "keys.end": (
        lambda stores: stores.keys.end(api_key(), api_key(expires_at=NOON), admin_change()),
        ["TransactWriteItems"],
    ),
    "keys.delete": (
        lambda stores: made(stores).keys.delete(api_key().id, admin_change()),
        ["GetItem", "DeleteItem"],
    ),
    "keys.made_by": (lambda stores: stores.keys.made_by("key", 5), ["Query"]),
    "keys.add_made": (lambda stores: stores.keys.add_made("key", MadeKey("k", "k", None)), ["PutItem"]),
    "keys.forget_made": (lambda stores: stores.keys.forget_made("key", "k"), ["DeleteItem"]),
    "admin_changes.page": (lambda stores: stores.admin_changes.page(None, "", 5), ["Query"]),
    "keys.page": (lambda stores: stores.keys.page(None, "", 5), ["Query"]),
}

EVERY_REQUEST = [
    pytest.param(call, operation, id=f"{name} {operation}")
    for name, (call, operations) in CALLS.items()
    for operation in operations
]


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    without_waiting(monkeypatch)


def test_a_request_with_a_damaged_answer_is_repeated(on_moto: Dynamo) -> None:
    stores = on_moto.stores()
    stores.jobs.put(job(), replacing=None)
    with damaged_once(on_moto.client, "GetItem") as asked:
        assert stores.jobs.get(job().key) == job()
    assert asked.times == 2


@pytest.mark.parametrize(("call", "operation"), EVERY_REQUEST)
def test_a_throttled_request_is_repeated_and_raises_a_store_error_in_the_end(
    on_moto: Dynamo, call: Callable[[Stores], object], operation: str
) -> None:
    throttling = refused(on_moto.client, operation, "ProvisionedThroughputExceededException")
    with throttling as asked, pytest.raises(StoreError, match=operation) as raised:
        call(on_moto.stores())
    assert asked.times == 4
    assert isinstance(raised.value.__cause__, ClientError)


@pytest.mark.parametrize(("call", "operation"), EVERY_REQUEST)
def test_a_request_that_times_out_is_repeated_and_raises_a_store_error_in_the_end(
    on_moto: Dynamo, call: Callable[[Stores], object], operation: str
) -> None:
    with cut_off(on_moto.client, operation) as asked, pytest.raises(StoreError, match=operation) as raised:
        call(on_moto.stores())
    assert asked.times == 4
    assert isinstance(raised.value.__cause__, BotoCoreError)


@pytest.mark.parametrize("status", [500, 503])
def test_a_request_that_fails_in_the_service_is_repeated_and_raises_a_store_error_in_the_end(
    on_moto: Dynamo, status: int
) -> None:
    failing = refused(on_moto.client, "PutItem", "InternalServerError", status)
    with failing as asked, pytest.raises(StoreError, match="PutItem on table jobs-"):
        on_moto.stores().jobs.put(job(), replacing=None)
    assert asked.times == 4


def test_a_missing_table_raises_a_store_error(on_moto: Dynamo) -> None:
    missing = Dynamo(on_moto.client, "none", "none").stores()
    with pytest.raises(StoreError, match="GetItem on table none"):
        missing.jobs.get(KEY)


def test_a_key_that_is_too_long_raises_a_store_error_and_changes_nothing(dynamo: Dynamo) -> None:
    jobs = dynamo.stores().jobs
    with pytest.raises(StoreError):
        jobs.put(job("n" * 2_000), replacing=None)
    assert jobs.page("default", "", "", 5).items == ()


def test_a_missing_bucket_raises_a_store_error(on_moto: Dynamo) -> None:  # noqa: ARG001 (moto is there)
    payloads = S3Payloads("none")
    with pytest.raises(StoreError, match="PutObject on bucket none"):
        payloads.put("uid", "ref", "[1]")
    with pytest.raises(StoreError, match="GetObject on bucket none"):
        payloads.get("uid", "ref")
    with pytest.raises(StoreError, match="CopyObject on bucket none"):
        payloads.discard("uid", "ref")


def test_a_payload_whose_reading_breaks_off_raises_a_store_error(
    aws_payloads: S3Payloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws_payloads.put("uid", "ref", "[1]")
    monkeypatch.setattr("botocore.response.StreamingBody.read", _break_off)
    with pytest.raises(StoreError, match=f"GetObject on bucket {BUCKET}"):
        aws_payloads.get("uid", "ref")


def _break_off(_body: object, amt: int | None = None) -> bytes:  # noqa: ARG001 (as it is called)
    raise ReadTimeoutError(endpoint_url="s3")
