"""What callers may write when they pause, resume, trigger or backfill a job, or report on a run."""

from typing import Any

from pydantic import Field

from sweephand.base import limits
from sweephand.model.definition import CatchUpMode
from sweephand.web.schemas.formats import InstantText
from sweephand.web.schemas.request_body import RequestBody


class PauseRequest(RequestBody):
    """Why a job is paused."""

    reason: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )


class ResumeRequest(RequestBody):
    """How a job is resumed."""

    catchup: CatchUpMode | None = Field(
        None,
        description="What fires of what fell due during the pause: `latest` (the newest), `all` or `none`; "
        "as the job's own `catchup` says by default.",
    )


class TriggerRequest(RequestBody):
    """What a trigger on demand delivers."""

    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes, delivered instead of the job's data.",
    )


class BackfillRequest(RequestBody):
    """Which past triggers to make."""

    from_: InstantText = Field(
        alias="from", description="The first instant of the span (RFC 3339 with its offset)."
    )
    to: InstantText = Field(description="Where the span ends: this instant is no part of it. It is past.")


class CompletionRequest(RequestBody):
    """What a consumer completes a run with."""

    result: Any = Field(
        None,
        description=f"Any JSON up to {limits.RESULT_BYTES_MAX:,} bytes (resultBytesMax). It is kept with the "
        "run and handed to `onComplete`.",
    )


class FailureRequest(RequestBody):
    """What a consumer says of an attempt that has failed."""

    reason: str | None = Field(
        None,
        max_length=limits.REASON_LENGTH_MAX,
        description=f"Why, for people: up to {limits.REASON_LENGTH_MAX} characters.",
    )
    retry: bool | None = Field(
        None, description="Whether another attempt may help; true by default. With false the run is given up."
    )
