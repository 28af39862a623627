"""The operation that says how many triggers of a namespace fall due in the hours or days to come."""

from functools import partial
from typing import Annotated, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.limits import FORECAST_BUCKET_S_MIN, FORECAST_BUCKETS_MAX, FORECAST_DAYS_MAX
from sweephand.jobs.forecast import Forecast
from sweephand.jobs.read import Filter
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.schedules.triggers import Span
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import (
    Cursor,
    Labels,
    Moment,
    NextCursor,
    Prefix,
    QueryParameters,
    Time,
    about,
    from_text,
    labels_of,
    position,
    read_duration,
)


class ForecastBucketResponse(TypedDict):
    """A bucket of a forecast."""

    at: Annotated[Time, about("The first instant of the bucket.")]
    triggers: Annotated[int, about("How many triggers fall due in the bucket.")]


# A class cannot have a field `from`.
ForecastResponse = TypedDict(
    "ForecastResponse",
    {
        "from": Annotated[Time, about("The first instant of the first bucket.")],
        "to": Annotated[Time, about("The end of the last bucket, which it does not include.")],
        "bucketSeconds": Annotated[int, about("The length of a bucket. The last one may be shorter.")],
        "buckets": Annotated[
            list[ForecastBucketResponse],
            about("The buckets, earliest first, without those in which nothing falls due."),
        ],
        "jobs": Annotated[int, about("How many jobs were counted.")],
        "paused": Annotated[
            int, about("How many more jobs are paused until `to` or later. Nothing of theirs falls due.")
        ],
        "nextCursor": NotRequired[NextCursor],
    },
)
ForecastResponse.__doc__ = """How many triggers fall due in each bucket.

It has a `nextCursor` if there may be more jobs. The forecast is then partial: add what the calls with the
further cursors return.
"""


def _bucket_ms(text: str) -> int:
    bucket_ms = read_duration(text)
    if bucket_ms < FORECAST_BUCKET_S_MIN * SECOND_MS or bucket_ms % SECOND_MS:
        raise ValueError(f"Give whole seconds, at least {FORECAST_BUCKET_S_MIN}s.")
    return bucket_ms


class ForecastQuery(QueryParameters):
    """Selects the span, the buckets and the jobs of a forecast."""

    since: Moment | None = Field(
        None,
        alias="from",
        description="The instant at which the first bucket begins (RFC 3339 with an offset). By default now.",
    )
    to: Moment | None = Field(
        None, description="The instant at which the last bucket ends. By default 24 hours after `from`."
    )
    bucket: Annotated[int, from_text(_bucket_ms), WithJsonSchema(DURATION_SCHEMA)] = Field(
        "1h",
        validate_default=True,
        description=f"The length of a bucket, at least {FORECAST_BUCKET_S_MIN} seconds.",
    )
    prefix: Prefix = ""
    label: Labels = Field([])
    cursor: Annotated[Cursor, position("forecast")] = ""


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
    bucket_ms = query.bucket
    since = now if query.since is None else query.since
    until = since + DAY_MS if query.to is None else query.to
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


def _response(found: Forecast, span: Span) -> ForecastResponse:
    return {
        "from": rfc3339(span.since),
        "to": rfc3339(span.until),
        "bucketSeconds": span.bucket_ms // SECOND_MS,
        "buckets": [
            {"at": rfc3339(span.begin_of(bucket)), "triggers": triggers}
            for bucket, triggers in sorted(found.triggers.items())
        ],
        "jobs": found.jobs,
        "paused": found.paused,
        **cursor.following("forecast", found.reached),
    }
