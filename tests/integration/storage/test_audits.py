"""The store of the position that the audit of payloads has reached."""

from tests.fakes.engines import Dynamo

from sweephand.storage.leases import DynamoLeases
from sweephand.storage.payload_audits import DynamoAudits


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
