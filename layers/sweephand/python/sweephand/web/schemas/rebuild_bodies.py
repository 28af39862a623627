"""The body of the call that rebuilds the wheel, and its response."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.runs.rebuild import Rebuilt
from sweephand.web.schemas.filters import JobWalkRequest
from sweephand.web.schemas.formats import InstantText
from sweephand.web.schemas.run_responses import NextCursor

SINCE_MEANING = (
    "From when on the wheel may have lost something (RFC 3339 with an offset): an instant at which the stack "
    "still delivered, or the instant to which a table was restored. At most 14 days ago."
)


class RebuildRequest(JobWalkRequest):
    """Which jobs are armed again, and from when on."""

    since: InstantText = Field(description=SINCE_MEANING)


class NotRebuiltResponse(TypedDict):
    """A job that could not be armed again."""

    namespace: Annotated[str, Field(description="The namespace of the job.")]
    name: Annotated[str, Field(description="The name of the job.")]
    detail: Annotated[str, Field(description="What is wrong with the job.")]


class RebuildResponse(TypedDict):
    """What one call of a rebuild has done. It has a `nextCursor` if there may be more jobs."""

    jobs: Annotated[int, Field(description="How many jobs this call examined.")]
    timers: Annotated[
        int, Field(description="How many timers it wrote. A job that owes nothing more needs none.")
    ]
    runs: Annotated[
        int,
        Field(
            description="How many runs are to be tried again or worked on by a consumer, and may have lost "
            "their timer. Each got a message or a timer."
        ),
    ]
    failed: Annotated[
        list[NotRebuiltResponse],
        Field(description="The jobs that could not be armed again, each with the reason."),
    ]
    nextCursor: NotRequired[NextCursor]


def rebuild_response(done: Rebuilt, following: str | None) -> RebuildResponse:
    """The response that shows the result of a call. `following` is the cursor of the next one, if any."""
    response: RebuildResponse = {
        "jobs": done.jobs,
        "timers": done.timers,
        "runs": done.runs,
        "failed": [
            {"namespace": key.namespace, "name": key.name, "detail": reason} for key, reason in done.failed
        ],
    }
    if following is not None:
        response["nextCursor"] = following
    return response
