"""Every constant of time that the protocol rests on, with its reason; none is repeated elsewhere.

Two margins follow from these numbers, and each bounds how far two functions' clocks may differ:

- A timer lies beyond the reach of any sweep that runs before its job is committed:
  DIRECT_WINDOW - HORIZON - API_LIMIT = 300 - 180 - 25 = 95 s.
- A trigger whose commit is in flight is not dropped:
  UNKNOWN_GRACE - API_LIMIT = 120 - 25 = 95 s.
"""

from typing import Final

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS

#: A bucket of the wheel: one sweep's worth of time, since tick wakes once a minute.
BUCKET_MS: Final = MINUTE_MS

#: Triggers this near go straight to the queue when a job is armed; the wheel takes what lies beyond.
DIRECT_WINDOW_MS: Final = 300 * SECOND_MS

#: A sweep reads the buckets that begin before the start of its own minute plus this: the minute that
#: runs and the two after it. EventBridge wakes tick anywhere within its minute. With two minutes, a tick
#: that wakes at second 59.8 and reads its clock in the next minute would find what is due at `:00` late:
#: the tick before it did not reach so far. With three, each trigger was in reach of an earlier tick.
HORIZON_MS: Final = 180 * SECOND_MS

#: The API function's time limit (template.yaml): no commit comes later than this after its arming.
API_LIMIT_MS: Final = 25 * SECOND_MS

#: A write of a job, the SDK's own repetitions included, is over this long after its request, by any clock: no
#: sooner is it certain that a payload which no job refers to will not be referred to.
PAYLOAD_GRACE_MS: Final = 120 * SECOND_MS

#: The API gives up by itself before the limit would end it, so that the caller gets an answer.
API_PATIENCE_MS: Final = 20 * SECOND_MS

#: A trigger of a job or revision that is not there (yet) is put back until this long after its arming.
UNKNOWN_GRACE_MS: Final = 120 * SECOND_MS

#: For this long each time: a commit is normally milliseconds behind its arming.
UNKNOWN_DELAY_MS: Final = 2 * SECOND_MS

#: Of a trigger armed less than a second ago the delivery function waits so long for the commit, and looks
#: again: what is due at once shall not be late by the seconds that a queue counts in.
COMMIT_WAIT_MS: Final = 250

#: What any two functions' clocks may differ by without harm; the margins above leave 5 s to spare.
CLOCK_SKEW_MAX_MS: Final = 90 * SECOND_MS

#: SQS holds a message back for at most this long (AWS: DelaySeconds 0 to 900).
QUEUE_DELAY_MAX_MS: Final = 900 * SECOND_MS

#: The delivery function waits out less than this by itself: SQS counts delays in whole seconds.
EARLY_WAIT_MAX_MS: Final = SECOND_MS

#: A job read longer ago than this is read again before its request leaves (promise 3).
JOB_READ_AGE_MAX_MS: Final = SECOND_MS

#: After an attempt the delivery function needs at most so long to send what follows and to record the run.
#: An attempt that could end later than this before the function's time limit is not begun.
SETTLING_MS: Final = 5 * SECOND_MS

#: What could not be begun, since its job kept changing or the function's time was short, is put back for so
#: long.
POSTPONED_MS: Final = 2 * SECOND_MS

#: A message of a newer version is looked at again after so long. Whoever goes back a version and forward
#: again has it delivered that late at most; until then it costs a receive and a send each time.
NEWER_MS: Final = 30 * SECOND_MS

#: A sweeper holds a shard for this long unless it renews: the next tick takes up what a crashed one held.
LEASE_MS: Final = 30 * SECOND_MS

#: It renews this often, so that two renewals in a row can fail before the lease does.
LEASE_RENEWAL_MS: Final = 10 * SECOND_MS

#: A sweeper starts no page with less than this left of its function's time: one page of a thousand
#: triggers is written and sent in under half of it.
SWEEP_RESERVE_MS: Final = 15 * SECOND_MS

#: A trigger that should have been delivered this long ago and has no record is not said to be on its way.
PENDING_MAX_MS: Final = 60 * MINUTE_MS

#: An attempt that was sent for an instant begins by then plus this at the latest in ordinary trouble: a
#: function that died holds its claim for three minutes, and an account can be short of functions for a
#: while. So long a job is kept beyond what it is known to wait for.
ATTEMPT_DELAY_MAX_MS: Final = 60 * MINUTE_MS

#: A change of a job is kept for this long, whatever becomes of the job.
CHANGE_RETENTION_MS: Final = 90 * DAY_MS

#: A call about many jobs returns with a cursor when it has taken this long: half of the API's patience, of
#: which one last step may take the rest.
BULK_PATIENCE_MS: Final = 10 * SECOND_MS

#: An attempt is claimed for the delivery function's time limit (90 s) plus the clock bound: after that
#: its holder is gone.
ATTEMPT_CLAIM_MS: Final = 90 * SECOND_MS + CLOCK_SKEW_MAX_MS

#: A consumer's deadline is over when it is past by this: another function's clock wrote it. AWS keeps clocks
#: within milliseconds. A consumer that is taken for dead too early costs a duplicate, no more: this need not
#: be the 90 s of the wheel.
DEADLINE_GRACE_MS: Final = 5 * SECOND_MS

#: The next look at a run comes by so much later at most, at random. Copies of one look, which are received at
#: the same moment, thus send looks for different moments: the first one that is handled replaces the others.
LOOKS_SPREAD_MS: Final = SECOND_MS

#: An attempt whose predecessor is not recorded as failed yet is looked at every second for this long; then
#: when that one's deadline passes: its consumer has reported after all.
OVERTAKEN_PATIENCE_MS: Final = MINUTE_MS

#: DynamoDB removes a timer this long after it was due: the longest outage that needs no `rebuild`.
TIMER_RETENTION_MS: Final = 14 * DAY_MS

#: An earlier revision that its job has no room for is kept for so long after its end. A sweeper may expand
#: its timer on the timer's last day, and SQS keeps the trigger for 14 days more; a day is to spare.
REVISION_RETENTION_MS: Final = 2 * TIMER_RETENTION_MS + DAY_MS

#: Health is bad when tick's last heartbeat is older than this: three wake-ups missed.
HEARTBEAT_AGE_MAX_MS: Final = 3 * MINUTE_MS

#: The number of shards is read from the store again after this long in one process.
SHARDS_AGE_MAX_MS: Final = MINUTE_MS

#: In this minute of each hour tick takes a step of the audit of payloads: apart from the full hour and its
#: quarters, when most jobs are due.
AUDIT_MINUTE: Final = 37

#: Signing secrets are read from the store again after this long in one process.
SECRETS_AGE_MAX_MS: Final = MINUTE_MS

#: A rotated signing secret signs beside the new one for this long, so that consumers can follow.
SECRET_OVERLAP_MS: Final = DAY_MS
