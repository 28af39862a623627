"""What the audit of payloads is made of: apart, since tick wants it once an hour and has to start fast."""

from functools import cache

from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.runtime import parts, stores, tables
from sweephand.storage.payload_audits import DynamoAudits


@cache
def payloads() -> PayloadAudit:
    """The audit over the stores of this stack."""
    return PayloadAudit(
        jobs=parts.jobs(),
        payloads=stores.payloads(),
        audits=DynamoAudits(tables.timers_table()),
        clock=parts.clock(),
    )
