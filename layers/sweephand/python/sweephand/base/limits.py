"""Every limit on what a caller may ask; `/v1/limits` shows this table."""

from typing import Final

NAME_LENGTH_MAX: Final = 128
JOBS_PER_BULK_MAX: Final = 100
BODY_BYTES_MAX: Final = 1_048_576
#: A body that has neither jobs nor `data`, and is no calendar. The largest are the settings of a namespace,
#: which have two lists of 50 entries and a target with 8 KB of headers.
SMALL_BODY_BYTES_MAX: Final = 65_536
#: The body of a callback, or of a call that takes none. Anybody can send a callback, because the API checks
#: the run token after the body. The result in it has 2 KB as compact JSON.
CALLBACK_BODY_BYTES_MAX: Final = 16_384
DATA_BYTES_MAX: Final = 262_144
#: A queue of SQS takes messages of 256 KiB by default. Since August 2025 a queue can be set to take 1 MiB,
#: but older queues keep their setting. SQS counts the body, and the name, type and value of each attribute.
#: The attribute `sweephand` without labels takes less than 1 KiB of it.
SQS_DATA_BYTES_MAX: Final = 262_144 - 1_024
#: SNS counts a message as SQS does (AWS, Publish: Message).
SNS_DATA_BYTES_MAX: Final = SQS_DATA_BYTES_MAX
#: An event of Lambda or EventBridge and the input of Step Functions have 256 KiB at least in every partition
#: of AWS. Beside `data` and labels they hold the trigger's names, a source and a detail type, in less than
#: 2 KiB.
ENVELOPE_DATA_BYTES_MAX: Final = 262_144 - 2_048
DATA_INLINE_BYTES_MAX: Final = 2_048
#: A job without its data, as compact JSON. Every trigger reads the whole job. A page of 200 jobs must also
#: stay below 6 MB, Lambda's limit for a response. In a response, a byte of a job may take two bytes.
DEFINITION_BYTES_MAX: Final = 12_288
JSON_DEPTH_MAX: Final = 64
#: The values of a job without its `data`, at any depth, or of another body. The largest job has about 400.
FIELD_VALUES_MAX: Final = 1_000
#: The fields that one problem names. A body has room for 100,000 unknown fields.
PROBLEM_ERRORS_MAX: Final = 50
#: A problem as compact JSON. One bulk write can lead to a hundred problems, and Lambda limits the answer of a
#: function to 6 MB.
PROBLEM_BYTES_MAX: Final = 32_768
SCHEDULE_LENGTH_MAX: Final = 1_000
INSTANTS_MAX: Final = 100
URL_LENGTH_MAX: Final = 2_048
HEADERS_MAX: Final = 30
HEADER_BYTES_MAX: Final = 8_192
#: The longest pause that ends by itself: a year, leap years too. A later end is more likely a slip.
PAUSE_DAYS_MAX: Final = 366
LABELS_MAX: Final = 20
LABEL_LENGTH_MAX: Final = 128
#: The labels of a job as JSON in ASCII, as each delivery carries them. Many servers take 8 KiB of headers in
#: all. 20 labels of 128 letters fit.
LABELS_BYTES_MAX: Final = 6_144
DESCRIPTION_LENGTH_MAX: Final = 512
REASON_LENGTH_MAX: Final = 512
#: The result that a consumer reports. The run's item stores it, and the notification of the run's end carries
#: it.
RESULT_BYTES_MAX: Final = 2_048
TARGET_TIMEOUT_S_MAX: Final = 60
#: EventBridge Scheduler makes at most 185 retries after the first attempt.
RETRY_ATTEMPTS_MAX: Final = 186
RETRY_MULTIPLIER_MAX: Final = 100
RETRY_DAYS_MAX: Final = 30
#: The greatest integer that every JSON parser reads exactly.
REPEATS_MAX: Final = 2**53 - 1
PERIOD_S_MIN: Final = 1
#: One day, like EventBridge's flexible time window.
JITTER_S_MAX: Final = 86_400
#: A schedule that fires more often than hourly is not moved from day to day.
CALENDAR_MOVES_PER_DAY_MAX: Final = 24
#: Dates and spans that a calendar lists as closed or open.
CALENDAR_DATES_MAX: Final = 500
#: The days between the first and the last day of a span.
CALENDAR_SPAN_DAYS_MAX: Final = 366
#: The note of a day, and what is kept of a holiday's name.
CALENDAR_NOTE_LENGTH_MAX: Final = 64
#: The values of one field of a calendar, at any depth: a list of spans, each with three fields.
CALENDAR_VALUES_MAX: Final = 4 * CALENDAR_DATES_MAX
#: What a calendar was written as, and the reasons of its days, deflated. They share an item of 400 KB.
CALENDAR_CONTENT_BYTES_MAX: Final = 400_000
#: The text of an iCalendar file.
CALENDAR_ICS_BYTES_MAX: Final = 262_144
#: Its lines and commas. To parse one takes up to 70 µs.
CALENDAR_ICS_VALUES_MAX: Final = 7_500
#: The days of its events, each as often as events have it. A rule counts from the first day of its event.
CALENDAR_ICS_DAYS_MAX: Final = 5_000
#: Its events that recur.
CALENDAR_ICS_RULES_MAX: Final = 50
#: Jobs that the deletion of a calendar looks at. A thousand of them take 24 requests to the table, one after
#: the other, and a call has 20 s.
CALENDAR_JOBS_EXAMINED_MAX: Final = 50_000
#: Countries, or parts of them, whose holidays a calendar has.
CALENDAR_SOURCES_MAX: Final = 10
#: Triggers of one occurrence. The index in a run's name has at most seven digits.
BATCH_COUNT_MAX: Final = 10_000_000
BATCH_WINDOW_DAYS_MAX: Final = 7
#: Requests that one policy lets be open at once. Each ten of them need a function.
POLICY_CONCURRENT_MAX: Final = 10_000
#: The longest key of a gate: `label`, the name of a label, and its value, with a colon between two of them.
GATE_KEY_LENGTH_MAX: Final = 2 * LABEL_LENGTH_MAX + len("label::")
#: Requests of one policy's rate. Its tokens are counted in microseconds.
POLICY_RATE_MAX: Final = 10_000
#: The longest time in which a policy's rate counts.
POLICY_RATE_PER_DAYS_MAX: Final = 1
#: A worker takes the tokens of a rate a second ahead.
POLICY_RATE_PER_S_MIN: Final = 1
#: Failed attempts in a row after which the breaker of a policy opens.
POLICY_BREAKER_FAILURES_MAX: Final = 1_000
#: How often a probe leaves while it is open. Each probe costs some messages and a write.
POLICY_PROBE_AFTER_S_MIN: Final = 5
POLICY_PROBE_AFTER_DAYS_MAX: Final = 1
#: Limits of a namespace that an admin may set.
NAMESPACE_TRIGGERS_PER_MINUTE_MAX: Final = 1_000_000
#: For a namespace without a limit of its own. No stack was measured to deliver more.
NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT: Final = 600_000
#: Stored jobs are counted one by one when the limit is nearly reached. This many take some seconds.
NAMESPACE_JOBS_MAX: Final = 100_000
#: Hosts and networks that an admin may allow the targets of a namespace. Every function reads the list once a
#: minute.
NAMESPACE_HOSTS_MAX: Final = 50
NAMESPACE_NETWORKS_MAX: Final = 50
#: Triggers of one job that wait for a run of that job. Each change of the job's line writes all of them.
WAIT_LIMIT_DEFAULT: Final = 100
WAIT_LIMIT_MAX: Final = 1_000
#: Longer than any difference between two clocks. Otherwise a sweeper whose clock is ahead could skip an
#: occurrence of a revision. An update by a clock that is behind could then give that occurrence to the next
#: revision.
CATCHUP_WINDOW_S_MIN: Final = 120
#: As long as the wheel keeps a timer: after a longer outage, no sweeper finds the occurrence.
CATCHUP_WINDOW_DAYS_MAX: Final = 14
#: A check of the wheel covers a minute at least.
ALERT_AFTER_S_MIN: Final = 60
#: The records of runs and the timers of the wheel are kept for twice as long.
ALERT_AFTER_DAYS_MAX: Final = 7
RETENTION_DAYS_MAX: Final = 365
RUN_DAYS_MAX: Final = 30
KEY_DAYS_MAX: Final = 3_650
#: Windows of a namespace. Every process that delivers reads all of them at once.
WINDOWS_MAX: Final = 20
#: All of them as compact JSON. They share an item of 400 KB with what else is stored of each.
WINDOWS_BYTES_MAX: Final = 380_000
WINDOW_DAYS_MAX: Final = 14
WINDOW_SPREAD_DAYS_MAX: Final = 1
#: How long a rotated key works beside its successor. As long as a rotated signing secret signs.
KEY_OVERLAP_HOURS_DEFAULT: Final = 24
KEY_OVERLAP_DAYS_MAX: Final = 30
#: The rate of a key, if it has one. The gateway lets far fewer requests through by default.
KEY_REQUESTS_PER_MINUTE_MAX: Final = 100_000
PAGE_ITEMS_DEFAULT: Final = 50
PAGE_ITEMS_MAX: Final = 200
OCCURRENCES_MAX: Final = 200
SIGNING_SECRETS_MAX: Final = 3
#: The value of a secret that jobs name. Many servers take 8 KiB of headers in all.
SECRET_LENGTH_MAX: Final = 4_096
#: Jobs in a chain, in which the end of one job's run triggers the next job. Lambda's own loop detection is
#: off (template.yaml), because it also counts messages that Sweephand requeues. This limit ends accidental
#: loops.
CHAIN_LENGTH_MAX: Final = 100
#: Redrives of a run of which its record keeps how each earlier round ended.
REDRIVES_KEPT: Final = 10
#: The attempts that failed of which a run keeps when each was made, and the characters kept of each answer.
#: They travel with the trigger, and an item of 1 KB costs one write unit.
ATTEMPTS_KEPT: Final = 10
ATTEMPT_TEXT_MAX: Final = 64
#: Triggers of one backfill. Each trigger is a message and a delivery.
BACKFILL_TRIGGERS_MAX: Final = 100_000
#: Keys that one list for an admin of a namespace examines. All keys of a stack lie in one partition, which
#: the authorizer reads too. As many lists as the gateway lets through must leave it room (decision 060).
KEYS_EXAMINED_MAX: Final = 1_000
#: Jobs or runs that one bulk call examines.
BULK_EXAMINED_MAX: Final = 1_000
#: Jobs that one list with a filter looks at. It begins with few, and reads eight times as many each time.
LIST_EXAMINED_MAX: Final = 20_000
#: The buckets of a forecast: the minutes of a day.
FORECAST_BUCKETS_MAX: Final = 1_440
FORECAST_BUCKET_S_MIN: Final = 60
#: A schedule that is rarer than this needs no forecast.
FORECAST_DAYS_MAX: Final = 400

#: The steps of one call for stats: the minutes of a day.
STATS_STEPS_MAX: Final = 1_440
STATS_STEP_S_MIN: Final = 60
STATS_STEP_DAYS_MAX: Final = 1


def table() -> dict[str, int]:
    """Each limit by its name in the API: camelCase, with the unit in the name."""
    return {
        "nameLengthMax": NAME_LENGTH_MAX,
        "jobsPerBulkMax": JOBS_PER_BULK_MAX,
        "bodyBytesMax": BODY_BYTES_MAX,
        "smallBodyBytesMax": SMALL_BODY_BYTES_MAX,
        "callbackBodyBytesMax": CALLBACK_BODY_BYTES_MAX,
        "dataBytesMax": DATA_BYTES_MAX,
        "sqsDataBytesMax": SQS_DATA_BYTES_MAX,
        "snsDataBytesMax": SNS_DATA_BYTES_MAX,
        "envelopeDataBytesMax": ENVELOPE_DATA_BYTES_MAX,
        "definitionBytesMax": DEFINITION_BYTES_MAX,
        "jsonDepthMax": JSON_DEPTH_MAX,
        "fieldValuesMax": FIELD_VALUES_MAX,
        "problemErrorsMax": PROBLEM_ERRORS_MAX,
        "problemBytesMax": PROBLEM_BYTES_MAX,
        "scheduleLengthMax": SCHEDULE_LENGTH_MAX,
        "instantsMax": INSTANTS_MAX,
        "urlLengthMax": URL_LENGTH_MAX,
        "headersMax": HEADERS_MAX,
        "headerBytesMax": HEADER_BYTES_MAX,
        "labelsMax": LABELS_MAX,
        "labelsBytesMax": LABELS_BYTES_MAX,
        "labelLengthMax": LABEL_LENGTH_MAX,
        "descriptionLengthMax": DESCRIPTION_LENGTH_MAX,
        "reasonLengthMax": REASON_LENGTH_MAX,
        "pauseDaysMax": PAUSE_DAYS_MAX,
        "resultBytesMax": RESULT_BYTES_MAX,
        "targetTimeoutSecondsMax": TARGET_TIMEOUT_S_MAX,
        "retryAttemptsMax": RETRY_ATTEMPTS_MAX,
        "retryMultiplierMax": RETRY_MULTIPLIER_MAX,
        "retryDaysMax": RETRY_DAYS_MAX,
        "repeatsMax": REPEATS_MAX,
        "periodSecondsMin": PERIOD_S_MIN,
        "jitterSecondsMax": JITTER_S_MAX,
        "calendarMovesPerDayMax": CALENDAR_MOVES_PER_DAY_MAX,
        "calendarDatesMax": CALENDAR_DATES_MAX,
        "calendarValuesMax": CALENDAR_VALUES_MAX,
        "calendarContentBytesMax": CALENDAR_CONTENT_BYTES_MAX,
        "calendarSpanDaysMax": CALENDAR_SPAN_DAYS_MAX,
        "calendarNoteLengthMax": CALENDAR_NOTE_LENGTH_MAX,
        "calendarIcsBytesMax": CALENDAR_ICS_BYTES_MAX,
        "calendarIcsValuesMax": CALENDAR_ICS_VALUES_MAX,
        "calendarIcsDaysMax": CALENDAR_ICS_DAYS_MAX,
        "calendarIcsRulesMax": CALENDAR_ICS_RULES_MAX,
        "calendarSourcesMax": CALENDAR_SOURCES_MAX,
        "calendarJobsExaminedMax": CALENDAR_JOBS_EXAMINED_MAX,
        "batchCountMax": BATCH_COUNT_MAX,
        "batchWindowDaysMax": BATCH_WINDOW_DAYS_MAX,
        "policyConcurrentMax": POLICY_CONCURRENT_MAX,
        "policyRateMax": POLICY_RATE_MAX,
        "policyRatePerSecondsMin": POLICY_RATE_PER_S_MIN,
        "policyRatePerDaysMax": POLICY_RATE_PER_DAYS_MAX,
        "policyBreakerFailuresMax": POLICY_BREAKER_FAILURES_MAX,
        "policyProbeAfterSecondsMin": POLICY_PROBE_AFTER_S_MIN,
        "policyProbeAfterDaysMax": POLICY_PROBE_AFTER_DAYS_MAX,
        "namespaceTriggersPerMinuteDefault": NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
        "namespaceTriggersPerMinuteMax": NAMESPACE_TRIGGERS_PER_MINUTE_MAX,
        "namespaceJobsMax": NAMESPACE_JOBS_MAX,
        "namespaceHostsMax": NAMESPACE_HOSTS_MAX,
        "namespaceNetworksMax": NAMESPACE_NETWORKS_MAX,
        "windowsMax": WINDOWS_MAX,
        "windowsBytesMax": WINDOWS_BYTES_MAX,
        "windowDaysMax": WINDOW_DAYS_MAX,
        "windowSpreadDaysMax": WINDOW_SPREAD_DAYS_MAX,
        "waitLimitDefault": WAIT_LIMIT_DEFAULT,
        "waitLimitMax": WAIT_LIMIT_MAX,
        "catchupWindowSecondsMin": CATCHUP_WINDOW_S_MIN,
        "alertAfterSecondsMin": ALERT_AFTER_S_MIN,
        "alertAfterDaysMax": ALERT_AFTER_DAYS_MAX,
        "catchupWindowDaysMax": CATCHUP_WINDOW_DAYS_MAX,
        "retentionDaysMax": RETENTION_DAYS_MAX,
        "runDaysMax": RUN_DAYS_MAX,
        "keyDaysMax": KEY_DAYS_MAX,
        "keyRequestsPerMinuteMax": KEY_REQUESTS_PER_MINUTE_MAX,
        "keyOverlapHoursDefault": KEY_OVERLAP_HOURS_DEFAULT,
        "keyOverlapDaysMax": KEY_OVERLAP_DAYS_MAX,
        "pageItemsDefault": PAGE_ITEMS_DEFAULT,
        "pageItemsMax": PAGE_ITEMS_MAX,
        "occurrencesMax": OCCURRENCES_MAX,
        "signingSecretsMax": SIGNING_SECRETS_MAX,
        "secretLengthMax": SECRET_LENGTH_MAX,
        "chainLengthMax": CHAIN_LENGTH_MAX,
        "backfillTriggersMax": BACKFILL_TRIGGERS_MAX,
        "keysExaminedMax": KEYS_EXAMINED_MAX,
        "bulkExaminedMax": BULK_EXAMINED_MAX,
        "listExaminedMax": LIST_EXAMINED_MAX,
        "forecastBucketsMax": FORECAST_BUCKETS_MAX,
        "forecastBucketSecondsMin": FORECAST_BUCKET_S_MIN,
        "forecastDaysMax": FORECAST_DAYS_MAX,
        "statsStepsMax": STATS_STEPS_MAX,
        "statsStepSecondsMin": STATS_STEP_S_MIN,
        "statsStepDaysMax": STATS_STEP_DAYS_MAX,
    }
