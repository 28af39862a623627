"""The tick function and the sweep function."""

from typing import TYPE_CHECKING, Final

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.delivery.functions
import sweephand.delivery.sqs_queue
import sweephand.schedules.notations.parsing
import sweephand.storage.jobs
import sweephand.storage.leases
import sweephand.storage.timers  # noqa: F401
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import (
    AUDIT_MINUTE,
    BULK_TIME_LIMIT_MS,
    JOB_AUDIT_MINUTE,
    JOB_AUDIT_MINUTES,
    RENEWAL_MS,
)
from sweephand.runtime.aws_ports import app
from sweephand.runtime.metrics import Values, write
from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from sweephand.jobs.payload_audit import Audited
    from sweephand.runs.audit_findings import Audited as JobsAudited

#: A step of the audit of jobs ends after the time limit of a bulk call, and the last request takes a while.
_AUDIT_RESERVE_MS: Final = 2 * BULK_TIME_LIMIT_MS

#: Messages are sent again until their time is up, and what is in hand then takes a few seconds.
_RENEWAL_RESERVE_MS: Final = 2 * RENEWAL_MS


def tick(remaining_ms: int) -> Ticked:
    """Do one tick, within the function's remaining time in milliseconds."""
    ports = app().ports
    return app().ticker.tick(owner=ports.ids.token(), deadline=ports.clock.now() + remaining_ms)


def audit() -> "Audited | None":
    """Do one step of the payload audit in one minute of each hour; None in the other minutes.

    StoreError: the step failed, and the next hour repeats it.
    """
    if app().ports.clock.now() % HOUR_MS // MINUTE_MS != AUDIT_MINUTE:
        return None
    return app().repair.payload_audit.step()


def audit_jobs(remaining_ms: int) -> "JobsAudited | None":
    """Do one step of the audit of jobs in one of five minutes; None in the other minutes.

    While the stack is switched off, nothing can be told from what is late, so no step is done. It is also
    None if too little of the function's time is left, or if no step is due. StoreError and UnavailableError:
    the step failed, and a later one repeats it.
    """
    is_minute = app().ports.clock.now() // MINUTE_MS % JOB_AUDIT_MINUTES == JOB_AUDIT_MINUTE
    if not is_minute or not app().options.is_enabled or remaining_ms < _AUDIT_RESERVE_MS:
        return None
    return app().repair.audit_rounds.step()


def keep_waiting(logger: "Logger", ticked: Ticked, remaining_ms: int) -> None:
    """Keep what waits in a stack that is switched off, unless too little of the function's time is left.

    StoreError: something was not done, and a later tick repeats it. OffTooLongError: it is off for too long.
    """
    if remaining_ms < _RENEWAL_RESERVE_MS:
        return
    time_off = app().repair.time_off
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
    ports = app().ports
    return app().sweeper.sweep(
        ports.leases.state().leases,
        owner=ports.ids.token(),
        first_shard=first_shard,
        deadline=ports.clock.now() + remaining_ms,
    )


def report_tick(logger: "Logger", ticked: Ticked) -> None:
    """Write the log line of a tick, with its metrics."""
    swept, now = ticked.swept, app().ports.clock.now()
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
    now = app().ports.clock.now()
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
    write(logger, "not begun", {}, {}, app().ports.clock.now())
