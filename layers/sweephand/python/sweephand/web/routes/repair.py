"""The operations that repair the wheel: rebuild arms every job again, and audit finds what was lost."""

from functools import partial
from typing import Annotated, Any, Final, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import ForbiddenError, InvalidError, Violation
from sweephand.base.instants import rfc3339
from sweephand.base.names import EVERY_NAMESPACE, NAME_RULE
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, TIMER_RETENTION_MS
from sweephand.runs.audit_findings import BEGINNING, Audited, JobProgress
from sweephand.runs.rebuild import Rebuilt
from sweephand.web.http import cursor
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import CURSOR_MEANING, CursorText, Moment, Name, NextCursor, Time, about
from sweephand.web.schemas.shapes import RequestBody

#: Separates the parts of a position. No name contains it.
_SEPARATOR: Final = "#"


def _position(call: str) -> AfterValidator:
    """Makes the position in the cursor of that call from the cursor's text."""

    def read(text: str) -> str:
        position = cursor.decode(call, text)
        if position.count(_SEPARATOR) < len(JobProgress._fields) - 1:
            raise ValueError(cursor.INVALID)
        return position

    return AfterValidator(read)


class JobWalkRequest(RequestBody):
    """Whose jobs a call goes through, and where it goes on."""

    namespace: Name | None = Field(
        None,
        description="Only the jobs of this namespace. By default those of every listed namespace that the "
        f"key opens. {NAME_RULE}",
    )
    cursor: CursorText | None = Field(None, description=CURSOR_MEANING)


SINCE_MEANING = (
    "From when on the wheel may have lost something (RFC 3339 with an offset): an instant at which the stack "
    "still delivered, or the instant to which a table was restored. At most 14 days ago."
)


class RebuildRequest(JobWalkRequest):
    """Which jobs are armed again, and from when on."""

    cursor: Annotated[CursorText, _position("rebuild")] | None = Field(None, description=CURSOR_MEANING)
    since: Moment = Field(description=SINCE_MEANING)


class _OfJob(TypedDict):
    namespace: Annotated[str, about("The namespace of the job.")]
    name: Annotated[str, about("The name of the job.")]


class NotRebuiltResponse(_OfJob):
    """A job that could not be armed again."""

    detail: Annotated[str, about("What is wrong with the job.")]


class RebuildResponse(TypedDict):
    """What one call of a rebuild has done. It has a `nextCursor` if there may be more jobs."""

    jobs: Annotated[int, about("How many jobs this call examined.")]
    timers: Annotated[int, about("How many timers it wrote. A job that owes nothing more needs none.")]
    runs: Annotated[
        int,
        about(
            "How many runs are to be tried again or worked on by a consumer, and may have lost "
            "their timer. Each got a message or a timer."
        ),
    ]
    failed: Annotated[
        list[NotRebuiltResponse], about("The jobs that could not be armed again, each with the reason.")
    ]
    nextCursor: NotRequired[NextCursor]


def rebuild_response(done: Rebuilt) -> RebuildResponse:
    """The response that shows the result of a call."""
    return {
        "jobs": done.jobs,
        "timers": done.timers,
        "runs": done.runs,
        "failed": [
            {"namespace": key.namespace, "name": key.name, "detail": reason} for key, reason in done.failed
        ],
        **_following("rebuild", done.reached),
    }


class AuditRequest(JobWalkRequest):
    """Which jobs are examined, and whether what was lost is written again."""

    cursor: Annotated[CursorText, _position("audit")] | None = Field(None, description=CURSOR_MEANING)
    dry_run: bool = Field(False, description="Only report what was lost, and write nothing.")


class LostTimerResponse(_OfJob):
    """A job whose timer was lost."""

    dueAt: Annotated[Time, about("When the first trigger was due that no timer promised.")]


class LostRunResponse(_OfJob):
    """A run that would not have ended by itself."""

    runId: Annotated[str, about("The name of the run within its job.")]
    dueAt: Annotated[Time, about("When the run's next attempt, or the check of its deadline, was due.")]


class NotAuditedResponse(_OfJob):
    """A job that could not be examined."""

    detail: Annotated[str, about("What is wrong with the job.")]


class AuditResponse(TypedDict):
    """What one call of an audit has found. It has a `nextCursor` if there may be more jobs."""

    jobs: Annotated[int, about("How many jobs this call examined.")]
    late: Annotated[
        int,
        about(
            "How many of these jobs were not judged, because the sweepers are late with them or "
            "the stack is switched off. Examine them again when the stack has caught up."
        ),
    ]
    timers: Annotated[list[LostTimerResponse], about("The jobs whose timers were lost.")]
    runs: Annotated[list[LostRunResponse], about("The runs whose messages were lost.")]
    failed: Annotated[
        list[NotAuditedResponse], about("The jobs that could not be examined, each with the reason.")
    ]
    written: Annotated[
        int, about("How many timers and messages were written for all of these. 0 if `dryRun`.")
    ]
    kept: Annotated[
        int,
        about(
            "How many entries of the lines of policies would have expired within nine days, and "
            "are kept for 14 days more. 0 if `dryRun`."
        ),
    ]
    nextCursor: NotRequired[NextCursor]


def audit_response(done: Audited) -> AuditResponse:
    """The response that shows the result of a call."""
    return {
        "jobs": done.jobs,
        "late": done.late,
        "timers": [
            {"namespace": each.key.namespace, "name": each.key.name, "dueAt": rfc3339(each.due_at)}
            for each in done.timers
        ],
        "runs": [
            {
                "namespace": each.key.namespace,
                "name": each.key.name,
                "runId": each.run_id,
                "dueAt": rfc3339(each.due_at),
            }
            for each in done.runs
        ],
        "failed": [
            {"namespace": key.namespace, "name": key.name, "detail": reason} for key, reason in done.failed
        ],
        "written": done.written,
        "kept": done.kept,
        **_following("audit", done.reached),
    }


_SINCE_RULE: Final = "Give an instant that is past, and at most 14 days ago: no timer is kept for longer."


@partial(
    Operation,
    method="POST",
    path="/v1/rebuild",
    tag="Service",
    access="admin",
    accepts=Accepts(
        RebuildRequest,
        {
            "one namespace": {"since": "2026-11-21T11:00:00Z", "namespace": "ns"},
            "every namespace": {"since": "2026-11-21T11:00:00Z"},
        },
    ),
    returns={200: Returns("What was armed", RebuildResponse)},
    problems=(503,),
)
def rebuild(services: Services, request: Request[NoQuery, RebuildRequest]) -> Reply:
    """Rebuild: arm every job again after timers were lost.

    For a stack whose Timers table was lost or restored. The call writes the timers of all that falls due at
    `since` or later, from what the Jobs table says. What fell due in the meantime is then delivered within
    minutes, as each job's `catchup` decides. It may run beside everything else. A trigger that was delivered
    before is not delivered again if its run has a record. One call examines up to {bulkExaminedMax} jobs.
    Call again with the same `since` and the nextCursor of the answer, until an answer has none. The key of
    one namespace rebuilds that namespace.
    """
    since, now = request.body.since, request.requested_at
    if not now - TIMER_RETENTION_MS <= since <= now + CLOCK_SKEW_MAX_MS:
        raise InvalidError([Violation("/since", _SINCE_RULE)])
    namespace, begun = _walk_of(request)
    done = services.rebuilder.rebuild(since, namespace=namespace, begun=begun)
    return Reply(200, rebuild_response(done))


@partial(
    Operation,
    method="POST",
    path="/v1/audit",
    tag="Service",
    access="admin",
    accepts=Accepts(
        AuditRequest,
        {
            "one namespace": {"namespace": "ns"},
            "every namespace": {},
            "report only": {"dryRun": True},
        },
    ),
    returns={200: Returns("What was found", AuditResponse)},
    problems=(503,),
)
def audit(services: Services, request: Request[NoQuery, AuditRequest]) -> Reply:
    """Audit: find timers and messages that were lost.

    The call looks whether each job has its timer, and whether each run that is not over still has its
    message. What was lost without a trace is written again, from the first trigger that was lost on. It is
    then delivered within minutes, as each job's `catchup` decides. With `dryRun` the call only reports. It
    may run beside everything else, and finds nothing in a healthy stack. The stack does the same by itself
    once a week. One call examines up to {bulkExaminedMax} jobs. Call again with the nextCursor of the answer,
    until an answer has none. The key of one namespace audits that namespace.
    """
    namespace, begun = _walk_of(request)
    done = services.auditor.audit(namespace=namespace, begun=begun, mends=not request.body.dry_run)
    return Reply(200, audit_response(done))


def _walk_of(request: Request[NoQuery, Any]) -> tuple[str | None, JobProgress]:
    """The namespace whose jobs the call goes through, None for every one, and where it goes on.

    Raises ForbiddenError if the key does not open the namespace that was asked for, or that of the cursor.
    Raises InvalidError if the cursor is of another namespace.
    """
    asked: JobWalkRequest = request.body
    caller, namespace = request.caller, asked.namespace
    begun = BEGINNING if asked.cursor is None else _progress(asked.cursor)
    if namespace is not None and begun.namespace not in ("", namespace):
        raise InvalidError([Violation("/cursor", cursor.INVALID)])
    for each in (namespace, begun.namespace):
        if each and not caller.sees(each):
            raise ForbiddenError(
                f"This key is for namespace {caller.namespace}. It opens the jobs of no other."
            )
    return namespace or (None if caller.namespace == EVERY_NAMESPACE else caller.namespace), begun


def _progress(position: str) -> JobProgress:
    namespace, name, rest = position.split(_SEPARATOR, 2)
    # The position within the runs of a job has the separator, too.
    before, _, waiting = rest.rpartition(_SEPARATOR)
    return JobProgress(namespace, name, before, waiting)


def _following(call: str, reached: JobProgress | None) -> cursor.Following:
    return cursor.following(call, None if reached is None else _SEPARATOR.join(reached))
