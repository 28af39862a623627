"""Every time constant on which the protocol rests, with its reason. No other module repeats one.

Two margins follow from these numbers. Each one bounds how far the clocks of two functions may differ:

- No sweeper that runs before a job's commit reaches the job's timer:
  DIRECT_WINDOW - HORIZON - API_LIMIT = 300 - 180 - 25 = 95 s.
- The delivery function does not drop a trigger whose commit is still in flight:
  UNKNOWN_GRACE - API_LIMIT = 120 - 25 = 95 s.
"""

from typing import Final

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS
from sweephand.base.limits import BATCH_WINDOW_DAYS_MAX, RETRY_DAYS_MAX, RUN_DAYS_MAX

#: A bucket of the wheel covers one minute, because tick wakes once a minute.
BUCKET_MS: Final = MINUTE_MS

#: When a job is armed, its triggers within this window go straight to the queue. Later triggers get a timer.
DIRECT_WINDOW_MS: Final = 300 * SECOND_MS

#: A sweeper reads the buckets that begin before the start of its own minute plus this: its own minute and the
#: next two. EventBridge wakes tick at any second of the minute. Suppose that the horizon were two minutes,
#: and that tick woke at second 59.8 but read its clock in the next minute. Triggers due at that minute's
#: `:00` would be late, because the tick before did not reach them. With three minutes, an earlier tick has
#: reached each.
HORIZON_MS: Final = 180 * SECOND_MS

#: The time limit of the API function (template.yaml). No commit comes later than this after its arming.
API_LIMIT_MS: Final = 25 * SECOND_MS

#: Every try of a job's write, the SDK's retries included, is over this long after the request, by any clock.
#: Only then is it certain that no write can still refer to a payload that no job refers to.
PAYLOAD_GRACE_MS: Final = 120 * SECOND_MS

#: The API gives up on a request after this time. The function's own limit would end it without an answer.
REQUEST_TIME_LIMIT_MS: Final = 20 * SECOND_MS

#: Until this long after its arming, a trigger whose job or revision is not stored (yet) is requeued.
UNKNOWN_GRACE_MS: Final = 120 * SECOND_MS

#: The delay of such a requeue while the commit may be in flight, until API_LIMIT after the arming. A commit
#: usually follows its arming within milliseconds. Afterwards only clocks that differ can explain a commit to
#: come, so each delay is half of the time since the arming. SQS may deliver a message twice, and each copy is
#: requeued: with a short delay throughout, the copies would multiply.
UNKNOWN_DELAY_MS: Final = 2 * SECOND_MS

#: If a trigger was armed less than a second ago and its job is not there, the delivery function waits this
#: long and reads again. A requeue would delay the trigger by a whole second.
COMMIT_WAIT_MS: Final = 250

#: The clocks of any two functions may differ by this much without harm. The margins above leave 5 s to spare.
CLOCK_SKEW_MAX_MS: Final = 90 * SECOND_MS

#: The longest delay of a message (AWS: DelaySeconds is 0 to 900).
QUEUE_DELAY_MAX_MS: Final = 900 * SECOND_MS

#: The delivery function waits for less than this by itself, because SQS counts delays in whole seconds.
EARLY_WAIT_MAX_MS: Final = SECOND_MS

#: The triggers of a bundle fall due within this. The delivery function waits for each of them, and AWS bills
#: the time.
BUNDLE_SPAN_MAX_MS: Final = 2 * SECOND_MS

#: Before an attempt, the delivery function reads the job again if its copy is older than this (promise 3).
JOB_READ_AGE_MAX_MS: Final = SECOND_MS

#: After an attempt, the delivery function needs at most this long to send what follows and to record the run.
#: It does not begin an attempt that could end later than this before the function's time limit.
SETTLING_MS: Final = 5 * SECOND_MS

#: The delay of a message that the delivery function could not begin: either the job kept changing, or the
#: function had too little time left.
POSTPONED_MS: Final = 2 * SECOND_MS

#: The delay of a message that a newer version wrote. After a rollback and a new upgrade, the message is late
#: by at most this. Until then, each round costs one receive and one send.
NEWER_MS: Final = 30 * SECOND_MS

#: A sweeper holds a shard for this long unless it renews the lease. Then the next tick takes over the shard.
LEASE_MS: Final = 30 * SECOND_MS

#: A sweeper renews its lease this often, so the lease survives two failed renewals in a row.
LEASE_RENEWAL_MS: Final = 10 * SECOND_MS

#: A sweeper begins no page with less than this left of its function's time. It writes and sends a page of a
#: thousand triggers in under half of this.
SWEEP_RESERVE_MS: Final = 15 * SECOND_MS

#: The API does not list a trigger as pending that was due longer ago than this and has no record.
PENDING_MAX_MS: Final = 60 * MINUTE_MS

#: In ordinary trouble, an attempt begins at most this long after the instant for which it was sent. A
#: function that crashed holds its claim for three minutes, and an account can lack free functions for a
#: while. A job is kept for this long after its last expected attempt.
ATTEMPT_DELAY_MAX_MS: Final = 60 * MINUTE_MS

#: A later attempt may begin this long after `maxAge`. The last attempt is planned for the very end of it if a
#: consumer's `Retry-After` lies beyond that. A queue or a timer brings it a few seconds later.
MAX_AGE_GRACE_MS: Final = MINUTE_MS

#: What deliveries counted is kept for this long.
STATS_RETENTION_MS: Final = 30 * DAY_MS

#: A function counts only if so much of its time is left. A try of the write ends within 6 s. A function that
#: is ended before it has answered gets all of its messages again.
STATS_RESERVE_MS: Final = 10 * SECOND_MS

#: A change of a job is kept for this long, even if the job is deleted.
CHANGE_RETENTION_MS: Final = 90 * DAY_MS

#: A bulk call returns with a cursor after this time. It is half of the API's time limit; the last step may
#: take the other half.
BULK_TIME_LIMIT_MS: Final = 10 * SECOND_MS

#: An attempt's claim lasts for the delivery function's time limit (90 s) plus the clock bound. After that,
#: the function that holds the claim has ended.
ATTEMPT_CLAIM_MS: Final = 90 * SECOND_MS + CLOCK_SKEW_MAX_MS

#: A function holds slots and leases entries for as long as an attempt's claim lasts. The reason is the same:
#: after that, it has ended by every clock.
HOLDER_MS: Final = ATTEMPT_CLAIM_MS

#: A message that looks after a gate comes after this: no function lives for so long.
GUARD_MS: Final = HOLDER_MS + 20 * SECOND_MS

#: So long after the commit of another limit, no function acts by the earlier one: a read of the policy may be
#: a second old, and a write takes a moment.
POLICY_CHANGE_MS: Final = 2 * SECOND_MS

#: A function reads its policy again after this long, so that a change is in force within seconds.
POLICY_AGE_MAX_MS: Final = SECOND_MS

#: A request under a rate is prepared this long before its token's slot begins: its job is read, its run is
#: claimed, and the connection is made. The baton for a token comes so long before it, too. It is less than
#: the second within which a function finds a token that it can take.
TOKEN_LEAD_MS: Final = 300

#: A request from a line can leave so soon. After a quiet time, its token is for no slot that is over before.
TOKEN_READY_MS: Final = 150

#: The delivery function enqueues a trigger at a gate so long before it is due. The function that serves the
#: gate has to be called and to take slots first.
GATE_LEAD_MS: Final = 200

#: A function that finds nothing new in its line looks again after this.
LINE_LOOK_MS: Final = 300

#: A function that sees more work than its own calls another one at most once in this time.
FAN_OUT_MS: Final = 300

#: A process reads the settings of a namespace again after this long, so that a change is in force by then.
NAMESPACE_AGE_MAX_MS: Final = MINUTE_MS

#: A trigger that a window holds looks at the windows again after this long, and needs nothing that lives for
#: less than two weeks. A window that was removed holds no trigger for longer.
WINDOW_ROUND_MS: Final = DAY_MS

#: A new count of a namespace's jobs ends this long after it began. By then the limit is known to every
#: process, and every creation that it does not count is committed, also where clocks differ.
RECOUNT_AFTER_MS: Final = NAMESPACE_AGE_MAX_MS + 2 * API_LIMIT_MS + CLOCK_SKEW_MAX_MS

#: So long after a request, by any clock, each of its writes is committed or never will be.
REQUEST_OVER_MS: Final = API_LIMIT_MS + CLOCK_SKEW_MAX_MS


#: A consumer's deadline counts as over only this long after its instant, because another function's clock
#: wrote it. AWS keeps clocks within milliseconds. If a consumer is taken for dead too early, the only harm is
#: a duplicate. So the 90 s of the wheel are not needed here.
DEADLINE_GRACE_MS: Final = 5 * SECOND_MS

#: The next check of a run is delayed by a random time of up to this. Copies of one check are received at the
#: same moment. Thus they send checks for different moments, and the first check that is handled replaces the
#: others.
CHECKS_SPREAD_MS: Final = SECOND_MS

#: If the attempt before is not yet recorded as failed, an attempt checks it every second for this long. After
#: that it checks at the earlier attempt's deadline, because that attempt's consumer has accepted the run.
OVERTAKEN_TIME_LIMIT_MS: Final = MINUTE_MS

#: DynamoDB removes a timer this long after its due time. An outage up to this length needs no `rebuild`.
TIMER_RETENTION_MS: Final = 14 * DAY_MS

#: The data of a trigger is kept for this long after the trigger should be handled. Until then the trigger may
#: wait as a timer or a message. While the stack is switched off, it may wait for 30 days more.
PAYLOAD_LATE_MS: Final = TIMER_RETENTION_MS + 30 * DAY_MS

#: A discarded payload can be read for this long. In S3, a lifecycle rule of the bucket removes it then. A
#: trigger whose data was renewed may wait for the longest delay of a retry or the longest run of a consumer.
#: It may then be late. One day is spare.
PAYLOAD_KEPT_MS: Final = max(RETRY_DAYS_MAX, RUN_DAYS_MAX) * DAY_MS + PAYLOAD_LATE_MS + DAY_MS

#: A batch goes on for at most so long after its occurrence.
BATCH_WINDOW_MAX_MS: Final = BATCH_WINDOW_DAYS_MAX * DAY_MS

#: An earlier revision that does not fit into its job is kept for this long after its end. A sweeper may
#: expand its timer on the timer's last day, and SQS keeps the trigger for 14 days more. A batch that began
#: just before that end goes on for up to its window. One day is spare.
REVISION_RETENTION_MS: Final = 2 * TIMER_RETENTION_MS + BATCH_WINDOW_MAX_MS + DAY_MS

#: A gate of a key is kept for this long after its last write. The holder of an asynchronous run is written
#: when the run begins. While the gate has a living guard, it is written every few minutes.
KEY_GATE_RETENTION_MS: Final = RUN_DAYS_MAX * DAY_MS + TIMER_RETENTION_MS

#: Health is bad when tick's last heartbeat is older than this, which is three missed wake-ups.
HEARTBEAT_AGE_MAX_MS: Final = 3 * MINUTE_MS

#: Between two heartbeats of a stack at work lie up to two minutes, because AWS wakes a schedule anywhere
#: within its minute. After more than this, tick has missed a minute at least.
HEARTBEAT_GAP_MS: Final = 150 * SECOND_MS

#: A function that has run within this time is taken to be warm. Lambda ends a function that was idle for
#: longer: after five minutes at the earliest, as far as is known. AWS documents no time.
FUNCTION_WARM_MS: Final = 4 * MINUTE_MS

#: When the stack has been switched off for so long, tick keeps what waits. A shorter time off costs nothing.
OFF_LONG_MS: Final = DAY_MS

#: When it has been off for so long, each tick fails, and an alarm says it.
OFF_WARNING_MS: Final = 10 * DAY_MS

#: While it is off, tick sends messages again that were sent so long ago. SQS removes a message after 14 days.
#: So each one is met in thousands of minutes before that.
MESSAGE_OLD_MS: Final = 4 * DAY_MS

#: A message that is sent again can be received after this. So no tick receives it a second time.
MESSAGE_DELAY_MS: Final = MINUTE_MS

#: Tick sends messages again for so long at most, of the 55 s that it has.
RENEWAL_MS: Final = 20 * SECOND_MS

#: A process reads the number of shards again after this long.
SHARDS_AGE_MAX_MS: Final = MINUTE_MS

#: In this minute of each hour, tick takes one step of the audit of payloads. Most jobs are due at the full
#: hour and its quarters, and this minute is far from both.
AUDIT_MINUTE: Final = 37

#: While a round of the audit of jobs goes on, tick takes one step of it in the fourth of every five minutes.
#: A step examines a thousand jobs, so the steps of a week examine two million.
JOB_AUDIT_MINUTES: Final = 5
JOB_AUDIT_MINUTE: Final = 3

#: A step of it is over so long after it began: a call's time limit, and as much for what it has in hand. Then
#: another step may begin.
AUDIT_STEP_MAX_MS: Final = MINUTE_MS

#: A round of the audit of jobs begins so long after the round before has begun. What waits for longer than
#: TIMER_RETENTION is lost, so a round must find it within half of that.
AUDIT_ROUND_MS: Final = 7 * DAY_MS

#: A process reads the signing secrets again after this long.
SECRETS_AGE_MAX_MS: Final = MINUTE_MS

#: A process reads a secret that a job names again after this long. So all functions use a new value by then.
NAMED_SECRETS_AGE_MAX_MS: Final = 5 * SECOND_MS

#: A rotated secret still signs for this long, together with the new one, so that consumers can switch.
SECRET_OVERLAP_MS: Final = DAY_MS
