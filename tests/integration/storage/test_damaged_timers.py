"""Damaged timers: a page reports each of them, and the copy that is put off is the same item."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.contract.builders import NOON, deadline_timer, retry_timer, timer
from tests.fakes.engines import Dynamo

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.model.timer import Cursor, Timer, TimerPack, UnreadTimer
from sweephand.model.trigger import FailureMessage
from sweephand.model.wire import encode

DAMAGES: tuple[Mapping[str, Any], ...] = ({"q": {"S": "x"}}, {"d": {"S": "soon"}}, {"u": {"NULL": True}})

#: No JSON, no message, a message of a kind that no timer carries, and no message at all.
DAMAGED_MESSAGES: tuple[Mapping[str, Any], ...] = (
    {"m": {"S": "{"}},
    {"m": {"S": '{"v":1}'}},
    {"m": {"S": encode(FailureMessage(retry_timer().message.trigger, 1, "", is_final=False, not_before=0))}},
    {"m": {"NULL": True}},
)


@pytest.mark.parametrize(
    ("written", "damage"),
    [
        *((timer(), damage) for damage in DAMAGES),
        *((retry_timer(), damage) for damage in DAMAGED_MESSAGES),
        *((deadline_timer(), damage) for damage in DAMAGED_MESSAGES),
    ],
    ids=str,
)
def test_a_damaged_item_is_reported_and_reads_back_once_it_is_repaired(
    on_moto: Dynamo, written: Timer, damage: Mapping[str, Any]
) -> None:
    store, client, table = on_moto.stores().timers, on_moto.client, on_moto.timers_table
    store.put([written, timer(NOON + 1, name="other")])
    sound = client.get_item(TableName=table, Key={"pk": {"S": "shard#0003"}, "sk": {"S": written.sort_key}})[
        "Item"
    ]
    client.put_item(TableName=table, Item={**sound, **damage})
    found, other = store.page(3, Cursor(), NOON + HOUR_MS, 10)
    assert isinstance(found, UnreadTimer)
    assert found.why
    assert (found.sort_key, found.due_at) == (written.sort_key, written.due_at)
    assert other == timer(NOON + 1, name="other")
    copy = found.put_off(5 * MINUTE_MS)
    store.put([copy])
    (again,) = store.page(3, Cursor(other.sort_key), NOON + HOUR_MS, 10)
    assert isinstance(again, UnreadTimer)
    key = {"pk": {"S": "shard#0003"}, "sk": {"S": copy.sort_key}}
    stored = client.get_item(TableName=table, Key=key)["Item"]
    client.put_item(TableName=table, Item={**stored, **{name: sound[name] for name in damage}})
    (read,) = store.page(3, Cursor(other.sort_key), NOON + HOUR_MS, 10)
    assert not isinstance(read, UnreadTimer | TimerPack)
    assert (read.key, read.sort_key) == (written.key, copy.sort_key)
