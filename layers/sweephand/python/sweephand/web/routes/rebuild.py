"""The operation that arms every job again, after the wheel has lost timers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import Instant
from sweephand.base.names import name_violations
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, TIMER_RETENTION_MS
from sweephand.model.audit_round import BEGINNING, JobProgress
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
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.rebuild_bodies import (
    RebuildRequest,
    RebuildResponse,
    rebuild_response,
)
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

_CURSOR: Final = "rebuild"
_SINCE_RULE: Final = "Give an instant that is past, and at most 14 days ago: no timer is kept for longer."


@dataclass(frozen=True, slots=True)
class WantedRebuild:
    """Which jobs are armed again, for all that falls due at `since` or later. `begun` is how far it has come.

    `namespace` is None for every namespace that the caller sees.
    """

    since: Instant
    namespace: str | None
    begun: JobProgress


def _read_rebuild(
    document: Mapping[str, Any], _: Services, requested_at: Instant
) -> ParsedBody[WantedRebuild]:
    asked, violations = check(RebuildRequest, json_text.with_plain_numbers(document))
    since, begun = 0, BEGINNING
    if asked is not None:
        if asked.namespace is not None:
            violations += name_violations("/namespace", asked.namespace)
        try:
            since = read_instant(asked.since, "/since")
            if not requested_at - TIMER_RETENTION_MS <= since <= requested_at + CLOCK_SKEW_MAX_MS:
                violations.append(Violation("/since", _SINCE_RULE))
        except InvalidError as error:
            violations += error.violations
        try:
            begun = progress_from(_CURSOR, asked.cursor, asked.namespace)
        except ValueError:
            violations.append(Violation("/cursor", cursor.INVALID))
    if asked is None or violations:
        return ParsedBody(None, tuple(violations))
    return ParsedBody(WantedRebuild(since, asked.namespace, begun))


@partial(
    Operation,
    method="POST",
    path="/v1/rebuild",
    tag="Service",
    access="admin",
    accepts=Accepts(
        RebuildRequest,
        _read_rebuild,
        {
            "one namespace": {"since": "2026-11-21T11:00:00Z", "namespace": "ns"},
            "every namespace": {"since": "2026-11-21T11:00:00Z"},
        },
    ),
    returns={200: Returns("What was armed", RebuildResponse)},
    problems=(503,),
)
def rebuild(services: Services, request: Request[NoQuery, WantedRebuild]) -> Reply:
    """Rebuild: arm every job again after timers were lost.

    For a stack whose Timers table was lost or restored. The call writes the timers of all that falls due at
    `since` or later, from what the Jobs table says. What fell due in the meantime is then delivered within
    minutes, as each job's `catchup` decides. It may run beside everything else. A trigger that was delivered
    before is not delivered again if its run has a record. One call examines up to {bulkExaminedMax} jobs.
    Call again with the same `since` and the nextCursor of the answer, until an answer has none. The key of
    one namespace rebuilds that namespace.
    """
    wanted = request.body
    namespace = namespace_for(request.caller, wanted.namespace, wanted.begun)
    done = services.rebuilder.rebuild(wanted.since, namespace=namespace, begun=wanted.begun)
    following = None if done.reached is None else cursor_of(_CURSOR, done.reached)
    return Reply(200, rebuild_response(done, following))
