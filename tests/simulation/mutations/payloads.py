"""Errors in removing data that no job refers to."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation

from sweephand.jobs import payload_audit
from sweephand.jobs.payload_audit import Audited, PayloadAudit


@mutation("The audit confuses a job with another job of the same name")
def audits_by_name() -> Iterator[None]:
    with patch.object(payload_audit, "refers", lambda job, *_: job is not None):
        yield


@mutation("The audit marks no data")
def audits_nothing() -> Iterator[None]:
    with patch.object(PayloadAudit, "step", lambda _: Audited(0, 0)):
        yield
