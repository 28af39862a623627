"""What callers may write as a job: alone, as a patch, and as one of many."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema

from sweephand.base import limits
from sweephand.base.instants import DAY_MS
from sweephand.model.definition import (
    CATCH_UP_DEFAULT,
    HEARTBEAT_TIMEOUT_DEFAULT_MS,
    HISTORY_RETENTION_DEFAULT_MS,
    HISTORY_RETENTION_MIN_MS,
    MAX_RUN_TIME_DEFAULT_MS,
    RETENTION_DEFAULT_MS,
    RETRY_DEFAULT,
    CatchUpMode,
    OverlapMode,
)
from sweephand.targets.registry import either, end_target_types, target_types
from sweephand.web.schemas.formats import DurationText, Name, UrlText, duration_text
from sweephand.web.schemas.request_body import DURATION_RULE, RequestBody
from sweephand.web.schemas.schedule_requests import Timing
from sweephand.web.schemas.target_schemas import EndTarget, Target

#: Fields that later releases of Sweephand bring. Their error says so, unlike that of an unknown field.
RESERVED_FIELDS: Final = frozenset({"batch", "policy", "priority"})


def _duration(meaning: str, default_ms: int, days_max: int) -> Any:
    """A field that holds a duration, of which the description says the default and the longest."""
    default = duration_text(default_ms)
    return Field(None, description=f"{meaning}; {default} by default, at most {days_max}d. {DURATION_RULE}")


class Retry(RequestBody):
    """How often, how long and how far apart a trigger is tried."""

    max_attempts: int | None = Field(
        None,
        ge=1,
        le=limits.RETRY_ATTEMPTS_MAX,
        description=f"A whole number from 1 to {limits.RETRY_ATTEMPTS_MAX}; "
        f"{RETRY_DEFAULT.attempts_max} by default.",
    )
    max_age: DurationText | None = _duration(
        "How long after the first attempt the last may begin", RETRY_DEFAULT.age_max_ms, limits.RETRY_DAYS_MAX
    )
    initial_delay: DurationText | None = _duration(
        "The delay after the first attempt", RETRY_DEFAULT.initial_delay_ms, limits.RETRY_DAYS_MAX
    )
    multiplier: float | None = Field(
        None,
        ge=1,
        le=limits.RETRY_MULTIPLIER_MAX,
        allow_inf_nan=False,
        description=f"What each delay is longer by; a number from 1 to {limits.RETRY_MULTIPLIER_MAX}, "
        f"{RETRY_DEFAULT.multiplier:g} by default.",
    )
    max_delay: DurationText | None = _duration(
        "The longest delay", RETRY_DEFAULT.delay_max_ms, limits.RETRY_DAYS_MAX
    )


class CatchUp(RequestBody):
    """What becomes of occurrences that are found late, after an outage of the stack."""

    mode: CatchUpMode | None = Field(
        None,
        description="Of those found more than `window` late: `latest` (default) fires the newest, `all` "
        "each, `none` none. The others are recorded as skipped, one record for all of them.",
    )
    window: DurationText | None = Field(
        None,
        description="Up to so late an occurrence fires in any case; "
        f"{duration_text(CATCH_UP_DEFAULT.window_ms)} by default, at least "
        f"{limits.CATCHUP_WINDOW_S_MIN}s, at most {limits.CATCHUP_WINDOW_DAYS_MAX}d. {DURATION_RULE}",
    )


class JobRequest(Timing):
    """A job as its user writes it. With neither `schedule` nor `dueTime` it fires only on demand."""

    target: Target = Field(
        description=f"Where it is delivered to: an object with its type, {either(target_types())}."
    )
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
    overlap: OverlapMode | None = Field(
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
    heartbeat_timeout: DurationText | None = _duration(
        "With `completion: async`: how long a consumer may be silent",
        HEARTBEAT_TIMEOUT_DEFAULT_MS,
        limits.RUN_DAYS_MAX,
    )
    max_run_time: DurationText | None = _duration(
        "With `completion: async`: how long a consumer may take", MAX_RUN_TIME_DEFAULT_MS, limits.RUN_DAYS_MAX
    )
    on_complete: EndTarget | None = Field(
        None,
        description="Who is told of the end of every run: an object with its type, "
        f"{either(end_target_types())}.",
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
    history_retention: DurationText | None = _duration(
        f"How long a run's record is kept, {HISTORY_RETENTION_MIN_MS // DAY_MS} days at least",
        HISTORY_RETENTION_DEFAULT_MS,
        limits.RETENTION_DAYS_MAX,
    )
    retention: DurationText | None = _duration(
        "How long a completed job is kept", RETENTION_DEFAULT_MS, limits.RETENTION_DAYS_MAX
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


class JobPatchRequest(JobRequest):
    """The fields of a job that a patch writes; null removes one."""

    target: Target | None = Field(  # type: ignore[assignment]  # a patch may leave the target out
        None,
        description="Where it is delivered to, replaced whole: an object with its type, "
        f"{either(target_types())}.",
    )


class NamedJobRequest(JobRequest):
    """A job and its name, as one of many."""

    name: Name = Field(description="The job's name.")


#: Each job is judged by itself. An entry that is no job becomes a result with a problem.
_ANY_ENTRY: dict[str, Any] = {"anyOf": [{"$ref": "#/components/schemas/NamedJobRequest"}, {}]}


class BulkWriteRequest(RequestBody):
    """Many jobs at once."""

    jobs: list[Annotated[Any, WithJsonSchema(_ANY_ENTRY)]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name, no name twice.",
    )
