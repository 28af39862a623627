"""Payloads in a DynamoDB table of the operator's: its keys, its sharing, and the expiry of its items."""

from typing import Any, Final
from uuid import uuid4

import pytest
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import Dynamo, on_fake

from sweephand.base.errors import ParameterError
from sweephand.base.instants import DAY_MS, SECOND_MS
from sweephand.base.limits import DATA_BYTES_MAX, NAME_LENGTH_MAX
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.storage.payloads import DynamoPayloads
from sweephand_engine.dynamo.tables import size_of

UID: Final = "uid0000000000001"
REF: Final = "0123456789abcdef-token"
BEGIN: Final = 1_790_000_000_000

#: AWS's limit of an item, keys and names of attributes included.
ITEM_BYTES_MAX: Final = 409_600


class Clock:
    """The time of a function."""

    def __init__(self) -> None:
        self.time = BEGIN

    def now(self) -> int:
        return self.time


def payloads_in(dynamo: Dynamo, table: str | None = None, prefix: str = "a", **of: Any) -> DynamoPayloads:
    clock = of.get("clock", Clock())
    return DynamoPayloads(dynamo.table(table or dynamo.jobs_table), prefix, clock.now, "PayloadTable")


def uids_of(payloads: DynamoPayloads) -> list[str]:
    return [each.uid for each in payloads.page("", 100).items]


def table_with(dynamo: Dynamo, **keys: str) -> str:
    """A new table with these keys: their names, and their types."""
    name = f"other-{uuid4().hex}"
    dynamo.client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": of} for key, of in keys.items()],  # type: ignore[typeddict-item]
        KeySchema=[
            {"AttributeName": key, "KeyType": of}  # type: ignore[typeddict-item]
            for key, of in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


@pytest.mark.parametrize(
    "keys",
    [{"pk": "S"}, {"id": "S"}, {"id": "S", "sk": "S"}, {"pk": "S", "sort": "S"}, {"pk": "S", "sk": "N"}],
)
def test_a_table_with_other_keys_is_named_at_the_first_write_and_holds_no_payload(
    dynamo: Dynamo, keys: dict[str, str]
) -> None:
    table = table_with(dynamo, **keys)
    payloads = payloads_in(dynamo, table)
    for _ in range(2):
        with pytest.raises(
            ParameterError, match=r"PayloadTable must name .* partition key pk .* sort key sk"
        ):
            payloads.put(UID, REF, "[1]")
    assert dynamo.client.scan(TableName=table)["Items"] == []
    assert payloads.get(UID, REF) is None


def test_a_table_with_other_keys_is_named_by_the_audit(dynamo: Dynamo) -> None:
    payloads = payloads_in(dynamo, table_with(dynamo, id="S"))
    for call in (lambda: payloads.page("", 10), lambda: payloads.discard(UID, REF)):
        with pytest.raises(ParameterError, match="PayloadTable"):
            call()


def test_a_table_that_does_not_exist_is_named_at_the_first_write_and_holds_no_payload(dynamo: Dynamo) -> None:
    payloads = payloads_in(dynamo, "no-such-table")
    with pytest.raises(ParameterError, match="PayloadTable must name a table"):
        payloads.put(UID, REF, "[1]")
    assert payloads.get(UID, REF) is None


def test_stacks_and_other_items_share_a_table_and_do_not_see_each_other(dynamo: Dynamo) -> None:
    mine, other = payloads_in(dynamo, prefix="mine"), payloads_in(dynamo, prefix="other")
    mine.put(UID, REF, "[1]")
    assert other.get(UID, REF) is None
    assert not other.discard(UID, REF)
    other.put("0id0000000000002", REF, "[2]")
    dynamo.client.put_item(TableName=dynamo.jobs_table, Item={"pk": {"S": "orders"}, "sk": {"S": "1"}})
    assert uids_of(mine) == [UID]
    assert uids_of(other) == ["0id0000000000002"]


def test_an_item_that_is_renewed_lives_as_long_as_one_that_is_discarded(dynamo: Dynamo) -> None:
    now = [0]
    table = dynamo.table(dynamo.jobs_table)
    payloads = DynamoPayloads(table, "bucket", lambda: now[0], "PayloadTable")
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    now[0] = 5 * DAY_MS
    assert payloads.renew(UID, REF)
    assert not payloads.renew(UID, REF)
    [item] = dynamo.client.scan(TableName=dynamo.jobs_table)["Items"]
    assert item["expires_at"]["N"] == str((5 * DAY_MS + PAYLOAD_KEPT_MS) // 1_000)


def test_a_discarded_item_has_a_time_to_live_and_no_other_item_has_one(dynamo: Dynamo) -> None:
    payloads = payloads_in(dynamo)
    payloads.put(UID, REF, "[1]")
    [item] = dynamo.client.scan(TableName=dynamo.jobs_table)["Items"]
    assert item == {
        "pk": {"S": "a#u"},
        "sk": {"S": f"{UID}/{REF}"},
        "data": {"S": "[1]"},
        "written_at": {"N": str(BEGIN)},
    }
    payloads.discard(UID, REF)
    [item] = dynamo.client.scan(TableName=dynamo.jobs_table)["Items"]
    assert item["expires_at"] == {"N": str((BEGIN + PAYLOAD_KEPT_MS) // SECOND_MS)}


def test_the_audits_listing_removes_what_has_expired_if_the_table_does_not(dynamo: Dynamo) -> None:
    clock = Clock()
    payloads = payloads_in(dynamo, clock=clock)
    for uid in ("0id0000000000001", "5id0000000000001", "zid0000000000001"):
        payloads.put(uid, REF, "[1]")
        payloads.discard(uid, REF)
    payloads.put("5id0000000000001", REF, "[1]")  # it does not expire any more
    clock.time += PAYLOAD_KEPT_MS - SECOND_MS
    assert len(uids_of(payloads)) == 3
    clock.time += SECOND_MS
    assert uids_of(payloads) == ["5id0000000000001"]
    assert payloads.get("0id0000000000001", REF) is None
    assert payloads.get("5id0000000000001", REF) == "[1]"


def test_a_page_reads_a_bounded_number_of_bytes_and_the_next_page_continues() -> None:
    payloads = payloads_in(on_fake(FakeDynamoDB(page_bytes=1)))  # each query reads one item
    uids = [f"{number:02}d0000000000001" for number in range(50)]
    for uid in uids:
        payloads.put(uid, REF, "[1]")
    found: list[list[str]] = []
    after: str | None = ""
    while after is not None:
        page = payloads.page(after, 1_000)
        found.append([each.uid for each in page.items])
        after = page.next
    assert [len(each) for each in found] == [20, 20, 10]
    assert [uid for each in found for uid in each] == uids


def test_the_largest_data_of_the_longest_name_fits_into_an_item() -> None:
    dynamo = on_fake(FakeDynamoDB())
    payloads = payloads_in(dynamo, prefix="b" * 63)  # the longest name of a bucket
    owner = f"{'n' * NAME_LENGTH_MAX}/{'j' * NAME_LENGTH_MAX}"
    ref = f"{'d' * 32}-{'t' * 16}/{owner}"
    payloads.put(UID, ref, '"' + "x" * (DATA_BYTES_MAX - 2) + '"')
    payloads.discard(UID, ref)
    key = {"pk": {"S": f"{'b' * 63}#u"}, "sk": {"S": f"{UID}/{ref}"}}
    item = dynamo.client.get_item(TableName=dynamo.jobs_table, Key=key, ConsistentRead=True)["Item"]
    assert DATA_BYTES_MAX < size_of(item) < ITEM_BYTES_MAX
