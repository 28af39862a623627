"""The tick function and the sweep function."""

from functools import cache
from typing import TYPE_CHECKING, Final

# Nearly every sweep parses a schedule. Lambda gives a function a whole CPU while it starts.
import sweephand.schedules.notations.parsing  # noqa: F401
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import (
    AUDIT_MINUTE,
    BULK_TIME_LIMIT_MS,
    JOB_AUDIT_MINUTE,
    JOB_AUDIT_MINUTES,
    RENEWAL_MS,
)
from sweephand.delivery.functions import LambdaDeliveryFunctions, LambdaSweepers
from sweephand.delivery.stack_queues import SqsStackQueues
from sweephand.runtime import aws, tables
from sweephand.runtime.compose_wheel import Wheel, WheelStores, compose_wheel
from sweephand.runtime.machine import sweep_concurrently
from sweephand.runtime.metrics import Values, write
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoExpirySwitch, DynamoLeases, DynamoWheelHistory
from sweephand.storage.timers import DynamoTimers
from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from sweephand.jobs.payload_audit import Audited
    from sweephand.runs.audit_findings import Audited as JobsAudited
    from sweephand.runtime.compose_upkeep import Upkeep

#: A step of the payload audit ends so long before the function's time is up. A payload takes a few requests.
_PAYLOAD_RESERVE_MS: Final = BULK_TIME_LIMIT_MS

#: A step of the audit of jobs ends after the time limit of a bulk call, and the last request takes a while.
_AUDIT_RESERVE_MS: Final = 2 * BULK_TIME_LIMIT_MS

#: Messages are sent again until their time is up, and what is in hand then takes a few seconds.
_RENEWAL_RESERVE_MS: Final = 2 * RENEWAL_MS


@cache
def wheel() -> Wheel:
    """The use cases over this stack."""
    settings, jobs, timers = tables.settings(), tables.jobs_table(), tables.timers_table()
    clock = tables.clock()
    stores = WheelStores(
        clock=clock,
        ids=aws.ids(),
        jobs=DynamoJobs(jobs),
        timers=DynamoTimers(timers),
        leases=DynamoLeases(timers),
        queue=aws.queue(),
        wheel_history=DynamoWheelHistory(jobs),
        sweepers=LambdaSweepers(settings.sweep_function),
        delivery_functions=LambdaDeliveryFunctions(settings.deliver_function, sweep_concurrently),
        stack_queues=SqsStackQueues(aws.sqs_clients(), aws.queue(), settings.urls_of_queues),
        expiry_switch=DynamoExpirySwitch(tables.dynamodb(), (settings.jobs_table, settings.timers_table)),
    )
    return compose_wheel(stores, aws.more_stores, settings.options)


def upkeep() -> "Upkeep":
    """The use cases of tick's rare duties."""
    # Tick does them in one minute of five. They take 25 ms of a start's 165 ms (infra.bench start).
    from sweephand.runtime.compose_upkeep import compose_upkeep  # noqa: PLC0415 - as above

    return compose_upkeep(wheel().more())


def tick(remaining_ms: int) -> Ticked:
    """Do one tick, within the function's remaining time in milliseconds."""
    stores = wheel().stores
    return wheel().ticker.tick(owner=stores.ids.token(), deadline=stores.clock.now() + remaining_ms)


def is_audit_minute(now: Instant) -> bool:
    """Whether it is the minute of an hour in which the payload audit does a step."""
    return now % HOUR_MS // MINUTE_MS == AUDIT_MINUTE


def is_job_audit_minute(now: Instant) -> bool:
    """Whether it is the minute of five in which the audit of jobs does a step."""
    return now // MINUTE_MS % JOB_AUDIT_MINUTES == JOB_AUDIT_MINUTE


def audit(remaining_ms: int) -> "Audited | None":
    """Do one step of the payload audit in one minute of each hour; None in the other minutes.

    StoreError: the step failed, and the next hour repeats it.
    """
    now = wheel().stores.clock.now()
    if not is_audit_minute(now):
        return None
    return upkeep().payload_audit.step(until=now + remaining_ms - _PAYLOAD_RESERVE_MS)


def audit_jobs(remaining_ms: int) -> "JobsAudited | None":
    """Do one step of the audit of jobs in one of five minutes; None in the other minutes.

    While the stack is switched off, nothing can be told from what is late, so no step is done. It is also
    None if too little of the function's time is left, or if no step is due. StoreError and UnavailableError:
    the step failed, and a later one repeats it.
    """
    is_minute = is_job_audit_minute(wheel().stores.clock.now())
    if not is_minute or not wheel().options.is_enabled or remaining_ms < _AUDIT_RESERVE_MS:
        return None
    return upkeep().audit_rounds.step()


def keep_waiting(logger: "Logger", ticked: Ticked, remaining_ms: int) -> None:
    """Keep what waits in a stack that is switched off, unless too little of the function's time is left.

    StoreError: something was not done, and a later tick repeats it. OffTooLongError: it is off for too long.
    """
    if remaining_ms < _RENEWAL_RESERVE_MS:
        return
    time_off = wheel().time_off
    if renewed := time_off.keep(ticked.off_since, ticked.off_at):
        logger.info("kept", extra={"messages": renewed})
    time_off.check(ticked.off_since)


def report_audit(logger: "Logger", audited: "JobsAudited") -> None:
    """Write the log line of a step of the audit of jobs, and one for each job or run that was mended."""
    for lost in audited.timers:
        logger.warning("armed again", extra={"job": str(lost.key), "due_at": lost.due_at})
    for run in audited.runs:
        logger.warning("sent again", extra={"job": str(run.key), "run": run.run_id, "due_at": run.due_at})
    for failed in audited.failed:
        logger.warning("not audited", extra={"job": str(failed.key), "reason": failed.reason})
    fields = {
        "jobs": audited.jobs,
        "late": audited.late,
        "timers": len(audited.timers),
        "runs": len(audited.runs),
        "kept": audited.kept,
        "failed": len(audited.failed),
    }
    logger.info("jobs audited", extra=fields)


def sweep(first_shard: int, remaining_ms: int) -> Swept:
    """Do one sweep that starts at that shard, within the function's remaining time in milliseconds."""
    stores = wheel().stores
    return wheel().sweeper.sweep(
        stores.leases.state().leases,
        owner=stores.ids.token(),
        first_shard=first_shard,
        deadline=stores.clock.now() + remaining_ms,
    )


def report_tick(logger: "Logger", ticked: Ticked) -> None:
    """Write the log line of a tick, with its metrics."""
    swept, now = ticked.swept, wheel().stores.clock.now()
    fields: dict[str, object] = {
        "sweepers": ticked.sweepers,
        "woken": ticked.woken,
        "behind_ms": ticked.behind_ms,
    }
    if ticked.off_since is not None:
        fields["off_since"] = ticked.off_since
    if swept is not None:
        fields |= {"triggers": swept.triggers, "timers": swept.timers, "finished": swept.is_finished}
    values = {**_cursor_age(ticked.left_at, now), **({} if swept is None else _of_sweep(swept))}
    write(logger, "ticked", {**fields, "faults": len(ticked.faults)}, values, now)


def report_sweep(logger: "Logger", swept: Swept) -> None:
    """Write the log line of a sweep, with its metrics."""
    now = wheel().stores.clock.now()
    fields = {
        "triggers": swept.triggers,
        "timers": swept.timers,
        "shards": swept.shards,
        "finished": swept.is_finished,
        "faults": len(swept.faults),
    }
    write(logger, "swept", fields, {**_cursor_age(swept.left_at, now), **_of_sweep(swept)}, now)


def _of_sweep(swept: Swept) -> Values:
    """The metrics of one sweep. The average of `Sent` is the number of triggers in a sweep."""
    return {"Sent": [swept.triggers], "SweepTime": [swept.took_ms]}


def _cursor_age(left_at: Instant | None, now: Instant) -> Values:
    """The age of the oldest cursor: how long ago the oldest timer was due that is not passed.

    Nothing is published while no timer is late, as in all minutes of a healthy stack.
    """
    return {"CursorAge": [now - left_at] if left_at is not None and left_at < now else []}


def report_failure(logger: "Logger") -> None:
    """Write what DynamoDB's answers have shown, before a call that could not even begin fails."""
    write(logger, "not begun", {}, {}, wheel().stores.clock.now())
