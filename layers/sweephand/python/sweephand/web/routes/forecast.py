"""The operation that says how many triggers of a namespace fall due in the hours or days to come."""

from functools import partial

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.limits import (
    FORECAST_BUCKET_S_MIN,
    FORECAST_BUCKETS_MAX,
    FORECAST_DAYS_MAX,
)
from sweephand.jobs.examine import Filter
from sweephand.jobs.forecast import Forecast
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.errors import ScheduleError
from sweephand.schedules.triggers import Span
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.forecast_responses import ForecastResponse
from sweephand.web.schemas.query import ForecastQuery, labels_of
from sweephand.web.services import Services


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces/{namespace}/forecast",
    tag="Occurrences",
    access="read",
    query=ForecastQuery,
    returns={200: Returns("The buckets in order", ForecastResponse)},
)
def forecast(services: Services, request: Request[ForecastQuery, None]) -> Reply:
    """Count the triggers that fall due in each hour to come.

    Counts what the schedules of the jobs say, in buckets of equal length. A batch counts with each of its
    triggers. Retries, triggers that somebody asks for by hand and what waits under a policy are not in it.
    One call looks at up to {bulkExaminedMax} jobs, and at fewer if their schedules take much to count: those
    that fire in many buckets, that have long texts, or that have many different zones. Call again with the
    nextCursor of the answer and the same parameters, until an answer has none, and add the numbers.
    """
    query = request.query
    span = _span(query, request.requested_at)
    filters = Filter(request.namespace, query.prefix, labels_of(query.label), query.cursor)
    found = services.forecaster.forecast(filters, span)
    return Reply(200, _response(found, span))


def _span(query: ForecastQuery, now: Instant) -> Span:
    bucket_ms = _bucket_ms(query.bucket)
    since = now if query.since is None else read_instant(query.since, "/from")
    until = since + DAY_MS if query.to is None else read_instant(query.to, "/to")
    violations = []
    # Further calls for one forecast keep its span, and can take minutes.
    age_max_ms = max(bucket_ms, HOUR_MS) if query.cursor else bucket_ms
    if since <= now - age_max_ms:
        violations.append(
            Violation(
                "/from", "Give an instant that is at most a bucket ago: a forecast is of what is to come."
            )
        )
    if until <= since:
        violations.append(Violation("/to", "Give an instant after `from`."))
    if until > now + FORECAST_DAYS_MAX * DAY_MS:
        violations.append(Violation("/to", f"Give an instant within the next {FORECAST_DAYS_MAX} days."))
    span = Span(since, until, bucket_ms)
    if span.buckets > FORECAST_BUCKETS_MAX:
        violations.append(
            Violation(
                "/bucket",
                f"The span has {span.buckets} such buckets. Make it at most {FORECAST_BUCKETS_MAX}, by a "
                "longer bucket or a shorter span.",
            )
        )
    if violations:
        raise InvalidError(violations)
    return span


def _bucket_ms(text: str) -> int:
    try:
        bucket_ms = parse_duration_ms(text)
    except ScheduleError as error:
        raise InvalidError([Violation("/bucket", str(error))]) from None
    if bucket_ms < FORECAST_BUCKET_S_MIN * SECOND_MS or bucket_ms % SECOND_MS:
        rule = f"Give whole seconds, at least {FORECAST_BUCKET_S_MIN}s."
        raise InvalidError([Violation("/bucket", rule)])
    return bucket_ms


def _response(found: Forecast, span: Span) -> ForecastResponse:
    response: ForecastResponse = {
        "from": rfc3339(span.since),
        "to": rfc3339(span.until),
        "bucketSeconds": span.bucket_ms // SECOND_MS,
        "buckets": [
            {"at": rfc3339(span.begin_of(bucket)), "triggers": triggers}
            for bucket, triggers in sorted(found.triggers.items())
        ],
        "jobs": found.jobs,
        "paused": found.paused,
    }
    if found.reached is not None:
        response["nextCursor"] = cursor.encode("forecast", found.reached)
    return response
