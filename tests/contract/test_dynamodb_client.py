"""What storage.table relies on in DynamoDB itself: the client in memory answers as AWS's own engine does.

What AWS refuses as malformed is an error of the client there and an AssertionError here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from tests.fakes.engines import LOCAL, MOTO, Dynamo

from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import Refusal, Table

REFUSED = (AssertionError, BotoCoreError, ClientError)


class Thing(Item):
    """An item with a text and two numbers."""

    text = UnicodeAttribute(null=True)
    number = IntegerAttribute(null=True, attr_name="n")
    other = IntegerAttribute(null=True)


@pytest.fixture(params=["wire", MOTO, LOCAL])
def dynamo(request: pytest.FixtureRequest) -> Dynamo:
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made


@pytest.fixture(params=["wire", LOCAL])
def strict(request: pytest.FixtureRequest) -> Dynamo:
    """Engines that refuse what AWS refuses; moto lets some of it pass."""
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made


@pytest.fixture
def table(dynamo: Dynamo) -> Table:
    return dynamo.table(dynamo.jobs_table)


def thing(sk: str = "b", **fields: Any) -> Thing:
    return Thing("p", sk, **fields)


NOTHING: Mapping[str, Any] = {}
FIVE: Mapping[str, Any] = {"number": 5, "text": "five"}
LEAST: Mapping[str, Any] = {"number": -10}

#: A condition, and of which of three items it holds: one with `number` 5 and `text`, one with -10, none.
CONDITIONS: Sequence[tuple[Condition, tuple[bool, bool, bool]]] = [
    (Thing.pk.does_not_exist(), (False, False, True)),
    (Thing.number.exists(), (True, True, False)),
    (Thing.text.does_not_exist(), (False, True, True)),
    (Thing.number == 5, (True, False, False)),
    (Thing.text == "five", (True, False, False)),
    (Thing.number < 5, (False, True, False)),
    (Thing.number <= 5, (True, True, False)),
    (Thing.number > -10, (True, False, False)),
    (Thing.number >= -10, (True, True, False)),
    (Thing.number < 10, (True, True, False)),
    (Thing.text < "six", (True, False, False)),
    (Thing.number.between(-10, 4), (False, True, False)),
    (Thing.number.between(5, 5) | Thing.number.does_not_exist(), (True, False, True)),
    (~Thing.text.between("a", "f") & (Thing.number > 0), (True, False, False)),
    (Thing.text.is_in("one", "five"), (True, False, False)),
    (~Thing.text.is_in("one", "two"), (True, True, True)),
    (~(Thing.number < 5), (True, False, True)),
    (Thing.pk.does_not_exist() | (Thing.number < 0), (False, True, True)),
    ((Thing.number == 5) & (Thing.text == "six"), (False, False, False)),
    (Thing.number.exists() & (Thing.text.does_not_exist() | (Thing.number > 4)), (True, True, False)),
    (Thing.pk.does_not_exist() | ((Thing.number < 6) & ~Thing.text.is_in("a", "five")), (False, True, True)),
    ((Thing.number == 4) | (Thing.number == 5) & (Thing.text == "five"), (True, False, False)),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS, ids=[str(each) for each, _ in CONDITIONS])
def test_a_write_is_refused_where_its_condition_does_not_hold(
    table: Table, condition: Condition, holds: tuple[bool, bool, bool]
) -> None:
    for stored, is_to_hold in zip((FIVE, LEAST, NOTHING), holds, strict=True):
        table.delete(("p", "b"))
        if stored:
            table.put(thing(**stored))
        before = table.get(("p", "b"))
        refusal = table.put(thing(other=1), condition)
        assert (refusal is None) is is_to_hold, f"of {stored}"
        if refusal is not None:
            assert refusal.stored == before
            assert table.get(("p", "b")) == before
        else:
            assert table.get(("p", "b")) == {"pk": {"S": "p"}, "sk": {"S": "b"}, "other": {"N": "1"}}


def test_a_removal_is_refused_where_its_condition_does_not_hold(table: Table) -> None:
    table.put(thing(number=5))
    refusal = table.delete(("p", "b"), Thing.number == 6)
    assert refusal is not None
    assert refusal.existing["n"] == {"N": "5"}
    assert table.delete(("p", "b"), Thing.number == 5) is None
    assert table.get(("p", "b")) is None
    assert table.delete(("p", "b"), Thing.number == 5) == Refusal(None)


@pytest.mark.parametrize(
    ("actions", "after"),
    [
        ([Thing.number.set(6)], {"n": {"N": "6"}, "text": {"S": "five"}}),
        ([Thing.number.add(2)], {"n": {"N": "7"}, "text": {"S": "five"}}),
        ([Thing.other.add(-2)], {"n": {"N": "5"}, "text": {"S": "five"}, "other": {"N": "-2"}}),
        ([Thing.text.remove()], {"n": {"N": "5"}}),
        (
            [Thing.text.set("six"), Thing.other.set(0), Thing.number.remove()],
            {"text": {"S": "six"}, "other": {"N": "0"}},
        ),
        ([Thing.text.remove(), Thing.other.remove(), Thing.number.add(1)], {"n": {"N": "6"}}),
    ],
    ids=str,
)
def test_an_update_changes_the_attributes_that_it_names_and_returns_the_item(
    table: Table, actions: Sequence[Action], after: Mapping[str, Any]
) -> None:
    table.put(thing(**FIVE))
    shown = table.update(("p", "b"), actions, Thing.number == 5)
    assert shown == {"pk": {"S": "p"}, "sk": {"S": "b"}, **after}
    assert table.get(("p", "b")) == shown


def test_an_update_that_is_refused_changes_nothing(table: Table) -> None:
    table.put(thing(number=5))
    refusal = table.update(("p", "b"), [Thing.number.add(1)], Thing.number == 6)
    assert isinstance(refusal, Refusal)
    assert refusal.existing == table.get(("p", "b"))
    assert table.update(("p", "none"), [Thing.number.add(1)], Thing.number.exists()) == Refusal(None)
    assert table.get(("p", "none")) is None


#: In the order in which DynamoDB has them: by the bytes of UTF-8, not by the units of UTF-16.
KEYS = ["\0", "a", "a\0", "a\x01", "aa", "b", "é", "\uffff", "\U0001f600"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, KEYS),
        (Thing.sk > "a", KEYS[2:]),
        (Thing.sk >= "a", KEYS[1:]),
        (Thing.sk < "b", KEYS[:5]),
        (Thing.sk <= "b", KEYS[:6]),
        (Thing.sk == "aa", ["aa"]),
        (Thing.sk.between("a\0", "b"), KEYS[2:6]),
        (Thing.sk.between("c", "d"), []),
        (Thing.sk.between("c", "c"), []),
        (Thing.sk > "\U0001f600", []),
    ],
    ids=str,
)
def test_a_query_finds_a_range_in_order(
    dynamo: Dynamo, condition: Condition | None, expected: Sequence[str]
) -> None:
    table = dynamo.table(dynamo.timers_table)
    table.put_batch([thing(key) for key in KEYS[::-1]])
    table.put(Thing("q", "a"))
    whole = Thing.pk == "p"
    asked = whole if condition is None else whole & condition
    for backwards in (False, True):
        found = table.query(asked, backwards=backwards)
        assert [each["sk"]["S"] for each in found.items] == (expected[::-1] if backwards else expected)
        assert not found.has_more


@pytest.mark.parametrize("backwards", [False, True])
def test_a_query_continues_after_the_last_key_of_the_page_before(strict: Dynamo, *, backwards: bool) -> None:
    strict.table(strict.jobs_table).put_batch([thing(key) for key in KEYS])
    request: dict[str, Any] = {
        "TableName": strict.jobs_table,
        "ConsistentRead": True,
        "ScanIndexForward": not backwards,
        "KeyConditionExpression": "#0 = :0",
        "ExpressionAttributeNames": {"#0": "pk"},
        "ExpressionAttributeValues": {":0": {"S": "p"}},
        "Limit": 3,
    }
    seen: list[str] = []
    shown = []
    while True:
        answer = strict.client.query(**request)
        seen += [each["sk"]["S"] for each in answer["Items"]]
        shown.append(answer["Count"])
        if "LastEvaluatedKey" not in answer:
            break
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    assert seen == (KEYS[::-1] if backwards else KEYS)
    # The third page has the last item, and DynamoDB still says that there may be more.
    assert shown == [3, 3, 3, 0]


def test_a_batch_reads_or_writes_all_its_items(table: Table) -> None:
    table.put_batch([thing(f"{number:02d}", number=number) for number in range(60)])
    keys = [("p", f"{number:02d}") for number in range(0, 120, 2)]
    assert {each["n"]["N"] for each in table.get_batch(keys)} == {str(number) for number in range(0, 60, 2)}


def key(sk: str) -> Any:
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


@pytest.mark.parametrize(
    "keys", [[], [key("a"), key("a")], [key(str(number)) for number in range(101)], [key("")]], ids=len
)
def test_a_batch_read_of_no_keys_or_too_many_keys_or_one_key_twice_is_refused(
    strict: Dynamo, keys: Sequence[Any]
) -> None:
    with pytest.raises(REFUSED):
        strict.client.batch_get_item(RequestItems={strict.jobs_table: {"Keys": keys, "ConsistentRead": True}})


@pytest.mark.parametrize(
    "keys", [[], [key("a"), key("a")], [key(str(number)) for number in range(26)], [key("")]], ids=len
)
def test_a_batch_write_of_no_items_or_too_many_items_or_one_item_twice_is_refused(
    strict: Dynamo, keys: Sequence[Any]
) -> None:
    requests: Any = [{"PutRequest": {"Item": each}} for each in keys]
    with pytest.raises(REFUSED):
        strict.client.batch_write_item(RequestItems={strict.jobs_table: requests})


def test_an_item_too_large_is_refused(strict: Dynamo) -> None:
    fits = {**key("a"), "text": {"S": "x" * (400 * 1_024 - len("pkpskatext"))}}
    strict.client.put_item(TableName=strict.jobs_table, Item=fits)
    with pytest.raises(REFUSED):
        strict.client.put_item(
            TableName=strict.jobs_table, Item={**fits, "text": {"S": fits["text"]["S"] + "x"}}
        )


def test_a_placeholder_without_a_value_is_refused(strict: Dynamo) -> None:
    with pytest.raises(REFUSED):
        strict.client.put_item(
            TableName=strict.jobs_table,
            Item=key("a"),
            ConditionExpression="attribute_not_exists (#0)",
            ExpressionAttributeNames={"#0": "pk", "#1": "sk"},
        )


def test_a_query_whose_range_is_reversed_or_whose_start_is_outside_of_it_is_refused(strict: Dynamo) -> None:
    between: dict[str, Any] = {
        "TableName": strict.jobs_table,
        "ConsistentRead": True,
        "ScanIndexForward": True,
        "KeyConditionExpression": "(#0 = :0 AND #1 BETWEEN :1 AND :2)",
        "ExpressionAttributeNames": {"#0": "pk", "#1": "sk"},
        "ExpressionAttributeValues": {":0": {"S": "p"}, ":1": {"S": "c"}, ":2": {"S": "e"}},
    }
    assert strict.client.query(**between)["Items"] == []
    with pytest.raises(REFUSED):
        strict.client.query(**between, ExclusiveStartKey=key("a"))
    between["ExpressionAttributeValues"][":2"] = {"S": "b"}
    with pytest.raises(REFUSED):
        strict.client.query(**between)


def test_a_page_of_a_query_ends_at_one_megabyte(strict: Dynamo) -> None:
    table = strict.table(strict.jobs_table)
    written = [thing(f"{number:02d}", text="x" * 300_000) for number in range(8)]
    for each in written:
        table.put(each)
    assert [len(page) for page in _pages(table)] == [4, 4]


def _pages(table: Table) -> list[Sequence[Any]]:
    pages = [table.query(Thing.pk == "p")]
    while pages[-1].has_more:
        pages.append(table.query((Thing.pk == "p") & (Thing.sk > pages[-1].items[-1]["sk"]["S"])))
    return [page.items for page in pages if page.items]
