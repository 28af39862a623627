"""Where the items lie and how large they are: what protocol.md says of keys, sizes and times to live."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from pynamodb.models import Model
from tests.contract.builders import (
    NOON,
    UID,
    admin_change,
    api_key,
    job,
    large_payload,
    next_revision,
    retry_timer,
    run,
    secrets,
    timer,
)
from tests.fakes.engines import BUCKET, Dynamo

from sweephand.base.concurrency import always
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.counters import Stats
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import EARLIER_REVISIONS_MAX, Job, JobKey
from sweephand.model.timer import Cursor, Heartbeat, OccurrenceTimer
from sweephand.schedules import Occurrence, Series
from sweephand.storage import connect
from sweephand.storage.leases import LeaseItem
from sweephand.storage.payloads import S3Payloads

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OWNER = "owner00000000001"


def test_an_item_is_written_and_read_in_the_form_of_pynamodb() -> None:
    values: dict[str, Any] = {
        "pk": "leases",
        "sk": "0003",
        "cursor": "",
        "within": Occurrence(NOON, 1),
        "fence": 7,
        "lease_until": NOON,
        "found": 0,
        "swept_at": NOON,
        "entry": "é",
    }
    names = LeaseItem.get_attributes()
    model: Any = type("LeaseModel", (Model,), dict(names))

    raw = LeaseItem(**values).serialize()

    assert raw == model(**values).serialize()
    stored = {**raw, "entry": {"NULL": True}}
    read, expected = LeaseItem.read(stored), model.from_raw_data(dict(stored))
    assert {name: getattr(read, name) for name in names} == {name: getattr(expected, name) for name in names}
    shown: Any = (read.fence, read.within, read.entry)
    assert shown == (7, Occurrence(NOON, 1), None)


def test_an_item_without_a_required_attribute_is_refused_when_it_is_written() -> None:
    item = LeaseItem(pk="leases", sk="0003")

    with pytest.raises(AssertionError, match="LeaseItem lacks"):
        item.serialize()


def test_an_item_has_no_attribute_that_is_not_declared() -> None:
    with pytest.raises(KeyError, match="colour"):
        LeaseItem(pk="leases", sk="0003", colour="red").serialize()


def items(client: "DynamoDBClient", table: str) -> list[dict[str, Any]]:
    pages = client.get_paginator("scan").paginate(TableName=table)
    return [item for page in pages for item in page["Items"]]


def size(item: dict[str, Any]) -> int:
    """What DynamoDB charges by: names and values in UTF-8; a number takes a byte for two digits, and one."""
    return sum(len(name) + _value_size(value) for name, value in item.items())


def _value_size(value: dict[str, Any]) -> int:
    [(kind, content)] = value.items()
    return len(content) // 2 + 2 if kind == "N" else len(content.encode())


def long_named_timer() -> OccurrenceTimer:
    """The longest that names, zone and schedule can normally be."""
    series = Series(
        "0 0,15,30,45 8-18 ? * MON-FRI",
        "America/Argentina/ComodRivadavia",
        start_at=NOON,
        due_at=NOON,
        ttl_at=NOON * 2,
        repeats=10**9,
    )
    key = JobKey("n" * 128, "j" * 128)
    return OccurrenceTimer(3, key, UID, f"999-{OWNER}", series, Occurrence(NOON, 10**9), NOON)


def test_a_job_lies_in_one_of_sixteen_partitions_of_its_namespace(on_moto: Dynamo) -> None:
    store = on_moto.stores().jobs
    for number in range(200):
        store.put(job(f"job-{number}"), replacing=None)
    places = Counter(item["pk"]["S"] for item in items(on_moto.client, on_moto.jobs_table))
    assert set(places) == {f"jobs#default#{shard}" for shard in range(16)}
    assert max(places.values()) < 30


def test_a_name_always_leads_to_the_same_partition(on_moto: Dynamo) -> None:
    # A stored job must be found by every later version of the code and of Python.
    store = on_moto.stores().jobs
    for name in ("backup", "a", "~" * 128):
        store.put(job(name), replacing=None)
    places = {item["sk"]["S"]: item["pk"]["S"] for item in items(on_moto.client, on_moto.jobs_table)}
    assert places == {"backup": "jobs#default#12", "a": "jobs#default#3", "~" * 128: "jobs#default#0"}


def test_a_plain_job_takes_less_than_a_kilobyte(on_moto: Dynamo) -> None:
    on_moto.stores().jobs.put(job(), replacing=None)
    [item] = items(on_moto.client, on_moto.jobs_table)
    assert size(item) < 600


def test_a_job_with_all_its_earlier_revisions_is_read_for_one_unit(on_moto: Dynamo) -> None:
    written = job()
    for number in range(EARLIER_REVISIONS_MAX):
        written = next_revision(written, f"version0000001{number:02d}")
    on_moto.stores().jobs.put(written, replacing=None)
    [item] = items(on_moto.client, on_moto.jobs_table)
    assert size(item) < 4_096


def test_the_largest_job_fits_into_an_item(dynamo: Dynamo) -> None:
    headers = {f"x-{number}": "h" * 270 for number in range(30)}
    labels = {f"{number:0>128}": "ü" * 128 for number in range(20)}
    written = {
        "schedule": "@every 10s",
        "target": {"type": "http", "url": "https://example.com/" + "u" * 2_028, "headers": headers},
        "labels": labels,
        "description": "ü" * 512,
    }
    largest = job(
        key=JobKey("n" * 128, "j" * 128),
        definition=Definition(written, Payload.of('"' + "d" * 2_046 + '"')),
        pause_reason="r" * 512,
        paused_at=NOON,
    )
    assert dynamo.stores().jobs.put(largest, replacing=None)
    assert dynamo.stores().jobs.get(largest.key) == largest


def test_data_over_two_kilobytes_is_not_in_the_job(on_moto: Dynamo) -> None:
    on_moto.stores().jobs.put(job(definition=Definition({}, large_payload())), replacing=None)
    [item] = items(on_moto.client, on_moto.jobs_table)
    assert "xxx" not in item["data"]["S"]
    assert size(item) < 1_024


@pytest.mark.parametrize("each", [timer(), retry_timer(), long_named_timer()])
def test_a_timer_takes_less_than_a_kilobyte(on_moto: Dynamo, each: OccurrenceTimer) -> None:
    on_moto.stores().timers.put([each])
    [item] = items(on_moto.client, on_moto.timers_table)
    # The longest names stand in the key too, and are its own doing: it may take a second unit.
    assert size(item) < (1_024 if len(each.key.name) < 128 else 1_300)


def test_a_timer_lies_in_its_shard_by_its_sort_key_and_expires_two_weeks_after_it_was_due(
    on_moto: Dynamo,
) -> None:
    on_moto.stores().timers.put([timer(NOON + 1, shard=7)])
    [item] = items(on_moto.client, on_moto.timers_table)
    assert item["pk"] == {"S": "shard#0007"}
    assert item["sk"] == {"S": "2026-11-21T12:00#00.001#default/backup#1-aaaa#occurrence#"}
    assert item["expires_at"] == {"N": str((NOON + TIMER_RETENTION_MS) // 1_000 + 1)}


def test_all_leases_are_in_one_partition(on_moto: Dynamo) -> None:
    leases = on_moto.stores().leases
    leases.raise_shards(2)
    leases.beat(Heartbeat(NOON))
    places = {(item["pk"]["S"], item["sk"]["S"]) for item in items(on_moto.client, on_moto.timers_table)}
    assert places == {("leases", name) for name in ("0000", "0001", "shards", "tick")}


def test_a_run_lies_with_its_job_by_due_time_and_index(on_moto: Dynamo) -> None:
    on_moto.stores().runs.record(run())
    [item] = items(on_moto.client, on_moto.jobs_table)
    assert item["pk"] == {"S": "runs#default#backup"}
    assert item["sk"] == {"S": f"0{NOON}#0000000#{UID}"}
    assert size(item) < 1_024


def test_no_partition_gets_more_than_its_share_of_the_runs_of_a_batch(on_moto: Dynamo) -> None:
    runs = on_moto.stores().runs
    for index in range(160):
        runs.record(run(index=index))
    partitions = Counter(item["pk"]["S"] for item in items(on_moto.client, on_moto.jobs_table))
    assert max(partitions.values()) == 10
    assert partitions["runs#default#backup"] == 1


def test_no_partition_gets_more_than_its_share_of_the_counts_of_a_minute(on_moto: Dynamo) -> None:
    stats = on_moto.stores().stats
    for part in range(160):
        stats.add(NOON, part, {"ns": Stats(Counter({"succeeded": 1}), Counter())}, always)
    counted = [item["succeeded#ns"]["N"] for item in items(on_moto.client, on_moto.jobs_table)]
    assert counted == ["10"] * 16


@pytest.mark.parametrize(
    ("gone_at", "seconds"), [(NOON, NOON // 1_000), (NOON + 1, NOON // 1_000 + 1), (None, None)]
)
def test_a_time_to_live_is_in_seconds_and_never_early(
    on_moto: Dynamo, gone_at: int | None, seconds: int | None
) -> None:
    stores = on_moto.stores()
    stores.runs.record(run(expires_at=gone_at))
    stores.keys.put(api_key(expires_at=gone_at), admin_change())
    stored = [
        item
        for item in items(on_moto.client, on_moto.jobs_table)
        if not item["pk"]["S"].startswith("adminchanges")
    ]
    assert len(stored) == 2
    expected = None if seconds is None else {"N": str(seconds)}
    assert [item.get("expires_at") for item in stored] == [expected] * 2


def test_a_job_is_removed_when_its_last_timers_are(on_moto: Dynamo) -> None:
    stores = on_moto.stores()
    stores.jobs.put(job(expires_at=NOON + 1), replacing=None)
    (item,) = items(on_moto.client, on_moto.jobs_table)
    assert item["expires_at"] == {"N": str((NOON + TIMER_RETENTION_MS) // 1_000 + 1)}
    read = stores.jobs.get(job().key)
    assert read is not None
    assert read.expires_at == NOON + 1


def test_an_item_without_an_end_has_no_time_to_live(on_moto: Dynamo) -> None:
    stores = on_moto.stores()
    stores.leases.raise_shards(1)
    stores.leases.beat(Heartbeat(NOON))
    stores.secrets.create(secrets())
    tables = (on_moto.jobs_table, on_moto.timers_table)
    assert not any("expires_at" in item for table in tables for item in items(on_moto.client, table))


def test_two_stores_on_different_tables_do_not_share_items(on_moto: Dynamo) -> None:
    other = Dynamo(on_moto.client, on_moto.timers_table, on_moto.jobs_table)
    on_moto.stores().jobs.put(job(), replacing=None)
    other.stores().jobs.put(replaced(), replacing=None)
    assert on_moto.stores().jobs.get(job().key) == job()
    assert other.stores().jobs.get(job().key) == replaced()


def replaced() -> Job:
    return replace(job(), owner="somebody")


def test_a_payload_lies_under_uid_and_ref_and_carries_no_tag(aws_payloads: S3Payloads) -> None:
    aws_payloads.put("uid", "ref", "[1]")
    s3 = connect.s3()
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == ["uid/ref"]
    assert s3.get_object_tagging(Bucket=BUCKET, Key="uid/ref")["TagSet"] == []


def test_a_discarded_payload_gets_the_tag_by_which_its_bucket_expires_objects(
    aws_payloads: S3Payloads,
) -> None:
    aws_payloads.put("uid", "ref", "[1]")
    s3 = connect.s3()
    first = s3.head_object(Bucket=BUCKET, Key="uid/ref")
    aws_payloads.discard("uid", "ref")
    second = s3.head_object(Bucket=BUCKET, Key="uid/ref")
    assert second["LastModified"] >= first["LastModified"]
    assert second["ContentType"] == "application/json"
    tags = s3.get_object_tagging(Bucket=BUCKET, Key="uid/ref")["TagSet"]
    assert tags == [{"Key": "sweephand-state", "Value": "dead"}]


def test_a_payload_that_is_kept_again_loses_the_tag(aws_payloads: S3Payloads) -> None:
    aws_payloads.put("uid", "ref", "[1]")
    aws_payloads.discard("uid", "ref")
    aws_payloads.put("uid", "ref", "[1]")
    assert connect.s3().get_object_tagging(Bucket=BUCKET, Key="uid/ref")["TagSet"] == []


def test_timers_are_read_in_the_order_of_their_due_times(on_moto: Dynamo) -> None:
    store = on_moto.stores().timers
    due_times = [NOON + step for step in (0, 1, 999, 1_000, 59_999, 60_000, 3_600_000, 86_400_000)]
    store.put([timer(due_at) for due_at in due_times])
    cursor, seen = Cursor(), []
    while page := store.page(3, cursor, NOON * 2, 1):
        seen.append(page[0].due_at)
        cursor = Cursor(page[0].sort_key)
    assert seen == due_times
    assert all(one < other for one, other in pairwise(seen))
