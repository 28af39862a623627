"""The operations that pause a job and resume it."""

from functools import partial
from typing import Final

from pydantic import Field

from sweephand.jobs.fields.registry import DESCRIPTION_MEANING
from sweephand.model.definition import CatchUpMode
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
from sweephand.web.routes.jobs import ETAG, IF_MATCH, JOB_PATH, job_reply
from sweephand.web.schemas.formats import DescriptionText
from sweephand.web.schemas.responses import JobResponse
from sweephand.web.schemas.shapes import RequestBody


class PauseRequest(RequestBody):
    """The reason of a pause."""

    reason: DescriptionText | None = Field(None, description=DESCRIPTION_MEANING)


PAUSE_EXAMPLES: Final = {"for maintenance": {"reason": "The database moves tonight."}}


class ResumeRequest(RequestBody):
    """The options of a resume."""

    catchup: CatchUpMode | None = Field(
        None,
        description="Which of the triggers fire that were due during the pause: `latest` (the newest), "
        "`all` or `none`. By default the job's own `catchup` decides.",
    )


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/pause",
    tag="Jobs",
    access="write",
    accepts=Accepts(PauseRequest, PAUSE_EXAMPLES, required=False),
    headers=IF_MATCH,
    returns={200: Returns("The paused job", JobResponse, ETAG)},
    problems=(404, 412, 503),
)
def pause_job(services: Services, request: Request[NoQuery, PauseRequest]) -> Reply:
    """Pause a job.

    After the answer no delivery of the job begins, even of a trigger that is already in the queue. A job that
    is already paused does not change: it keeps the time and the reason of its first pause.
    """
    job = services.pauser.pause(
        request.key,
        reason=request.body.reason,
        who=request.caller.key_id,
        requested_at=request.requested_at,
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
    headers=IF_MATCH,
    returns={200: Returns("The resumed job", JobResponse, ETAG)},
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
