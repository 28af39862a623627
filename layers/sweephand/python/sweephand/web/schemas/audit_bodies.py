"""The body of the call that audits jobs, and its response."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.runs.audit_findings import Audited
from sweephand.web.schemas.filters import JobWalkRequest
from sweephand.web.schemas.run_responses import NextCursor, Time


class AuditRequest(JobWalkRequest):
    """Which jobs are examined, and whether what was lost is written again."""

    dry_run: bool = Field(False, description="Only report what was lost, and write nothing.")


class LostTimerResponse(TypedDict):
    """A job whose timer was lost."""

    namespace: Annotated[str, Field(description="The namespace of the job.")]
    name: Annotated[str, Field(description="The name of the job.")]
    dueAt: Annotated[Time, Field(description="When the first trigger was due that no timer promised.")]


class LostRunResponse(TypedDict):
    """A run that would not have ended by itself."""

    namespace: Annotated[str, Field(description="The namespace of the job.")]
    name: Annotated[str, Field(description="The name of the job.")]
    runId: Annotated[str, Field(description="The name of the run within its job.")]
    dueAt: Annotated[
        Time, Field(description="When the run's next attempt, or the check of its deadline, was due.")
    ]


class NotAuditedResponse(TypedDict):
    """A job that could not be examined."""

    namespace: Annotated[str, Field(description="The namespace of the job.")]
    name: Annotated[str, Field(description="The name of the job.")]
    detail: Annotated[str, Field(description="What is wrong with the job.")]


class AuditResponse(TypedDict):
    """What one call of an audit has found. It has a `nextCursor` if there may be more jobs."""

    jobs: Annotated[int, Field(description="How many jobs this call examined.")]
    late: Annotated[
        int,
        Field(
            description="How many of these jobs were not judged, because the sweepers are late with them or "
            "the stack is switched off. Examine them again when the stack has caught up."
        ),
    ]
    timers: Annotated[list[LostTimerResponse], Field(description="The jobs whose timers were lost.")]
    runs: Annotated[list[LostRunResponse], Field(description="The runs whose messages were lost.")]
    failed: Annotated[
        list[NotAuditedResponse],
        Field(description="The jobs that could not be examined, each with the reason."),
    ]
    written: Annotated[
        int, Field(description="How many timers and messages were written for all of these. 0 if `dryRun`.")
    ]
    kept: Annotated[
        int,
        Field(
            description="How many entries of the lines of policies would have expired within nine days, and "
            "are kept for 14 days more. 0 if `dryRun`."
        ),
    ]
    nextCursor: NotRequired[NextCursor]


def audit_response(done: Audited, following: str | None) -> AuditResponse:
    """The response that shows the result of a call. `following` is the cursor of the next one, if any."""
    response: AuditResponse = {
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
    }
    if following is not None:
        response["nextCursor"] = following
    return response
