"""Which fields a job has, in the order in which they are judged."""

from typing import Final, get_args

from sweephand.base import limits
from sweephand.base.instants import DAY_MS, HOUR_MS
from sweephand.base.names import NAME_SCHEMA, text_schema
from sweephand.jobs.fields.field import (
    DURATION_RULE,
    Duration,
    Field,
    Flag,
    Json,
    Number,
    Object,
    OneOf,
    TargetOf,
    Text,
    Texts,
    duration,
    fit_in_delivery,
    goes_with,
    has_no_colons,
    is_name,
    is_queue,
    is_written_as_schedule,
    needs_times,
    not_with_batch,
    only_with,
    suits_a_watch,
    takes_data,
)
from sweephand.jobs.fields.timing import TIMING
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
from sweephand.targets.url import URL_SCHEMA

#: A text for people: the description of a job or of a key, and the reason of a pause.
DESCRIPTION: Final = Text(
    {"type": "string", "maxLength": limits.DESCRIPTION_LENGTH_MAX}, limits.DESCRIPTION_LENGTH_MAX
)
DESCRIPTION_MEANING: Final = f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters."

RETRY: Final = Object(
    "RetryRequest",
    (
        Field(
            "maxAttempts",
            Number(1, limits.RETRY_ATTEMPTS_MAX),
            f"A whole number from 1 to {limits.RETRY_ATTEMPTS_MAX}; {RETRY_DEFAULT.attempts_max} by default.",
        ),
        duration(
            "maxAge",
            Duration("retryDaysMax"),
            "How long after the first attempt the last attempt may begin",
            RETRY_DEFAULT.age_max_ms,
        ),
        duration(
            "initialDelay",
            Duration("retryDaysMax", may_be_zero=True),
            "The delay after the first attempt",
            RETRY_DEFAULT.initial_delay_ms,
        ),
        Field(
            "multiplier",
            Number(1, limits.RETRY_MULTIPLIER_MAX, is_whole=False),
            "The factor from each delay to the next; a number from 1 to "
            f"{limits.RETRY_MULTIPLIER_MAX}, {RETRY_DEFAULT.multiplier:g} by default.",
        ),
        duration(
            "maxDelay",
            Duration("retryDaysMax", may_be_zero=True),
            "The longest delay",
            RETRY_DEFAULT.delay_max_ms,
        ),
    ),
)

BATCH: Final = Object(
    "BatchRequest",
    (
        Field(
            "count",
            Number(1, limits.BATCH_COUNT_MAX),
            f"How many triggers each occurrence has; a whole number from 1 to {limits.BATCH_COUNT_MAX}.",
            is_required=True,
        ),
        Field(
            "window",
            Duration("batchWindowDaysMax"),
            "The time over which the triggers of an occurrence are spread evenly: trigger i is due "
            "i * window / count after the occurrence. Without it all of them are due at once. It must be "
            "shorter than the time between two occurrences, and at most "
            f"{limits.BATCH_WINDOW_DAYS_MAX}d. {DURATION_RULE}",
        ),
    ),
)

CATCH_UP: Final = Object(
    "CatchUpRequest",
    (
        Field(
            "mode",
            OneOf(get_args(CatchUpMode)),
            "Which of the occurrences fire that are more than `window` late: `latest` (default) is "
            "the newest, `all` is each of them, `none` is none. One record shows all others as skipped.",
        ),
        duration(
            "window",
            Duration("catchupWindowDaysMax", "catchupWindowSecondsMin"),
            "An occurrence that is at most so late fires in any case",
            CATCH_UP_DEFAULT.window_ms,
        ),
    ),
)

LABELS: Final = Texts(
    limits.LABELS_MAX,
    limits.LABEL_LENGTH_MAX,
    {
        "type": "object",
        "maxProperties": limits.LABELS_MAX,
        "propertyNames": {"minLength": 1, "maxLength": limits.LABEL_LENGTH_MAX, "pattern": "^[^:]*$"},
        "additionalProperties": {"type": "string", "maxLength": limits.LABEL_LENGTH_MAX},
    },
)

#: Every field of a job. A new field is registered here and nowhere else.
FIELDS: Final = (
    *TIMING,
    Field(
        "target",
        TargetOf(target_types, has_body=False),
        "Where Sweephand delivers the triggers: an object with its type, "
        f"{either(target_types())}. Without it, the default target of the namespace receives them.",
        (takes_data,),
    ),
    Field(
        "data",
        Json(),
        f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes. The consumer gets equal JSON with "
        "exact numbers, and the same bytes at every attempt. For a job without data it gets null.",
    ),
    Field("retry", RETRY, "How Sweephand tries a failed trigger again: an object."),
    Field(
        "deadLetterQueue",
        Text(URL_SCHEMA, limits.URL_LENGTH_MAX),
        "The URL of the SQS queue for triggers that Sweephand has given up; by default the stack's own.",
        (is_queue,),
    ),
    Field(
        "batch",
        BATCH,
        "Gives each occurrence many triggers, each with its own index and id: an object.",
    ),
    Field(
        "overlap",
        OneOf(get_args(OverlapMode)),
        "What happens to a trigger that is due while a run of the job is not over. `allow` "
        "(default) delivers it at once. `skip` records it as skipped. `wait` delivers it after that run; "
        "the triggers wait in the order of their due times. `waitLatest` lets only the newest trigger wait.",
        (
            not_with_batch(
                "The triggers of a batch run beside each other. Leave overlap out, or leave batch out.",
                allowed="allow",
            ),
        ),
    ),
    Field(
        "waitLimit",
        Number(1, limits.WAIT_LIMIT_MAX),
        "With `overlap: wait`: how many triggers may wait for a run. Sweephand skips any further trigger. "
        f"A whole number from 1 to {limits.WAIT_LIMIT_MAX}, {limits.WAIT_LIMIT_DEFAULT} by default.",
        (only_with("overlap", "wait"),),
    ),
    Field(
        "catchup",
        CATCH_UP,
        "Which occurrences fire after an outage made them late: an object.",
        (needs_times,),
    ),
    Field(
        "completion",
        OneOf(("sync", "async")),
        "`async`: a consumer may answer 202 and send callbacks later; `sync` (default): 202 is success.",
    ),
    duration(
        "heartbeatTimeout",
        Duration("runDaysMax"),
        "With `completion: async`: the longest time from one callback of the consumer to the next",
        HEARTBEAT_TIMEOUT_DEFAULT_MS,
        only_with("completion", "async"),
    ),
    duration(
        "maxRunTime",
        Duration("runDaysMax"),
        "With `completion: async`: the longest time that a run may take",
        MAX_RUN_TIME_DEFAULT_MS,
        only_with("completion", "async"),
    ),
    Field(
        "onComplete",
        TargetOf(end_target_types, has_body=True),
        "The target that Sweephand notifies of the end of every run: an object with its type, "
        f"{either(end_target_types())}.",
    ),
    Field(
        "alertAfter",
        Duration("alertAfterDaysMax", "alertAfterSecondsMin"),
        "The watch on the job: Sweephand sends an alert to `onAlert` if a trigger of the "
        "schedule has not succeeded so long after its due time, whatever the reason. At least "
        f"{limits.ALERT_AFTER_S_MIN}s, at most {limits.ALERT_AFTER_DAYS_MAX}d. {DURATION_RULE}",
        (
            needs_times,
            goes_with("onAlert", "the target that gets the alerts"),
            not_with_batch(
                "Not supported with batch yet. Leave it out: onComplete tells of a batch that has ended."
            ),
        ),
    ),
    Field(
        "onAlert",
        TargetOf(target_types, has_body=True),
        "The target that gets the alerts of the watch, with `alertAfter`: an object with its "
        f"type, {either(target_types())}.",
        (goes_with("alertAfter", "the time in which a trigger must succeed, such as 10m"),),
    ),
    Field(
        "onError",
        OneOf(("continue", "pause")),
        "What happens to the job when Sweephand gives up a trigger: `continue` (default) or `pause`.",
    ),
    Field(
        "policy",
        Text(NAME_SCHEMA),
        "The name of a flow policy of the namespace. The triggers of all jobs that name it share "
        "its limit. A trigger that the limit does not allow yet waits. The policy must exist when the job is "
        "written.",
        (is_name,),
    ),
    Field(
        "priority",
        OneOf(get_args(Priority)),
        "Which triggers go first where triggers of several jobs wait: `high`, `normal` or `low`; "
        f"`{PRIORITY_DEFAULT}` by default. It orders the triggers of one policy.",
    ),
    Field(
        "history",
        OneOf(("outcome", "full", "failures")),
        "Which runs get records: `outcome` (default) records every run. `full` also records the "
        "beginning of each first attempt. `failures` leaves out runs whose first attempt succeeds.",
        (suits_a_watch,),
    ),
    duration(
        "historyRetention",
        Duration("retentionDaysMax"),
        f"How long a run's record is kept, {HISTORY_RETENTION_MIN_MS // DAY_MS} days at least",
        HISTORY_RETENTION_DEFAULT_MS,
    ),
    duration(
        "retention",
        Duration("retentionDaysMax", may_be_zero=True),
        f"How long a completed job is kept, {RETENTION_MIN_MS // HOUR_MS} hour at least",
        RETENTION_DEFAULT_MS,
    ),
    Field(
        "deleteAfterCompletion",
        Flag(),
        "Whether Sweephand deletes the job once its last run is over; false by default.",
        (
            needs_times,
            not_with_batch(
                "Not supported with batch yet. Leave it out: retention says how long a completed job is "
                "kept.",
                allowed=False,
            ),
        ),
    ),
    Field(
        "labels",
        LABELS,
        f"Up to {limits.LABELS_MAX} names with a text each, of up to {limits.LABEL_LENGTH_MAX} characters; a "
        "name has no colon. Each delivery carries them.",
        (has_no_colons, fit_in_delivery),
    ),
    Field("description", DESCRIPTION, DESCRIPTION_MEANING),
    Field(
        "eventbridge",
        Text(text_schema(r"^\{.*\}$", limits.DEFINITION_BYTES_MAX)),
        "What a client of EventBridge Scheduler wrote, in a form of Sweephand's own. Leave it out.",
        (is_written_as_schedule,),
    ),
)
