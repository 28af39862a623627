"""The operation that says what deliveries counted: outcomes and lateness in each minute."""

from functools import partial

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.limits import STATS_STEP_DAYS_MAX, STATS_STEPS_MAX
from sweephand.base.timing import STATS_RETENTION_MS
from sweephand.runs.stats_reader import StatsSpan
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.errors import ScheduleError
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.query import StatsQuery
from sweephand.web.schemas.stats_responses import StatsResponse, stats_step_response
from sweephand.web.services import Services


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
    }
    if found.reached is not None:
        response["nextCursor"] = cursor.encode("stats", str(found.reached))
    return Reply(200, response)


def _span(query: StatsQuery, now: Instant) -> StatsSpan:
    step_ms = _step_ms(query.step)
    until = now if query.to is None else read_instant(query.to, "/to")
    since = until - HOUR_MS if query.since is None else read_instant(query.since, "/from")
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
    span = StatsSpan(since, until, step_ms)
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


def _step_ms(text: str) -> int:
    try:
        step_ms = parse_duration_ms(text)
    except ScheduleError as error:
        raise InvalidError([Violation("/step", str(error))]) from None
    if not MINUTE_MS <= step_ms <= STATS_STEP_DAYS_MAX * DAY_MS or step_ms % MINUTE_MS:
        raise InvalidError([Violation("/step", "Give whole minutes, at least 1m and at most 24h.")])
    return step_ms


def _reached(position: str, span: StatsSpan) -> Instant:
    if not position.isdecimal() or not span.has_step_at(int(position)):
        rule = "Give the nextCursor of an answer, with the `from`, `to` and `step` of that answer."
        raise InvalidError([Violation("/cursor", rule)])
    return int(position)
