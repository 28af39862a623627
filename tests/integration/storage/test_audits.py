"""The stores of how far the audits have come."""

from typing import Any, Final

from tests.contract.builders import trigger_message
from tests.fakes.doubles import NOON
from tests.fakes.engines import Dynamo

from sweephand.base.instants import DAY_MS
from sweephand.model.audit_round import BEGINNING, AuditRound, JobProgress
from sweephand.model.policy_line import LineEntry, LinePlace, entry_of
from sweephand.model.policy_names import PolicyKey
from sweephand.storage.audit_rounds import DynamoAuditRounds
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.payload_audits import DynamoAudits
from sweephand.storage.policy_lines import DynamoPolicyLines

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


def test_an_entry_of_a_line_that_is_kept_expires_later_and_is_not_brought_back(dynamo: Dynamo) -> None:
    table = dynamo.table(dynamo.timers_table)
    lines = DynamoPolicyLines(table)
    entries = [entry_of([trigger_message(NOON + each)], NOON + each, "source") for each in range(3)]
    for each in entries:
        lines.put(PLACE, each)
    partition = "line#ns#mailer#1#0003"

    def ends_at(entry: LineEntry) -> int:
        raw = table.get((partition, entry.sort_key))
        assert raw is not None
        return int(raw["expires_at"]["N"])

    before = ends_at(entries[2])
    assert lines.extend(PLACE, NOON + 2, NOON + 30 * DAY_MS, 10) == 2
    assert [ends_at(each) for each in entries] == [(NOON + 30 * DAY_MS) // 1_000] * 2 + [before]

    query, gone = table.query, entries[0]

    def then_deleted(condition: Any) -> Any:
        found = query(condition)
        assert lines.delete(PLACE, gone)
        return found

    table.query = then_deleted  # type: ignore[method-assign,assignment]
    assert lines.extend(PLACE, NOON + 2, NOON + 40 * DAY_MS, 10) == 1
    assert table.get((partition, gone.sort_key)) is None
