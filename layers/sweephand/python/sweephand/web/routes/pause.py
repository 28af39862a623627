"""The operations that pause a job and resume it."""

from functools import partial
from typing import Annotated, Final

from pydantic import Field, WithJsonSchema

from sweephand.base.errors import InvalidError, ScheduleError, Violation
from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.limits import PAUSE_DAYS_MAX
from sweephand.jobs.fields.registry import DESCRIPTION_MEANING
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import PauseEnd
from sweephand.schedules.clock.zones import UTC, zone_named
from sweephand.schedules.time_points import TIME_POINT_SCHEMA, parse_time_point
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
    Services,
    parse_if_match,
)
from sweephand.web.routes.jobs import HEADERS, JOB_PATH, job_reply
from sweephand.web.schemas.formats import DescriptionText
from sweephand.web.schemas.responses import JobResponse
from sweephand.web.schemas.shapes import RequestBody


class PauseRequest(RequestBody):
    """The reason of a pause."""

    reason: DescriptionText | None = Field(None, description=DESCRIPTION_MEANING)


PAUSE_EXAMPLES: Final = {"for maintenance": {"reason": "The database moves tonight."}}

_CATCHUP_MEANING: Final = (
    "Which of the triggers fire that were due during the pause: `latest` (the newest), "
    "`all` or `none`. By default the job's own `catchup` decides."
)


class JobPauseRequest(PauseRequest):
    """The reason of a pause, and when it ends by itself."""

    until: Annotated[str, WithJsonSchema(TIME_POINT_SCHEMA)] | None = Field(
        None,
        description="When the job resumes by itself: RFC 3339 with an offset, or a duration from now "
        f"(PT2H, 7d), at most {PAUSE_DAYS_MAX} days ahead. Without it, a caller must resume the job.",
    )
    catchup: CatchUpMode | None = Field(None, description=f"Only with `until`. {_CATCHUP_MEANING}")

    def end(self, requested_at: Instant) -> PauseEnd | None:
        """When the pause ends by itself, if it does. A duration of months counts in UTC.

        Raises InvalidError.
        """
        if self.until is None:
            if self.catchup is not None:
                raise InvalidError([Violation("/catchup", _NO_UNTIL)])
            return None
        try:
            ends_at = parse_time_point(
                self.until, requested_at=0, counted_from=requested_at, zone=zone_named(UTC)
            )
        except ScheduleError as error:
            raise InvalidError([Violation("/until", f"{error}.")]) from None
        if not requested_at < ends_at <= requested_at + PAUSE_DAYS_MAX * DAY_MS:
            raise InvalidError([Violation("/until", _NOT_AHEAD)])
        return PauseEnd(ends_at, self.catchup)


_NO_UNTIL: Final = "Give `until` too, or give `catchup` with the resume."
_NOT_AHEAD: Final = (
    f"Give an instant in the future, at most {PAUSE_DAYS_MAX} days from now. "
    "For a longer pause, leave `until` out, and resume the job by a call."
)
PAUSE_JOB_EXAMPLES: Final = {
    **PAUSE_EXAMPLES,
    "for two hours": {"until": "PT2H", "catchup": "latest"},
}


class ResumeRequest(RequestBody):
    """The options of a resume."""

    catchup: CatchUpMode | None = Field(None, description=_CATCHUP_MEANING)


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/pause",
    tag="Jobs",
    access="write",
    accepts=Accepts(JobPauseRequest, PAUSE_JOB_EXAMPLES, required=False),
    headers=HEADERS.if_match,
    returns={200: Returns("The paused job", JobResponse, HEADERS.etag)},
    problems=(404, 412, 503),
)
def pause_job(services: Services, request: Request[NoQuery, JobPauseRequest]) -> Reply:
    """Pause a job.

    After the answer no delivery of the job begins, even of a trigger that is already in the queue. With
    `until`, Sweephand resumes the job then. A job that is already paused keeps the time and the reason of its
    first pause, and gets the `until` of this call. Without `until` in this call, a caller must resume it.
    """
    job = services.pauser.pause(
        request.key,
        reason=request.body.reason,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        end=request.body.end(request.requested_at),
        if_match=parse_if_match(request.headers),
    )
    return job_reply(request, job)


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/resume",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        ResumeRequest,
        {"nothing that was missed": {"catchup": "none"}},
        required=False,
    ),
    headers=HEADERS.if_match,
    returns={200: Returns("The resumed job", JobResponse, HEADERS.etag)},
    problems=(404, 412, 503),
)
def resume_job(services: Services, request: Request[NoQuery, ResumeRequest]) -> Reply:
    """Resume a paused job.

    Sweephand delivers the triggers that were due before the pause and that the pause held back. `catchup`
    says which of the triggers that were due during the pause fire: by default the newest. Give `catchup` in
    this call or in the job. A job that is not paused does not change.
    """
    job = services.resumer.resume(
        request.key,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        mode=request.body.catchup,
        if_match=parse_if_match(request.headers),
    )
    return job_reply(request, job)
