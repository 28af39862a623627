"""The operation that says what deliveries counted: outcomes and lateness in each minute."""

from functools import partial
from typing import Annotated, Final, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import DAY_MS, HOUR_MS, INSTANT_MAX, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.limits import STATS_STEP_DAYS_MAX, STATS_STEPS_MAX
from sweephand.base.timing import STATS_RETENTION_MS
from sweephand.model.counters import Stats
from sweephand.runs.delivery_stats import StatsSpan
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import (
    Cursor,
    Moment,
    NextCursor,
    QueryParameters,
    Time,
    about,
    from_text,
    position,
    read_duration,
)

_BOUND: Final = "It is the bound of a class of lateness, and at most five thirds of the bound below."


class LatenessClassResponse(TypedDict):
    """The first attempts of one class of lateness."""

    atMostMs: Annotated[
        int,
        about("They began at most so many milliseconds late, and above 10 ms later than three fifths of it."),
    ]
    attempts: Annotated[int, about("How many first attempts there were.")]


class StatsStepResponse(TypedDict):
    """What was counted in one step."""

    at: Annotated[Time, about("The first instant of the step.")]
    succeeded: Annotated[int, about("Attempts that the consumer accepted for good.")]
    running: Annotated[
        int, about("Attempts that an asynchronous consumer accepted. What it reports later is not counted.")
    ]
    retrying: Annotated[int, about("Attempts that failed, after which another one is made.")]
    failed: Annotated[int, about("Runs that an attempt or a deadline ended as failed.")]
    skipped: Annotated[int, about("Triggers that were skipped for another run of their job.")]
    faults: Annotated[int, about("Messages that Sweephand itself failed to handle. The log says why.")]
    p50Ms: Annotated[
        int | None,
        about(
            "Half of the first attempts began at most so many milliseconds late. "
            f"{_BOUND} Null if no lateness was counted."
        ),
    ]
    p99Ms: Annotated[int | None, about(f"The same for 99 of a hundred first attempts. {_BOUND}")]
    maxMs: Annotated[int | None, about(f"The same for all of them. {_BOUND}")]
    lateness: Annotated[
        list[LatenessClassResponse],
        about(
            "The first attempts by class of lateness, the least late first. Triggers that had "
            "to wait for a policy, a limit, a pause or their turn are not in it."
        ),
    ]


# A class cannot have a field `from`.
StatsResponse = TypedDict(
    "StatsResponse",
    {
        "from": Annotated[Time, about("The first instant of the first step.")],
        "to": Annotated[Time, about("The end of the last step, which it does not include.")],
        "stepSeconds": Annotated[int, about("The length of a step. The last one may be shorter.")],
        "steps": Annotated[
            list[StatsStepResponse],
            about("The steps, earliest first, without those in which nothing was counted."),
        ],
        "nextCursor": NotRequired[NextCursor],
    },
)
StatsResponse.__doc__ = """What deliveries counted. It has a `nextCursor` if later steps were not read."""


def stats_step_response(at: Instant, stats: Stats) -> StatsStepResponse:
    """What was counted in the step that begins at that instant."""
    outcomes = stats.outcomes
    return {
        "at": rfc3339(at),
        "succeeded": outcomes["succeeded"],
        "running": outcomes["running"],
        "retrying": outcomes["retrying"],
        "failed": outcomes["failed"],
        "skipped": outcomes["skipped"],
        "faults": outcomes["faults"],
        "p50Ms": stats.lateness_at_most(50),
        "p99Ms": stats.lateness_at_most(99),
        "maxMs": stats.lateness_at_most(100),
        "lateness": [
            {"atMostMs": bound, "attempts": count} for bound, count in sorted(stats.lateness.items())
        ],
    }


def _step_ms(text: str) -> int:
    step_ms = read_duration(text)
    if not MINUTE_MS <= step_ms <= STATS_STEP_DAYS_MAX * DAY_MS or step_ms % MINUTE_MS:
        raise ValueError("Give whole minutes, at least 1m and at most 24h.")
    return step_ms


class StatsQuery(QueryParameters):
    """Selects the span and the steps of what deliveries counted."""

    since: Moment | None = Field(
        None,
        alias="from",
        description="The instant in whose minute the first step begins (RFC 3339 with an offset). By default "
        "an hour before `to`.",
    )
    to: Moment | None = Field(None, description="The instant at which the last step ends. By default now.")
    step: Annotated[int, from_text(_step_ms), WithJsonSchema(DURATION_SCHEMA)] = Field(
        "1m",
        validate_default=True,
        description=f"The length of a step, in whole minutes, up to 24h. At most {STATS_STEPS_MAX} steps.",
    )
    cursor: Annotated[Cursor, position("stats")] = ""


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces/{namespace}/stats",
    tag="Runs",
    access="read",
    query=StatsQuery,
    returns={200: Returns("The steps in order", StatsResponse)},
    problems=(409,),
)
def stats(services: Services, request: Request[StatsQuery, None]) -> Reply:
    """Show outcomes and lateness in each minute.

    Shows what the delivery functions counted, in steps of equal length. A stack counts if its parameter
    `Stats` is `on`, and answers 409 if it is not. Each call of a function counts all that it handled in the
    minute in which it ends. Counts are for looking at, not for accounts: a function that crashes loses those
    of its call, and a write whose answer is lost can count a call twice. Counts are kept for 30 days.
    """
    query = request.query
    span = _span(query, request.requested_at)
    since = _reached(query.cursor, span) if query.cursor else span.since
    found = services.stats.read(request.namespace, span, since)
    response: StatsResponse = {
        "from": rfc3339(span.since),
        "to": rfc3339(span.until),
        "stepSeconds": span.step_ms // SECOND_MS,
        "steps": [stats_step_response(at, each) for at, each in found.steps],
        **cursor.following("stats", None if found.reached is None else str(found.reached)),
    }
    return Reply(200, response)


def _span(query: StatsQuery, now: Instant) -> StatsSpan:
    # An offset can lead out of the years that an answer can name.
    until = now if query.to is None else min(query.to, INSTANT_MAX)
    since = until - HOUR_MS if query.since is None else query.since
    since -= since % MINUTE_MS
    violations = []
    if since < now - STATS_RETENTION_MS - DAY_MS:
        violations.append(
            Violation(
                "/from",
                f"Give an instant of the last {STATS_RETENTION_MS // DAY_MS} days: counts are kept for so "
                "long.",
            )
        )
    if until <= since:
        violations.append(Violation("/to", "Give an instant after `from`."))
    span = StatsSpan(since, until, query.step)
    if span.steps > STATS_STEPS_MAX:
        violations.append(
            Violation(
                "/step",
                f"The span has {span.steps} such steps. Make it at most {STATS_STEPS_MAX}, by a longer step "
                "or a shorter span.",
            )
        )
    if violations:
        raise InvalidError(violations)
    return span


def _reached(position: str, span: StatsSpan) -> Instant:
    if not position.isdecimal() or not span.has_step_at(int(position)):
        rule = "Give the nextCursor of an answer, with the `from`, `to` and `step` of that answer."
        raise InvalidError([Violation("/cursor", rule)])
    return int(position)
