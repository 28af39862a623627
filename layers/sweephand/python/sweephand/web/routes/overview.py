"""The operation that shows all namespaces of a key at once."""

from functools import partial
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import DAY_MS, INSTANT_MAX, SECOND_MS, rfc3339, rfc3339_or_none
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.model.page import Page
from sweephand.runs.overview import NamespaceOverview
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import Cursor, Moment, NextCursor, PageQuery, Time, about, position


class OverviewQuery(PageQuery):
    """Selects what the overview counts."""

    since: Moment | None = Field(
        None, description="Count runs due at this instant or later (RFC 3339). By default the last 24 hours."
    )
    include: Literal["jobs"] | None = Field(
        None,
        description="`jobs`: count the jobs of each namespace by state. That reads up to a thousand jobs of "
        "each: 250 read units, if they have 1 KB.",
    )
    cursor: Annotated[Cursor, position("overview")] = ""


class JobStatesResponse(TypedDict):
    """How many jobs are in each state."""

    active: Annotated[int, about("Jobs that are active.")]
    paused: Annotated[int, about("Jobs that are paused.")]
    completed: Annotated[int, about("Jobs that have no due time left.")]


class LastHourResponse(TypedDict):
    """What deliveries counted in the last hour."""

    attempts: Annotated[int, about("First attempts whose lateness was counted.")]
    late: Annotated[int, about("Those of them that began more than a second after their due time.")]
    maxMs: Annotated[
        int | None,
        about(
            "All of them began at most so many milliseconds late: the bound of a class, as in the "
            "statistics. Null without any attempt."
        ),
    ]


class NamespaceOverviewResponse(TypedDict):
    """What is wrong in a namespace."""

    namespace: Annotated[str, about("The namespace.")]
    failed: Annotated[int, about("Runs that failed.")]
    retrying: Annotated[int, about("Runs of which an attempt failed and another follows.")]
    skipped: Annotated[int, about("Runs that were skipped.")]
    running: Annotated[int, about("Runs on which a consumer works for longer than a heartbeat time-out.")]
    failingJobs: Annotated[int, about("Jobs of which a run failed or is being retried.")]
    newestFailureAt: Annotated[Time | None, about("The due time of the newest such run.")]
    failuresOverTime: Annotated[
        list[int],
        about(
            "Runs that failed or are retried, in each of 24 equal parts of the time since `since`, by "
            "their due times, oldest first."
        ),
    ]
    lastHour: NotRequired[
        Annotated[
            LastHourResponse,
            about(
                "How late the deliveries of the last hour began. Absent in a stack that does not count them "
                "(its parameter `Stats`). Triggers that waited for a policy, a limit, a pause or their turn "
                "are not in it."
            ),
        ]
    ]
    waiting: Annotated[int, about("Triggers that wait under flow policies, in the first 50 lines.")]
    waitingIsExact: Annotated[
        bool, about("False if `waiting` was not counted to its end: at least so many wait.")
    ]
    waitingSince: Annotated[
        Time | None, about("From when on the first of these triggers could have been delivered.")
    ]
    pausedPolicies: Annotated[int, about("Flow policies that are paused.")]
    jobs: NotRequired[Annotated[JobStatesResponse, about("The jobs by state, if the call asks for them.")]]
    partial: Annotated[
        bool,
        about("Whether there are more runs or jobs than a call looks at: the newest runs count."),
    ]


class OverviewResponse(TypedDict):
    """The namespaces by name. It has a `nextCursor` if there may be more."""

    since: Annotated[Time, about("From when on runs were due that are counted.")]
    heartbeatAt: Annotated[Time | None, about("When the stack last ticked. Null if it never has.")]
    enabled: Annotated[bool, about("Whether the stack is switched on.")]
    items: Annotated[list[NamespaceOverviewResponse], about("The namespaces, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


@partial(
    Operation,
    method="GET",
    path="/v1/overview",
    tag="Runs",
    access="any",
    query=OverviewQuery,
    returns={200: Returns("The namespaces that the key sees", OverviewResponse)},
)
def show_overview(services: Services, request: Request[OverviewQuery, None]) -> Reply:
    """Show all namespaces that the key sees at once.

    Counts the newest {bulkExaminedMax} runs of each that failed, were skipped or are retried. A run that
    simply succeeded costs nothing. A namespace costs at least 18 requests to DynamoDB. Each policy
    with `by` costs one more, and so does each line of its policies, up to 250 in all. What deliveries
    counted costs 16 for all namespaces together.
    """
    query, own, now = request.query, request.caller.namespace, request.requested_at
    if own == EVERY_NAMESPACE:
        page = services.namespaces.page(query.cursor, query.limit)
    else:
        page = Page((own,) if own > query.cursor else (), None)
    # An offset can lead out of the years that an answer can name.
    since = now - DAY_MS if query.since is None else min(max(query.since, 0), INSTANT_MAX)
    found = services.overview.of(page.items, since, now, with_jobs=query.include == "jobs")
    state = services.leases.state()
    response: OverviewResponse = {
        "since": rfc3339(since),
        "heartbeatAt": rfc3339_or_none(state.heartbeat_at),
        "enabled": state.off_since is None,
        "items": [namespace_overview_response(each) for each in found],
        **cursor.following("overview", page.next),
    }
    return Reply(200, response)


def namespace_overview_response(found: NamespaceOverview) -> NamespaceOverviewResponse:
    """The overview of a namespace as the response shows it."""
    response: NamespaceOverviewResponse = {
        "namespace": found.namespace,
        "failed": found.runs.get("failed", 0),
        "retrying": found.runs.get("retrying", 0),
        "skipped": found.runs.get("skipped", 0),
        "running": found.runs.get("running", 0),
        "failingJobs": found.jobs,
        "newestFailureAt": rfc3339_or_none(found.newest_at),
        "failuresOverTime": list(found.failures),
        "waiting": found.waiting.triggers,
        "waitingIsExact": found.waiting.is_exact,
        "waitingSince": rfc3339_or_none(found.waiting.since),
        "pausedPolicies": found.paused_policies,
        "partial": found.is_partial,
    }
    if found.last_hour is not None:
        lateness = found.last_hour.lateness
        response["lastHour"] = {
            "attempts": sum(lateness.values()),
            "late": sum(count for bound, count in lateness.items() if bound > SECOND_MS),
            "maxMs": found.last_hour.lateness_at_most(100),
        }
    if found.job_states is not None:
        states = found.job_states
        response["jobs"] = {
            "active": states.get("active", 0),
            "paused": states.get("paused", 0),
            "completed": states.get("completed", 0),
        }
    return response
