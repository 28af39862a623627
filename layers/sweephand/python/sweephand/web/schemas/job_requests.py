"""The bodies that write jobs: a job, a patch of a job, and a bulk write."""

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, WithJsonSchema

from sweephand.base import limits
from sweephand.base.instants import DAY_MS, HOUR_MS
from sweephand.jobs import field_bounds
from sweephand.jobs.labels import LABELS_MEANING, LABELS_SCHEMA
from sweephand.model.definition import (
    CATCH_UP_DEFAULT,
    HEARTBEAT_TIMEOUT_DEFAULT_MS,
    HISTORY_RETENTION_DEFAULT_MS,
    HISTORY_RETENTION_MIN_MS,
    MAX_RUN_TIME_DEFAULT_MS,
    RETENTION_DEFAULT_MS,
    RETENTION_MIN_MS,
    RETRY_DEFAULT,
    CatchUpMode,
    OverlapMode,
)
from sweephand.model.policy_names import PRIORITY_DEFAULT, Priority
from sweephand.targets.registry import either, end_target_types, target_types
from sweephand.web.schemas.formats import (
    DescriptionText,
    DurationText,
    Name,
    UrlText,
    bounded,
    duration_text,
)
from sweephand.web.schemas.request_body import DURATION_RULE, RequestBody
from sweephand.web.schemas.schedule_requests import Timing
from sweephand.web.schemas.target_schemas import EndTarget, Target


def _duration(meaning: str, default_ms: int, days_max: int) -> Any:
    """A field for a duration. Its description states the default and the longest duration."""
    default = duration_text(default_ms)
    return Field(None, description=f"{meaning}; {default} by default, at most {days_max}d. {DURATION_RULE}")


class RetryRequest(RequestBody):
    """The attempts at a trigger: their number, their delays, and for how long they go on."""

    max_attempts: Annotated[int, bounded("integer", field_bounds.MAX_ATTEMPTS)] | None = Field(
        None, description=field_bounds.MAX_ATTEMPTS.meaning
    )
    max_age: DurationText | None = _duration(
        "How long after the first attempt the last attempt may begin",
        RETRY_DEFAULT.age_max_ms,
        limits.RETRY_DAYS_MAX,
    )
    initial_delay: DurationText | None = _duration(
        "The delay after the first attempt", RETRY_DEFAULT.initial_delay_ms, limits.RETRY_DAYS_MAX
    )
    multiplier: Annotated[FiniteFloat, bounded("number", field_bounds.MULTIPLIER)] | None = Field(
        None, description=field_bounds.MULTIPLIER.meaning
    )
    max_delay: DurationText | None = _duration(
        "The longest delay", RETRY_DEFAULT.delay_max_ms, limits.RETRY_DAYS_MAX
    )


class CatchUpRequest(RequestBody):
    """The rule for occurrences that an outage of the stack has made late."""

    mode: CatchUpMode | None = Field(
        None,
        description="Which of the occurrences fire that are more than `window` late: `latest` (default) is "
        "the newest, `all` is each of them, `none` is none. One record shows all others as skipped.",
    )
    window: DurationText | None = Field(
        None,
        description="An occurrence that is at most so late fires in any case; "
        f"{duration_text(CATCH_UP_DEFAULT.window_ms)} by default, at least "
        f"{limits.CATCHUP_WINDOW_S_MIN}s, at most {limits.CATCHUP_WINDOW_DAYS_MAX}d. {DURATION_RULE}",
    )


class BatchRequest(RequestBody):
    """How many triggers each occurrence has, and over which time they are spread."""

    count: Annotated[int, bounded("integer", field_bounds.BATCH_COUNT)] = Field(
        description=field_bounds.BATCH_COUNT.meaning
    )
    window: DurationText | None = Field(
        None,
        description="The time over which the triggers of an occurrence are spread evenly: trigger i is due "
        "i * window / count after the occurrence. Without it all of them are due at once. It must be shorter "
        "than the time between two occurrences, and at most "
        f"{limits.BATCH_WINDOW_DAYS_MAX}d. {DURATION_RULE}",
    )


class JobRequest(Timing):
    """A job as the caller writes it. A job with neither `schedule` nor `dueTime` fires only on demand."""

    target: Target | None = Field(
        None,
        description="Where Sweephand delivers the triggers: an object with its type, "
        f"{either(target_types())}. Without it, the default target of the namespace receives them.",
    )
    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes. The consumer gets equal JSON with "
        "exact numbers, and the same bytes at every attempt. For a job without data it gets null.",
    )
    retry: RetryRequest | None = Field(
        None, description="How Sweephand tries a failed trigger again: an object."
    )
    dead_letter_queue: UrlText | None = Field(None, description=field_bounds.DEAD_LETTER_QUEUE.meaning)
    batch: BatchRequest | None = Field(
        None,
        description="Gives each occurrence many triggers, each with its own index and id: an object.",
    )
    overlap: OverlapMode | None = Field(
        None,
        description="What happens to a trigger that is due while a run of the job is not over. `allow` "
        "(default) delivers it at once. `skip` records it as skipped. `wait` delivers it after that run; "
        "the triggers wait in the order of their due times. `waitLatest` lets only the newest trigger wait.",
    )
    wait_limit: Annotated[int, bounded("integer", field_bounds.WAIT_LIMIT)] | None = Field(
        None, description=field_bounds.WAIT_LIMIT.meaning
    )
    catchup: CatchUpRequest | None = Field(
        None, description="Which occurrences fire after an outage made them late: an object."
    )
    completion: Literal["sync", "async"] | None = Field(
        None,
        description="`async`: a consumer may answer 202 and send callbacks later; `sync` (default): 202 "
        "is success.",
    )
    heartbeat_timeout: DurationText | None = _duration(
        "With `completion: async`: the longest time from one callback of the consumer to the next",
        HEARTBEAT_TIMEOUT_DEFAULT_MS,
        limits.RUN_DAYS_MAX,
    )
    max_run_time: DurationText | None = _duration(
        "With `completion: async`: the longest time that a run may take",
        MAX_RUN_TIME_DEFAULT_MS,
        limits.RUN_DAYS_MAX,
    )
    on_complete: EndTarget | None = Field(
        None,
        description="The target that Sweephand notifies of the end of every run: an object with its type, "
        f"{either(end_target_types())}.",
    )
    alert_after: DurationText | None = Field(
        None,
        description="The watch on the job: Sweephand sends an alert to `onAlert` if a trigger of the "
        "schedule has not succeeded so long after its due time, whatever the reason. At least "
        f"{limits.ALERT_AFTER_S_MIN}s, at most {limits.ALERT_AFTER_DAYS_MAX}d. {DURATION_RULE}",
    )
    on_alert: Target | None = Field(
        None,
        description="The target that gets the alerts of the watch, with `alertAfter`: an object with its "
        f"type, {either(target_types())}.",
    )
    on_error: Literal["continue", "pause"] | None = Field(
        None,
        description="What happens to the job when Sweephand gives up a trigger: `continue` (default) or "
        "`pause`.",
    )
    policy: Name | None = Field(
        None,
        description="The name of a flow policy of the namespace. The triggers of all jobs that name it share "
        "its limit. A trigger that the limit does not allow yet waits. The policy must exist when the job is "
        "written.",
    )
    priority: Priority | None = Field(
        None,
        description="Which triggers go first where triggers of several jobs wait: `high`, `normal` or `low`; "
        f"`{PRIORITY_DEFAULT}` by default. It orders the triggers of one policy.",
    )
    history: Literal["outcome", "full", "failures"] | None = Field(
        None,
        description="Which runs get records: `outcome` (default) records every run. `full` also records the "
        "beginning of each first attempt. `failures` leaves out runs whose first attempt succeeds.",
    )
    history_retention: DurationText | None = _duration(
        f"How long a run's record is kept, {HISTORY_RETENTION_MIN_MS // DAY_MS} days at least",
        HISTORY_RETENTION_DEFAULT_MS,
        limits.RETENTION_DAYS_MAX,
    )
    retention: DurationText | None = _duration(
        f"How long a completed job is kept, {RETENTION_MIN_MS // HOUR_MS} hour at least",
        RETENTION_DEFAULT_MS,
        limits.RETENTION_DAYS_MAX,
    )
    delete_after_completion: bool | None = Field(
        None, description="Whether Sweephand deletes the job once its last run is over; false by default."
    )
    labels: (
        Annotated[dict[str, str], Field(max_length=limits.LABELS_MAX), WithJsonSchema(LABELS_SCHEMA)] | None
    ) = Field(None, description=LABELS_MEANING)
    description: DescriptionText | None = Field(None, description=field_bounds.DESCRIPTION.meaning)


class JobPatchRequest(JobRequest):
    """The fields of a job that a patch writes. Null removes a field."""

    target: Target | None = Field(
        None,
        description="Where Sweephand delivers the triggers. A patch replaces the whole target: an object "
        "with "
        f"its type, {either(target_types())}.",
    )


class NamedJobRequest(JobRequest):
    """A job and its name, as an entry of a bulk write."""

    name: Name = Field(description="The job's name.")


#: The API validates each entry by itself. The result of an entry that is not a job is a problem.
_ANY_ENTRY: dict[str, Any] = {"anyOf": [{"$ref": "#/components/schemas/NamedJobRequest"}, {}]}


class BulkWriteRequest(RequestBody):
    """The jobs of a bulk write."""

    jobs: list[Annotated[Any, WithJsonSchema(_ANY_ENTRY)]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name. No name may occur twice.",
    )
