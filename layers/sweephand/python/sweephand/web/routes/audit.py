"""The operation that looks for timers and messages that were lost, and writes them again."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.instants import Instant
from sweephand.base.names import name_violations
from sweephand.model.audit_round import JobProgress
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.job_walks import cursor_of, namespace_for, progress_from
from sweephand.web.schemas.audit_bodies import AuditRequest, AuditResponse, audit_response
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

_CURSOR: Final = "audit"


@dataclass(frozen=True, slots=True)
class WantedAudit:
    """Which jobs are examined, whether what was lost is written again, and how far the audit has come.

    `namespace` is None for every namespace that the caller sees.
    """

    namespace: str | None
    mends: bool
    begun: JobProgress


def _read_audit(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[WantedAudit]:
    asked, violations = check(AuditRequest, json_text.with_plain_numbers(document))
    if asked is None:
        return ParsedBody(None, tuple(violations))
    if asked.namespace is not None:
        violations += name_violations("/namespace", asked.namespace)
    try:
        begun = progress_from(_CURSOR, asked.cursor, asked.namespace)
    except ValueError:
        violations.append(Violation("/cursor", cursor.INVALID))
        return ParsedBody(None, tuple(violations))
    if violations:
        return ParsedBody(None, tuple(violations))
    return ParsedBody(WantedAudit(asked.namespace, not asked.dry_run, begun))


@partial(
    Operation,
    method="POST",
    path="/v1/audit",
    tag="Service",
    access="admin",
    accepts=Accepts(
        AuditRequest,
        _read_audit,
        {
            "one namespace": {"namespace": "ns"},
            "every namespace": {},
            "report only": {"dryRun": True},
        },
    ),
    returns={200: Returns("What was found", AuditResponse)},
    problems=(503,),
)
def audit(services: Services, request: Request[NoQuery, WantedAudit]) -> Reply:
    """Audit: find timers and messages that were lost.

    The call looks whether each job has its timer, and whether each run that is not over still has its
    message. What was lost without a trace is written again, from the first trigger that was lost on. It is
    then delivered within minutes, as each job's `catchup` decides. With `dryRun` the call only reports. It
    may run beside everything else, and finds nothing in a healthy stack. The stack does the same by itself
    once a week. One call examines up to {bulkExaminedMax} jobs. Call again with the nextCursor of the answer,
    until an answer has none. The key of one namespace audits that namespace.
    """
    wanted = request.body
    namespace = namespace_for(request.caller, wanted.namespace, wanted.begun)
    done = services.auditor.audit(namespace=namespace, begun=wanted.begun, mends=wanted.mends)
    following = None if done.reached is None else cursor_of(_CURSOR, done.reached)
    return Reply(200, audit_response(done, following))
