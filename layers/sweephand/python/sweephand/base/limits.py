"""Every limit on what a caller may ask, a number each, in one place; `/v1/limits` shows this table."""

from typing import Final

NAME_LENGTH_MAX: Final = 128
JOBS_PER_BULK_MAX: Final = 100
BODY_BYTES_MAX: Final = 1_048_576
DATA_BYTES_MAX: Final = 262_144
#: A message of SQS has 256 KiB at most, unless its queue was made to take more: since August 2025 it can be
#: 1 MiB, but queues that are older keep what they were made for. SQS counts the body and, of each attribute,
#: name, type and value: the attribute `sweephand` has less than 1 KiB.
SQS_DATA_BYTES_MAX: Final = 262_144 - 1_024
DATA_INLINE_BYTES_MAX: Final = 2_048
#: All of a job but its data, as compact JSON: every trigger reads it, and a page of 200 jobs, each byte of
#: which may take two in a function's answer, has to stay below the 6 MB that one may have.
DEFINITION_BYTES_MAX: Final = 12_288
JSON_DEPTH_MAX: Final = 64
SCHEDULE_LENGTH_MAX: Final = 1_000
INSTANTS_MAX: Final = 100
URL_LENGTH_MAX: Final = 2_048
HEADERS_MAX: Final = 30
HEADER_BYTES_MAX: Final = 8_192
LABELS_MAX: Final = 20
LABEL_LENGTH_MAX: Final = 128
DESCRIPTION_LENGTH_MAX: Final = 512
REASON_LENGTH_MAX: Final = 512
#: What a consumer completes a run with: it stays in the run's item, and travels in the notice of its end.
RESULT_BYTES_MAX: Final = 2_048
TARGET_TIMEOUT_S_MAX: Final = 60
RETRY_ATTEMPTS_MAX: Final = 100
RETRY_MULTIPLIER_MAX: Final = 100
RETRY_DAYS_MAX: Final = 30
#: The greatest number that every reader of JSON holds exactly.
REPEATS_MAX: Final = 2**53 - 1
PERIOD_S_MIN: Final = 1
#: A day, as EventBridge's flexible window.
JITTER_S_MAX: Final = 86_400
#: Triggers of one job that wait for a run of it: each change of their line writes all of them.
WAIT_LIMIT_DEFAULT: Final = 100
WAIT_LIMIT_MAX: Final = 1_000
#: Over what any two clocks may differ by: a sweep whose clock is ahead must not skip what an update, a
#: moment later by another clock, takes away from the revision that skipped it.
CATCHUP_WINDOW_S_MIN: Final = 120
#: As long as timers are kept: what an outage leaves behind for longer is not found by a sweep.
CATCHUP_WINDOW_DAYS_MAX: Final = 14
RETENTION_DAYS_MAX: Final = 365
RUN_DAYS_MAX: Final = 30
KEY_DAYS_MAX: Final = 3_650
PAGE_ITEMS_DEFAULT: Final = 50
PAGE_ITEMS_MAX: Final = 200
OCCURRENCES_MAX: Final = 200
SIGNING_SECRETS_MAX: Final = 3
#: Jobs that follow one another, each triggered by the end of the one before. Lambda's own detection of loops
#: is off (template.yaml), since putting a message back is one to it: this ends those that nobody meant.
CHAIN_LENGTH_MAX: Final = 100
#: Triggers of one backfill: each is a message, and a delivery.
BACKFILL_TRIGGERS_MAX: Final = 100_000
#: Jobs and runs that one call about many looks at.
BULK_EXAMINED_MAX: Final = 1_000


def table() -> dict[str, int]:
    """The limits by their names outside: camelCase, the unit in the name."""
    return {
        "nameLengthMax": NAME_LENGTH_MAX,
        "jobsPerBulkMax": JOBS_PER_BULK_MAX,
        "bodyBytesMax": BODY_BYTES_MAX,
        "dataBytesMax": DATA_BYTES_MAX,
        "sqsDataBytesMax": SQS_DATA_BYTES_MAX,
        "definitionBytesMax": DEFINITION_BYTES_MAX,
        "jsonDepthMax": JSON_DEPTH_MAX,
        "scheduleLengthMax": SCHEDULE_LENGTH_MAX,
        "instantsMax": INSTANTS_MAX,
        "urlLengthMax": URL_LENGTH_MAX,
        "headersMax": HEADERS_MAX,
        "headerBytesMax": HEADER_BYTES_MAX,
        "labelsMax": LABELS_MAX,
        "labelLengthMax": LABEL_LENGTH_MAX,
        "descriptionLengthMax": DESCRIPTION_LENGTH_MAX,
        "reasonLengthMax": REASON_LENGTH_MAX,
        "resultBytesMax": RESULT_BYTES_MAX,
        "targetTimeoutSecondsMax": TARGET_TIMEOUT_S_MAX,
        "retryAttemptsMax": RETRY_ATTEMPTS_MAX,
        "retryMultiplierMax": RETRY_MULTIPLIER_MAX,
        "retryDaysMax": RETRY_DAYS_MAX,
        "repeatsMax": REPEATS_MAX,
        "periodSecondsMin": PERIOD_S_MIN,
        "jitterSecondsMax": JITTER_S_MAX,
        "waitLimitDefault": WAIT_LIMIT_DEFAULT,
        "waitLimitMax": WAIT_LIMIT_MAX,
        "catchupWindowSecondsMin": CATCHUP_WINDOW_S_MIN,
        "catchupWindowDaysMax": CATCHUP_WINDOW_DAYS_MAX,
        "retentionDaysMax": RETENTION_DAYS_MAX,
        "runDaysMax": RUN_DAYS_MAX,
        "keyDaysMax": KEY_DAYS_MAX,
        "pageItemsDefault": PAGE_ITEMS_DEFAULT,
        "pageItemsMax": PAGE_ITEMS_MAX,
        "occurrencesMax": OCCURRENCES_MAX,
        "signingSecretsMax": SIGNING_SECRETS_MAX,
        "chainLengthMax": CHAIN_LENGTH_MAX,
        "backfillTriggersMax": BACKFILL_TRIGGERS_MAX,
        "bulkExaminedMax": BULK_EXAMINED_MAX,
    }
