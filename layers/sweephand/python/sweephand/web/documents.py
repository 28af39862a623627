"""What callers may write: the fields of jobs, keys and previews, for checking and for OpenAPI."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from sweephand import limits
from sweephand.access.key import Role

DURATION_RULE = "A Go duration (90s, 1h30m), days (7d) or an ISO 8601 duration (PT90S, P7D)."

#: Fields of the API that later releases of Sweephand bring: told apart from mistakes.
LATER = frozenset(
    {
        "batch",
        "onError",
        "overlap",
        "waitLimit",
        "catchup",
        "completion",
        "heartbeatTimeout",
        "maxRunTime",
        "onComplete",
        "policy",
        "priority",
        "deleteAfterCompletion",
    }
)


class Document(BaseModel):
    """A JSON object of which every field is known; null stands for a field left out."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )


class HttpTarget(Document):
    """An HTTPS endpoint: it receives `data` as the body, signed by Standard Webhooks."""

    type: Literal["http"] = Field(description="An HTTPS endpoint.")
    url: str = Field(
        max_length=limits.URL_LENGTH_MAX,
        description="An https URL of a public address (http and loopback where the stack allows it).",
    )
    method: Literal["POST", "PUT", "PATCH", "GET", "DELETE"] | None = Field(
        None, description="The method; POST by default."
    )
    headers: dict[str, str] | None = Field(
        None,
        max_length=limits.HEADERS_MAX,
        description="Headers to send; those of Standard Webhooks, `sweephand-`, `host` and framing are "
        "Sweephand's. Callers with the role `read` see the names, not the values.",
    )
    timeout: str | None = Field(
        None, description=f"A duration of at most {limits.TARGET_TIMEOUT_S_MAX} s; 15s by default."
    )


class SqsTarget(Document):
    """An SQS queue: each trigger is a message of `data`, with one attribute `sweephand`."""

    type: Literal["sqs"] = Field(description="An SQS queue.")
    queue_url: str = Field(description="The URL of the queue.")
    message_group_id: str | None = Field(None, description="For a FIFO queue: the message group.")


class Retry(Document):
    """How often, how long and how far apart a trigger is tried."""

    max_attempts: int | None = Field(
        None,
        ge=1,
        le=limits.RETRY_ATTEMPTS_MAX,
        description=f"A whole number from 1 to {limits.RETRY_ATTEMPTS_MAX}; 10 by default.",
    )
    max_age: str | None = Field(
        None,
        description=f"How long after the first attempt the last may begin; 24h by default, at most "
        f"{limits.RETRY_DAYS_MAX}d. {DURATION_RULE}",
    )
    initial_delay: str | None = Field(
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
    max_delay: str | None = Field(
        None,
        description=f"The longest delay; 6h by default, at most {limits.RETRY_DAYS_MAX}d. {DURATION_RULE}",
    )


Target = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "oneOf": [
                {"$ref": "#/components/schemas/HttpTarget"},
                {"$ref": "#/components/schemas/SqsTarget"},
            ],
            "discriminator": {
                "propertyName": "type",
                "mapping": {
                    "http": "#/components/schemas/HttpTarget",
                    "sqs": "#/components/schemas/SqsTarget",
                },
            },
        }
    ),
]

_SCHEDULE = (
    "When it recurs. Text: a cron expression of 5 or 6 fields (seconds first), a macro such as @daily, "
    "`@every 1h30m`, EventBridge's `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or "
    "`at(2027-03-01T09:00:00)`, or an ISO 8601 repetition such as `R4/PT3S` or "
    "`R/2027-01-01T00:00:00Z/P1D`; `CRON_TZ=Europe/Riga ` before it sets the zone. An object: cron's fields "
    f"by name. A list: up to {limits.INSTANTS_MAX} instants. Left out for a one-off, which has a dueTime."
)
_FIELD_NAMES = ("second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year")
#: What a schedule may be is judged by the schedules alone, which know each form.
Schedule = Annotated[
    Any,
    WithJsonSchema(
        {
            "oneOf": [
                {"type": "string", "maxLength": limits.SCHEDULE_LENGTH_MAX},
                {
                    "type": "object",
                    "properties": {name: {"type": ["string", "integer"]} for name in _FIELD_NAMES},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
                {
                    "type": "array",
                    "items": {"type": "string", "format": "date-time"},
                    "minItems": 1,
                    "maxItems": limits.INSTANTS_MAX,
                },
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
    timezone: str | None = Field(None, max_length=64, description=_TIMEZONE)
    due_time: str | None = Field(None, max_length=64, description=_DUE_TIME)
    ttl: str | None = Field(None, max_length=64, description=_TTL)
    repeats: int | None = Field(None, ge=1, le=limits.REPEATS_MAX, description=_REPEATS)
    dst: Dst | None = Field(None, description=_DST)
    jitter: str | None = Field(None, max_length=64, description=_JITTER)


class JobDocument(Timing):
    """A job as its user writes it. `target` and one of `schedule` and `dueTime` are required."""

    target: Target = Field(description="Where it is delivered to: an object with its type, http or sqs.")
    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes. The consumer gets equal JSON, numbers "
        "exact, the same bytes at every attempt; without data it gets null.",
    )
    retry: Retry | None = Field(None, description="How a failed trigger is tried again: an object.")
    dead_letter_queue: str | None = Field(
        None,
        max_length=limits.URL_LENGTH_MAX,
        description="The URL of the SQS queue for what could not be delivered; the stack's by default.",
    )
    history: Literal["outcome", "failures"] | None = Field(
        None, description="`outcome` (default) records every run, `failures` leaves successes out."
    )
    history_retention: str | None = Field(
        None,
        description=f"How long a run's record is kept; 30d by default, at most "
        f"{limits.RETENTION_DAYS_MAX}d. {DURATION_RULE}",
    )
    retention: str | None = Field(
        None,
        description=f"How long a completed job is kept; 7d by default, at most {limits.RETENTION_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    labels: (
        dict[
            Annotated[str, Field(min_length=1, max_length=limits.LABEL_LENGTH_MAX)],
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


class NamedJobDocument(JobDocument):
    """A job and its name, as one of many."""

    name: str = Field(description="The job's name.")


class BulkDocument(Document):
    """Many jobs at once."""

    jobs: list[Annotated[Any, WithJsonSchema({"$ref": "#/components/schemas/NamedJobDocument"})]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name, no name twice.",
    )


class PreviewDocument(Timing):
    """A schedule that is not stored."""

    after: str | None = Field(
        None, description="Due times after this instant (RFC 3339 with its offset); now by default."
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=limits.OCCURRENCES_MAX,
        description=f"How many; 1 to {limits.OCCURRENCES_MAX}, {limits.PAGE_ITEMS_DEFAULT} by default.",
    )


class KeyDocument(Document):
    """A key to be made."""

    namespace: str = Field(
        description="The namespace it is for; * for every one, which only a key for * can make."
    )
    role: Role = Field(description="What it may do: read, write (read too) or admin (all of it).")
    expires_in: str | None = Field(
        None,
        description=f"How long it works; for ever by default, at most {limits.KEY_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    description: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )
