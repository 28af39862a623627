"""How long allowances and audits are kept, and whether DynamoDB removes what has expired."""

from typing import Any

import pytest
from tests.contract.builders import job
from tests.fakes.doubles import NOON
from tests.fakes.engines import Dynamo

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.model.counters import US_PER_MS
from sweephand.runs.audit_findings import BEGINNING, AuditRound, JobProgress
from sweephand.storage.audit_rounds import DynamoAuditRounds, DynamoAudits
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoExpirySwitch, DynamoLeases

#: The time to live of a table as template.yaml makes it.
ON: Any = {"AttributeName": "expires_at", "Enabled": True}


def status(dynamo: Dynamo) -> str:
    found = dynamo.client.describe_time_to_live(TableName=dynamo.jobs_table)["TimeToLiveDescription"]
    return found["TimeToLiveStatus"]


def switch_of(dynamo: Dynamo) -> DynamoExpirySwitch:
    return DynamoExpirySwitch(dynamo.client, [dynamo.jobs_table])


def test_a_table_is_set_to_remove_nothing_and_to_remove_items_again(on_moto: Dynamo) -> None:
    switch = switch_of(on_moto)
    on_moto.client.update_time_to_live(TableName=on_moto.jobs_table, TimeToLiveSpecification=ON)
    switch.set(is_on=True)
    assert status(on_moto) == "ENABLED"
    switch.set(is_on=False)
    assert status(on_moto) == "DISABLED"
    switch.set(is_on=False)
    switch.set(is_on=True)
    found = on_moto.client.describe_time_to_live(TableName=on_moto.jobs_table)["TimeToLiveDescription"]
    assert found == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}


@pytest.mark.parametrize("busy", ["ENABLING", "DISABLING"])
@pytest.mark.parametrize("is_on", [True, False])
def test_a_table_that_is_busy_with_a_change_is_left_alone(
    on_moto: Dynamo, monkeypatch: pytest.MonkeyPatch, busy: str, *, is_on: bool
) -> None:
    def described(**_: Any) -> dict[str, Any]:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": busy}}

    switch = switch_of(on_moto)
    monkeypatch.setattr(on_moto.client, "describe_time_to_live", described)
    monkeypatch.setattr(on_moto.client, "update_time_to_live", pytest.fail)
    switch.set(is_on=is_on)


def test_a_refusal_raises(on_moto: Dynamo) -> None:
    with pytest.raises(StoreError, match="no-such-table"):
        DynamoExpirySwitch(on_moto.client, ["no-such-table"]).set(is_on=False)


KEPT_MS = 14 * DAY_MS


def kept_until(dynamo: Dynamo) -> Instant:
    raw = dynamo.client.get_item(
        TableName=dynamo.jobs_table, Key={"pk": {"S": "allowance#ns"}, "sk": {"S": "minute"}}
    )["Item"]
    return int(raw["expires_at"]["N"]) * SECOND_MS


@pytest.mark.parametrize("takes", [1, 2, 3])
def test_an_allowance_is_kept_for_two_weeks_after_the_last_slot_that_was_taken(
    on_moto: Dynamo, takes: int
) -> None:
    allowances, slots = on_moto.stores().allowances, 30 * DAY_MS // MINUTE_MS
    for each in range(takes):
        # The first call of a minute writes the whole item, and the others add to it.
        assert (
            allowances.take("ns", NOON + each, 1, slots).first_us == (NOON + each * 30 * DAY_MS) * US_PER_MS
        )
    assert kept_until(on_moto) >= NOON + takes * 30 * DAY_MS + KEPT_MS


def test_an_allowance_that_is_in_use_is_kept_for_two_weeks_from_now(on_moto: Dynamo) -> None:
    allowances = on_moto.stores().allowances
    for day in range(40):
        allowances.take("ns", NOON + day * DAY_MS, 600, 1)
        assert kept_until(on_moto) >= NOON + day * DAY_MS + KEPT_MS


def test_the_end_of_an_allowance_is_moved_once_in_two_weeks(on_moto: Dynamo) -> None:
    allowances, ends = on_moto.stores().allowances, set()
    for day in range(1, 28):
        allowances.take("ns", NOON, 1, DAY_MS // MINUTE_MS)
        ends.add(kept_until(on_moto))
        assert kept_until(on_moto) >= NOON + day * DAY_MS + KEPT_MS
    assert len(ends) == 2


def test_the_position_of_the_audit_reads_back_and_is_not_listed_as_a_lease(dynamo: Dynamo) -> None:
    table = dynamo.table(dynamo.timers_table)
    audits, leases = DynamoAudits(table), DynamoLeases(table)
    assert audits.position() == ""
    audits.save_position("uid0000000000001/0123-token/ns/job")
    assert audits.position() == "uid0000000000001/0123-token/ns/job"
    audits.save_position("")
    assert audits.position() == ""
    leases.raise_shards(1)
    assert [each.shard for each in leases.state().leases] == [0]


def test_a_round_of_the_audit_of_jobs_reads_back_and_is_written_on_its_version(dynamo: Dynamo) -> None:
    table = dynamo.table(dynamo.timers_table)
    rounds = DynamoAuditRounds(table)
    assert rounds.get() is None
    first = AuditRound(NOON, BEGINNING, NOON + 60_000, "version000000001")
    assert rounds.put(first, None)
    # The SDK repeats the write.
    assert rounds.put(first, None)
    assert rounds.get() == first
    reached = JobProgress("ns", "a~b.c:@+=-", "0123#4", "0123.abc.0000")
    second = first._replace(progress=reached, version="version000000002")
    assert not rounds.put(second, None)
    assert not rounds.put(second, "version000000003")
    assert rounds.put(second, first.version)
    assert rounds.get() == second
    over = second._replace(progress=None, version="version000000003")
    assert rounds.put(over, second.version)
    assert rounds.get() == over
    audits = DynamoAudits(table)
    audits.save_position("uid")
    assert (audits.position(), rounds.get()) == ("uid", over)


def test_a_job_that_is_kept_ends_later(dynamo: Dynamo) -> None:
    jobs = DynamoJobs(dynamo.table(dynamo.jobs_table))
    assert jobs.put(job(expires_at=NOON), None)
    assert jobs.keep(job().key, NOON + 30 * DAY_MS + 1)
    [item] = dynamo.client.scan(TableName=dynamo.jobs_table)["Items"]
    assert int(item["expires_at"]["N"]) == (NOON + 30 * DAY_MS) // 1_000 + 1
