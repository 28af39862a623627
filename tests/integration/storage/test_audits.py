"""The stores of how far the audits have come."""

from typing import Any, Final

from tests.contract.builders import job, policy, trigger_message
from tests.fakes.doubles import NOON
from tests.fakes.engines import Dynamo

from sweephand.base.instants import DAY_MS
from sweephand.base.timing import POLICY_RETENTION_MS
from sweephand.model.policy_line import LineEntry, LinePlace, entry_of
from sweephand.model.policy_names import PolicyKey
from sweephand.runs.audit_findings import BEGINNING, AuditRound, JobProgress
from sweephand.storage.audit_rounds import DynamoAuditRounds, DynamoAudits
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.policy_lines import DynamoPolicies, DynamoPolicyLines

PLACE: Final = LinePlace(PolicyKey("ns", "mailer"), "normal", 3)


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
    reached = JobProgress("ns", "a~b.c:@+=-", "0123#4")
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


def test_an_entry_of_a_line_that_is_kept_expires_later_and_is_not_brought_back(dynamo: Dynamo) -> None:
    table = dynamo.table(dynamo.timers_table)
    lines = DynamoPolicyLines(table, lambda: NOON)
    entries = [entry_of([trigger_message(NOON + each)], NOON + each, "source") for each in range(3)]
    for each in entries:
        lines.put(PLACE, each)
    partition = "line#ns#mailer#1#0003"

    def ends_at(entry: LineEntry) -> int:
        raw = table.get((partition, entry.sort_key))
        assert raw is not None
        return int(raw["expires_at"]["N"])

    before = ends_at(entries[2])
    assert lines.extend(PLACE, "", NOON + 2, NOON + 30 * DAY_MS, 10).entries == 2
    assert [ends_at(each) for each in entries] == [(NOON + 30 * DAY_MS) // 1_000] * 2 + [before]

    query, gone = table.query, entries[0]

    def then_deleted(condition: Any, limit: int) -> Any:
        found = query(condition, limit)
        assert lines.delete(PLACE, gone)
        return found

    table.query = then_deleted  # type: ignore[method-assign,assignment]
    assert lines.extend(PLACE, "", NOON + 2, NOON + 40 * DAY_MS, 10).entries == 1
    assert table.get((partition, gone.sort_key)) is None


def test_the_record_of_a_deleted_policy_that_is_kept_expires_later(dynamo: Dynamo) -> None:
    table = dynamo.table(dynamo.jobs_table)
    policies, deleted = DynamoPolicies(table), policy(deleted_at=NOON)

    def ends_at() -> int:
        raw = table.get((f"policies#{deleted.key.namespace}", deleted.key.name))
        assert raw is not None
        return int(raw["expires_at"]["N"])

    assert policies.put(deleted, None)
    assert abs(ends_at() * 1_000 - NOON - POLICY_RETENTION_MS) <= 1_000
    assert policies.keep(deleted, NOON + 60 * DAY_MS)
    assert abs(ends_at() * 1_000 - NOON - 60 * DAY_MS) <= 1_000
