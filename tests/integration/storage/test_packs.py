"""How packs are stored: their columns and their size."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.builders import NOON, pack, timer
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import Dynamo, on_fake

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, OccurrenceTimer, TimerPack, UnreadTimer, pack_key
from sweephand.schedules import Batch, Occurrence, Series
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
        ttl_at=st.none() | instants,
        repeats=st.none() | st.integers(1, 10**15),
        batch=st.none() | st.just(Batch(9, 1_000)),
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
