"""How packs are stored, and timers that are damaged or of a newer version."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.builders import NOON, batch_timer, deadline_timer, pack, retry_timer, timer
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import Dynamo, on_fake

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, OccurrenceTimer, Timer, TimerPack, UnreadTimer, pack_key
from sweephand.model.trigger import FailureMessage
from sweephand.model.wire import encode
from sweephand.schedules import Batch, Occurrence, Series
from sweephand.schedules.clock.dst import DstRule, Gap, RepeatedTime
from sweephand.schedules.day_rule import DayRule
from sweephand.storage import timers as storage
from sweephand.storage.timers import VERSION
from sweephand_engine.dynamo.tables import size_of

PUT_OFF_MS = 5 * MINUTE_MS
KEY = ("shard#0003", pack().sort_key)

names = st.text("abcXYZ019._~:@+=-", min_size=1, max_size=20)
tokens = st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=16, max_size=16)
instants = st.integers(0, 4_102_444_800_000)
timers_of_bucket = st.builds(
    OccurrenceTimer,
    shard=st.just(3),
    key=st.builds(JobKey, names, names),
    uid=tokens,
    rev=st.builds("{}-{}".format, st.integers(1, 999), tokens),
    series=st.builds(
        Series,
        schedule=st.sampled_from(["@every 10s", "0 30 2 * * MON-FRI", "@hourly"]),
        timezone=st.sampled_from(["UTC", "Europe/Riga"]),
        start_at=instants,
        due_at=st.none() | instants,
        ttl_at=st.none() | instants,
        repeats=st.none() | st.integers(1, 10**15),
        counted_at=st.none() | instants,
        counted=st.integers(-1, 10**12),
        dst=st.builds(DstRule, st.sampled_from(get_args(Gap)), st.sampled_from(get_args(RepeatedTime))),
        jitter_ms=st.integers(0, HOUR_MS),
        batch=st.none() | st.just(Batch(9, 1_000)),
        days=st.none() | st.just(DayRule("96,20000,", "closed", "next", also=(NOON,))),
    ),
    first=st.builds(
        Occurrence, st.integers(NOON, NOON + MINUTE_MS - 1), st.integers(1, 10**12), st.just(0), st.just(0)
    ),
    armed_at=instants,
    catchup=st.just(CATCH_UP_DEFAULT) | st.builds(CatchUpPolicy, st.just("all"), st.integers(0, 10**9)),
    followed_at=st.none() | instants,
    put_off_to=st.none(),
    stored_key=st.none(),
    # A timer on demand stands alone (wheel/arm.py).
    demand=st.none(),
    payload=st.none(),
    # So does one that a rebuild writes, and the copy of one that was put off.
    may_be_repeated=st.just(value=False),
    judged_at=st.none(),
)
packs = st.lists(timers_of_bucket, min_size=1, max_size=20, unique_by=lambda each: each.sort_key)


@given(packs)
def test_every_pack_reads_back_as_it_was_written(written: list[OccurrenceTimer]) -> None:
    stores = on_fake(FakeDynamoDB()).stores()
    of_bucket = TimerPack(3, pack_key(NOON, "name"), tuple(sorted(written, key=lambda each: each.sort_key)))
    stores.timers.put([of_bucket])
    assert list(stores.timers.page(3, Cursor(), NOON + HOUR_MS, 10)) == [of_bucket]


def _token(of: str) -> str:
    """16 characters as ports.Ids makes them, the same each time."""
    number = int.from_bytes(sha256(of.encode()).digest())
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[number // 36**place % 36] for place in range(16))


def ordinary(number: int) -> OccurrenceTimer:
    """A timer like most: a name of its own, tokens of chance, a schedule that many jobs have."""
    uid, token = (_token(f"{number}/{of}") for of in "ut")
    return timer(NOON + number * 37 % 60 * 1_000, f"report-{number:04d}")._replace(
        uid=uid,
        rev=f"1-{token}",
        series=Series("0 */5 * * * *", "UTC", NOON - number * 7_919_001),
        armed_at=NOON - number * 7_919_001,
        first=Occurrence(NOON + number * 37 % 60 * 1_000, 700 + number % 13),
    )


@pytest.mark.parametrize(("count", "bytes_max"), [(10, 70), (30, 50), (100, 45)])
def test_a_timer_in_a_pack_takes_a_fraction_of_the_bytes_of_a_single_timer(
    count: int, bytes_max: int
) -> None:
    dynamo = FakeDynamoDB()
    stores = on_fake(dynamo).stores()
    stores.timers.put([pack(*map(ordinary, range(count)))])
    [item] = dynamo.tables.everything("timers")

    assert size_of(item) / count <= bytes_max


def test_a_pack_lives_as_long_as_its_last_timer(on_moto: Dynamo) -> None:
    on_moto.stores().timers.put([pack()])
    [item] = on_moto.client.scan(TableName=on_moto.timers_table)["Items"]
    expires_s = -(-(NOON + MINUTE_MS - 1 + TIMER_RETENTION_MS) // 1_000)
    assert item["expires_at"] == {"N": str(expires_s)}


@pytest.mark.parametrize("damage", [{"z": {"B": b"no deflated bytes"}}, {"z": {"S": "x"}}, {"v": {"S": "x"}}])
def test_a_damaged_pack_is_put_off_whole(on_moto: Dynamo, damage: dict[str, Any]) -> None:
    store = on_moto.stores().timers
    store.put([pack()])
    [item] = on_moto.client.scan(TableName=on_moto.timers_table)["Items"]
    on_moto.client.put_item(TableName=on_moto.timers_table, Item={**item, **damage})
    [unread] = store.page(3, Cursor(), NOON + HOUR_MS, 10)
    assert isinstance(unread, UnreadTimer)
    assert unread.why is not None


def test_the_timers_of_a_pack_that_an_earlier_version_put_off_are_due_at_its_new_place(
    on_moto: Dynamo,
) -> None:
    store = on_moto.stores().timers
    written = pack()
    store.put([written])
    [item] = on_moto.client.scan(TableName=on_moto.timers_table)["Items"]
    newer = {**item, "v": {"N": str(VERSION + 1)}}
    on_moto.client.put_item(TableName=on_moto.timers_table, Item=newer)
    [unread] = store.page(3, Cursor(), NOON + HOUR_MS, 10)
    assert isinstance(unread, UnreadTimer)
    copy = unread.put_off(PUT_OFF_MS)
    store.put([copy])
    # The version that wrote the pack comes back.
    on_moto.client.put_item(TableName=on_moto.timers_table, Item={**item, "sk": {"S": copy.sort_key}})

    [after] = store.page(3, Cursor(unread.sort_key), NOON + HOUR_MS, 10)

    assert isinstance(after, TimerPack)
    assert {each.put_off_to for each in after.timers} == {unread.due_at + PUT_OFF_MS}
    assert {each._replace(put_off_to=None) for each in after.timers} == set(written.timers)


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
