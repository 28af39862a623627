"""Timers of a newer version as they are stored: kept whole, and read at the place they were put off to."""

from typing import Any

import pytest
from tests.contract.builders import NOON, batch_timer, deadline_timer, retry_timer, timer
from tests.fakes.engines import Dynamo

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.timer import Cursor, OccurrenceTimer, Timer, UnreadTimer
from sweephand.storage import timers as storage

PUT_OFF_MS = 5 * MINUTE_MS
#: What only the newer version knows, of every kind that there is.
NEW: dict[str, Any] = {
    "zb": {"B": b"\x00\xff"},
    "zc": {"BS": [b"\x01"]},
    "zl": {"L": [{"B": b"a"}, {"N": "1"}, {"M": {"x": {"B": b"b"}, "y": {"NULL": True}}}]},
    "zt": {"BOOL": False},
    "zs": {"SS": ["a", "b"]},
}
EVERY: list[Timer] = [timer(), batch_timer(0), retry_timer(), deadline_timer()]


def page(dynamo: Dynamo, cursor: Cursor = Cursor()) -> Any:  # noqa: B008 - a constant
    return dynamo.stores().timers.page(3, cursor, NOON + HOUR_MS, 10)


def written_by_newer(dynamo: Dynamo, written: Timer) -> UnreadTimer:
    """The timer as the next version would write it, with something that only that version knows."""
    dynamo.stores().timers.put([written])
    [item] = dynamo.client.scan(TableName=dynamo.timers_table)["Items"]
    newer: Any = {**item, "v": {"N": str(storage.VERSION + 1)}, **NEW}
    dynamo.client.put_item(TableName=dynamo.timers_table, Item=newer)
    [unread] = page(dynamo)
    assert isinstance(unread, UnreadTimer)
    assert (unread.sort_key, unread.shard, unread.due_at) == (written.sort_key, 3, written.due_at)
    return unread


@pytest.mark.parametrize("written", EVERY)
def test_the_copy_of_a_newer_timer_has_all_its_attributes_and_its_own_expiry(
    on_moto: Dynamo, written: Timer
) -> None:
    unread = written_by_newer(on_moto, written)
    copy = unread.put_off(PUT_OFF_MS)
    for _ in range(2):  # whoever repeats the page writes the same
        on_moto.stores().timers.put([copy])
    items = on_moto.client.scan(TableName=on_moto.timers_table)["Items"]
    [stored] = [item for item in items if item["sk"]["S"] == copy.sort_key]
    expires_s = (NOON + PUT_OFF_MS + TIMER_RETENTION_MS) // 1_000
    assert len(items) == 2
    [before] = [item for item in items if item["sk"]["S"] == unread.sort_key]
    assert NEW.items() <= stored.items()
    assert stored == {**before, "sk": {"S": copy.sort_key}, "expires_at": {"N": str(expires_s)}}


@pytest.mark.parametrize("written", EVERY)
def test_the_newer_version_reads_a_copy_at_its_new_place_and_moves_past_it(
    on_moto: Dynamo, written: Timer, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = written_by_newer(on_moto, written).put_off(PUT_OFF_MS)
    on_moto.stores().timers.put([copy])
    monkeypatch.setattr(storage, "VERSION", storage.VERSION + 1)
    after = Cursor(written.sort_key)
    [found] = page(on_moto, after)
    assert (found.sort_key, found.due_at) == (copy.sort_key, written.due_at + PUT_OFF_MS)
    if isinstance(written, OccurrenceTimer):
        assert found == written._replace(put_off_to=written.due_at + PUT_OFF_MS, stored_key=copy.sort_key)
    else:
        assert found == written._replace(stored_key=copy.sort_key)
    assert not page(on_moto, Cursor(found.sort_key))
