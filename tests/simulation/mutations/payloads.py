"""What may be wrong with letting go of data."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation

from sweephand.jobs import payload_audit
from sweephand.jobs.payload_audit import Audited, PayloadAudit


@mutation("The audit takes a job of the same name for the one that wrote the data")
def audits_by_name() -> Iterator[None]:
    with patch.object(payload_audit, "refers", lambda job, *_: job is not None):
        yield


@mutation("Nobody looks for data that no job refers to")
def audits_nothing() -> Iterator[None]:
    with patch.object(PayloadAudit, "step", lambda _: Audited(0, 0)):
        yield
