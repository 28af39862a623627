"""The bodies of the calls that pause, resume, trigger or backfill a job, and of callbacks."""

from typing import Annotated, Any

from pydantic import Field

from sweephand.base import limits
from sweephand.jobs.fields.registry import DESCRIPTION_MEANING
from sweephand.model.definition import CatchUpMode
from sweephand.web.schemas.formats import DescriptionText, InstantText
from sweephand.web.schemas.shapes import RequestBody


class PauseRequest(RequestBody):
    """The reason of a pause."""

    reason: DescriptionText | None = Field(None, description=DESCRIPTION_MEANING)


class ResumeRequest(RequestBody):
    """The options of a resume."""

    catchup: CatchUpMode | None = Field(
        None,
        description="Which of the triggers fire that were due during the pause: `latest` (the newest), "
        "`all` or `none`. By default the job's own `catchup` decides.",
    )


class TriggerRequest(RequestBody):
    """The data of a trigger on demand."""

    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes, which Sweephand delivers in place "
        "of the job's data.",
    )


class BackfillRequest(RequestBody):
    """The range of a backfill."""

    from_: InstantText = Field(
        alias="from", description="The first instant of the range (RFC 3339 with an offset)."
    )
    to: InstantText = Field(
        description="The end of the range, which is not part of it. It must be in the past."
    )


class CompletionRequest(RequestBody):
    """The callback that completes a run."""

    result: Any = Field(
        None,
        description=f"Any JSON up to {limits.RESULT_BYTES_MAX:,} bytes (resultBytesMax). Sweephand keeps it "
        "with the run and passes it to `onComplete`.",
    )


class FailureRequest(RequestBody):
    """The callback that fails an attempt."""

    reason: Annotated[str, Field(max_length=limits.REASON_LENGTH_MAX)] | None = Field(
        None, description=f"Why, for people: up to {limits.REASON_LENGTH_MAX} characters."
    )
    retry: bool | None = Field(
        None,
        description="Whether a retry may help; true by default. If false, Sweephand gives up the run.",
    )
