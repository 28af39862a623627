"""What callers may write: the fields of jobs, keys and previews, for checking and for OpenAPI."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema

from sweephand.base import limits
from sweephand.model.api_key import Role
from sweephand.web.schemas.formats import (
    INSTANT,
    DurationText,
    InstantText,
    MomentText,
    Name,
    NameOrAll,
    UrlText,
    ZoneText,
)
from sweephand.web.schemas.target_requests import (
    DURATION_RULE,
    Document,
    EndTarget,
    Target,
)

#: Fields of the API that later releases of Sweephand bring: told apart from mistakes.
LATER = frozenset(
    {
        "batch",
        "policy",
        "priority",
    }
)


class Retry(Document):
    """How often, how long and how far apart a trigger is tried."""

    max_attempts: int | None = Field(
        None,
        ge=1,
        le=limits.RETRY_ATTEMPTS_MAX,
        description=f"A whole number from 1 to {limits.RETRY_ATTEMPTS_MAX}; 10 by default.",
    )
    max_age: DurationText | None = Field(
        None,
        description=f"How long after the first attempt the last may begin; 24h by default, at most "
        f"{limits.RETRY_DAYS_MAX}d. {DURATION_RULE}",
    )
    initial_delay: DurationText | None = Field(
        None,
        description=f"The delay after the first attempt; 5s by default, at most {limits.RETRY_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    multiplier: float | None = Field(
        None,
        ge=1,
        le=limits.RETRY_MULTIPLIER_MAX,
        allow_inf_nan=False,
        description=f"What each delay is longer by; a number from 1 to {limits.RETRY_MULTIPLIER_MAX}, 4 by "
        "default.",
    )
    max_delay: DurationText | None = Field(
        None,
        description=f"The longest delay; 6h by default, at most {limits.RETRY_DAYS_MAX}d. {DURATION_RULE}",
    )


class CatchUp(Document):
    """What becomes of occurrences that are found late, after an outage of the stack."""

    mode: Literal["latest", "all", "none"] | None = Field(
        None,
        description="Of those found more than `window` late: `latest` (default) fires the newest, `all` "
        "each, `none` none. The others are recorded as skipped, one record for all of them.",
    )
    window: DurationText | None = Field(
        None,
        description=f"Up to so late an occurrence fires in any case; 1h by default, at least "
        f"{limits.CATCHUP_WINDOW_S_MIN}s, at most {limits.CATCHUP_WINDOW_DAYS_MAX}d. {DURATION_RULE}",
    )


_SCHEDULE = (
    "When it recurs. Text: a cron expression of 5 or 6 fields (seconds first), a macro such as @daily, "
    "`@every 1h30m`, EventBridge's `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or "
    "`at(2027-03-01T09:00:00)`, or an ISO 8601 repetition such as `R4/PT3S` or "
    "`R/2027-01-01T00:00:00Z/P1D`; `CRON_TZ=Europe/Riga ` before it sets the zone. An object: cron's fields "
    f"by name. A list: up to {limits.INSTANTS_MAX} instants. Left out of a one-off and on demand."
)
_FIELDS = {
    "second": "0 to 59.",
    "minute": "0 to 59.",
    "hour": "0 to 23.",
    "dayOfMonth": "1 to 31; L, LW, 15W.",
    "month": "1 to 12, or JAN to DEC.",
    "dayOfWeek": "0 to 7, both of which are Sunday, or SUN to SAT; 5L, 5#2.",
    "year": "1970 to 2199.",
}


def _field(meaning: str) -> dict[str, Any]:
    text = {"type": ["string", "integer"], "minLength": 1, "maxLength": limits.SCHEDULE_LENGTH_MAX}
    return {"anyOf": [text, {"type": "null"}], "description": meaning}


#: What a schedule may be is judged by the schedules alone, which know each form.
Schedule = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "oneOf": [
                        {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": limits.SCHEDULE_LENGTH_MAX,
                            "pattern": "^[\\t -~]+$",
                        },
                        {
                            "type": "object",
                            "properties": {name: _field(meaning) for name, meaning in _FIELDS.items()},
                            "additionalProperties": False,
                            "minProperties": 1,
                        },
                        {
                            "type": "array",
                            "items": INSTANT,
                            "minItems": 1,
                            "maxItems": limits.INSTANTS_MAX,
                        },
                    ]
                },
                {"type": "null"},
            ]
        }
    ),
]
_TIMEZONE = "An IANA time zone such as Europe/Paris; UTC by default."
_DUE_TIME = (
    "When a one-off fires, or the earliest a recurring job may: RFC 3339 with its offset, or a duration from "
    "now (10s, PT2H)."
)
_TTL = "No fire after it: RFC 3339 with its offset, or a duration from dueTime, else from now."
_REPEATS = f"How many occurrences in all; a whole number from 1 to {limits.REPEATS_MAX}."
_DST = (
    "What becomes of a fixed local time on the days on which the clock changes: an object. An expression "
    "whose minute or hour begins with a star follows real time whatever this says."
)
_JITTER = (
    "The whole series comes later by one offset within this window, always the same for one job, made from "
    "its namespace and name, so that many jobs of one schedule do not fire at once. A duration of more than "
    f"0, at most {limits.JITTER_S_MAX} s."
)


class Dst(Document):
    """What becomes of a fixed local time on the days on which the clock changes."""

    gap: Literal["shift", "skip"] | None = Field(
        None,
        description="A local time that does not exist that day: `shift` (default) fires once at the instant "
        "the gap ends, `skip` does not fire. Gaps of three hours and more are never made up.",
    )
    overlap: Literal["first", "last", "both"] | None = Field(
        None,
        description="A local time that exists twice that day: `first` (default), `last`, or `both`.",
    )


class Timing(Document):
    """When something is due."""

    schedule: Schedule = Field(None, description=_SCHEDULE)
    timezone: ZoneText | None = Field(None, max_length=64, description=_TIMEZONE)
    due_time: MomentText | None = Field(None, max_length=64, description=_DUE_TIME)
    ttl: MomentText | None = Field(None, max_length=64, description=_TTL)
    repeats: int | None = Field(None, ge=1, le=limits.REPEATS_MAX, description=_REPEATS)
    dst: Dst | None = Field(None, description=_DST)
    jitter: DurationText | None = Field(None, max_length=64, description=_JITTER)


class JobDocument(Timing):
    """A job as its user writes it. With neither `schedule` nor `dueTime` it fires only on demand."""

    target: Target = Field(description="Where it is delivered to: an object with its type, http or sqs.")
    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes. The consumer gets equal JSON, numbers "
        "exact, the same bytes at every attempt; without data it gets null.",
    )
    retry: Retry | None = Field(None, description="How a failed trigger is tried again: an object.")
    dead_letter_queue: UrlText | None = Field(
        None,
        max_length=limits.URL_LENGTH_MAX,
        description="The URL of the SQS queue for what could not be delivered; the stack's by default.",
    )
    overlap: Literal["allow", "skip", "wait", "waitLatest"] | None = Field(
        None,
        description="What becomes of a trigger that comes due while a run of the job is not over: `allow` "
        "(default) runs it beside the other, `skip` records it as skipped, `wait` runs it afterwards, in "
        "the order in which they were due, `waitLatest` has only the newest wait.",
    )
    wait_limit: int | None = Field(
        None,
        ge=1,
        le=limits.WAIT_LIMIT_MAX,
        description="With `overlap: wait`: how many triggers may wait for a run; what comes beyond is "
        f"skipped. A whole number from 1 to {limits.WAIT_LIMIT_MAX}, {limits.WAIT_LIMIT_DEFAULT} by default.",
    )
    catchup: CatchUp | None = Field(
        None, description="What becomes of occurrences that an outage made late: an object."
    )
    completion: Literal["sync", "async"] | None = Field(
        None,
        description="`async`: a consumer may answer 202 and report later; `sync` (default): 202 is success.",
    )
    heartbeat_timeout: DurationText | None = Field(
        None,
        description=f"With `completion: async`: how long a consumer may be silent; 5m by default, at most "
        f"{limits.RUN_DAYS_MAX}d. {DURATION_RULE}",
    )
    max_run_time: DurationText | None = Field(
        None,
        description=f"With `completion: async`: how long a consumer may take; 24h by default, at most "
        f"{limits.RUN_DAYS_MAX}d. {DURATION_RULE}",
    )
    on_complete: EndTarget | None = Field(
        None,
        description="Who is told of the end of every run: an object with its type, http, sqs or job.",
    )
    on_error: Literal["continue", "pause"] | None = Field(
        None,
        description="What becomes of the job when a trigger is given up: `continue` (default) or `pause`.",
    )
    history: Literal["outcome", "full", "failures"] | None = Field(
        None,
        description="`outcome` (default) records every run, `full` the beginning of each first attempt too, "
        "`failures` leaves out what succeeds at once.",
    )
    history_retention: DurationText | None = Field(
        None,
        description=f"How long a run's record is kept, a day at least; 30d by default, at most "
        f"{limits.RETENTION_DAYS_MAX}d. {DURATION_RULE}",
    )
    retention: DurationText | None = Field(
        None,
        description=f"How long a completed job is kept; 7d by default, at most {limits.RETENTION_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    delete_after_completion: bool | None = Field(
        None, description="Whether the job is deleted once its last run is over; false by default."
    )
    labels: (
        dict[
            Annotated[
                str,
                Field(
                    min_length=1, max_length=limits.LABEL_LENGTH_MAX, json_schema_extra={"pattern": "^[^:]*$"}
                ),
            ],
            Annotated[str, Field(max_length=limits.LABEL_LENGTH_MAX)],
        ]
        | None
    ) = Field(
        None,
        max_length=limits.LABELS_MAX,
        description=f"Up to {limits.LABELS_MAX} names with a text each, of up to {limits.LABEL_LENGTH_MAX} "
        "characters; a name has no colon.",
    )
    description: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )


class JobPatchDocument(JobDocument):
    """Fields of a job that are written anew; null removes one."""

    target: Target | None = Field(  # type: ignore[assignment]  # what is written of a patch may lack it
        None, description="Where it is delivered to, replaced whole: an object with its type, http or sqs."
    )


class PauseDocument(Document):
    """Why a job is paused."""

    reason: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )


class ResumeDocument(Document):
    """How a job is resumed."""

    catchup: Literal["latest", "all", "none"] | None = Field(
        None,
        description="What fires of what fell due during the pause: `latest` (the newest), `all` or `none`; "
        "as the job's own `catchup` says by default.",
    )


class TriggerDocument(Document):
    """What a trigger on demand delivers."""

    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes, delivered instead of the job's data.",
    )


class BackfillDocument(Document):
    """Which past triggers to make."""

    from_: InstantText = Field(
        alias="from", description="The first instant of the span (RFC 3339 with its offset)."
    )
    to: InstantText = Field(description="Where the span ends: this instant is no part of it. It is past.")


class NamedJobDocument(JobDocument):
    """A job and its name, as one of many."""

    name: Name = Field(description="The job's name.")


#: Each is judged by itself: what is no job is told among the results.
_ONE_OF_MANY: dict[str, Any] = {"anyOf": [{"$ref": "#/components/schemas/NamedJobDocument"}, {}]}


class BulkDocument(Document):
    """Many jobs at once."""

    jobs: list[Annotated[Any, WithJsonSchema(_ONE_OF_MANY)]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name, no name twice.",
    )


class CompletionDocument(Document):
    """What a consumer completes a run with."""

    result: Any = Field(
        None,
        description=f"Any JSON up to {limits.RESULT_BYTES_MAX:,} bytes (resultBytesMax). It is kept with the "
        "run and handed to `onComplete`.",
    )


class FailureDocument(Document):
    """What a consumer says of an attempt that has failed."""

    reason: str | None = Field(
        None,
        max_length=limits.REASON_LENGTH_MAX,
        description=f"Why, for people: up to {limits.REASON_LENGTH_MAX} characters.",
    )
    retry: bool | None = Field(
        None, description="Whether another attempt may help; true by default. With false the run is given up."
    )


#: A schedule that is not stored has no other way to be due.
_IS_TIMED: dict[str, Any] = {
    "anyOf": [
        {"required": ["schedule"], "properties": {"schedule": {"type": ["string", "object", "array"]}}},
        {"required": ["dueTime"], "properties": {"dueTime": {"type": "string"}}},
    ]
}


class PreviewDocument(Timing):
    """A schedule that is not stored: `schedule`, `dueTime` or both are required."""

    model_config = ConfigDict(json_schema_extra=_IS_TIMED)

    after: InstantText | None = Field(
        None,
        description="Due times after this instant (RFC 3339 with its offset). By default those from now on, "
        "the one that is due at this instant among them. An instant in the past: the schedule is read as if "
        "it had been written then.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=limits.OCCURRENCES_MAX,
        description=f"How many; 1 to {limits.OCCURRENCES_MAX}, {limits.PAGE_ITEMS_DEFAULT} by default.",
    )


class KeyDocument(Document):
    """A key to be made."""

    namespace: NameOrAll = Field(
        description="The namespace it is for; * for every one, which only a key for * can make."
    )
    role: Role = Field(description="What it may do: read, write (read too) or admin (all of it).")
    expires_in: DurationText | None = Field(
        None,
        description=f"How long it works; for ever by default, at most {limits.KEY_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    description: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )
