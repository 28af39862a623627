"""The stores of how far the audits have come."""

from tests.contract.builders import job
from tests.fakes.doubles import NOON
from tests.fakes.engines import Dynamo

from sweephand.base.instants import DAY_MS
from sweephand.runs.audit_findings import BEGINNING, AuditRound, JobProgress
from sweephand.storage.audit_rounds import DynamoAuditRounds, DynamoAudits
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases


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
