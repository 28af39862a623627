"""The operation that says why a job fired at an instant, or did not."""

from functools import partial
from typing import Final

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.web.http.operation import Operation, Reply, Request, Returns
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.explain_responses import ExplainResponse, explain_response
from sweephand.web.schemas.query import ExplainQuery
from sweephand.web.services import Services

#: No job was created before 1970.
_EARLIEST: Final[Instant] = 0


@partial(
    Operation,
    method="GET",
    path=JOB_PATH + "/explain",
    tag="Jobs",
    access="read",
    query=ExplainQuery,
    returns={200: Returns("The reason, and what speaks for it", ExplainResponse)},
    problems=(404,),
)
def explain_job(services: Services, request: Request[ExplainQuery, None]) -> Reply:
    """Say why a job fired at an instant, or did not.

    Gives the first reason that is true, with what speaks for it. The instant is about the trigger of the
    schedule that is due then. A full minute stands for the first due time of that minute, and a full second
    for that of the second. If a clock change or jitter has moved the trigger, the answer is about the trigger
    where it is now. Of a batch it is about the first trigger. Runs on demand are not part of it. The call
    also answers for a deleted job.
    """
    at = None
    if request.query.at is not None:
        # An offset can lead out of the years that an answer can name. Nothing is due there.
        at = min(max(read_instant(request.query.at, "/at"), _EARLIEST), INSTANT_MAX)
    found, facts = services.explainer.explain(request.key, at, request.requested_at)
    return Reply(200, explain_response(facts.at, found, facts.series))
