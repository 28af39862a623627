"""The notification of a run's end (`onComplete`), and the alert of a watch (`onAlert`): what they say."""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sweephand.base.instants import Instant, rfc3339
from sweephand.model.job import Job
from sweephand.model.run import Run, trigger_of
from sweephand.model.run_id import BatchEnd, batch_id
from sweephand.model.trigger import NotifyMessage, Trigger
from sweephand.model.watch import UNRECORDED, Alert, WatchMessage

#: A notification can be the data of a chained trigger. With a reason of this length and no result, it stays
#: within the 2 KB that travel in a message.
_REASON_LENGTH_MAX: Final = 200


class Missed(NamedTuple):
    """A trigger that was missed: its due time, its number in the series, and its run if that has a record."""

    due_at: Instant
    sequence: int
    run: Run | None


def notification_of(run: Run, sent_at: Instant) -> NotifyMessage:
    """The message that a run has ended. `run` is the run as the caller is about to record it.

    `sent_at` is when the caller sends the message. It can be minutes after the run's end: if the function
    that ended the run crashes, another one sends the notification and records the end.
    """
    assert run.is_over, "only a run that is over has an end"
    assert run.ended_at is not None, "a run that is over has an end time"
    return NotifyMessage(
        trigger=trigger_of(run),
        state=run.state,
        attempts=run.attempts,
        started_at=run.started_at,
        ended_at=run.ended_at,
        response_code=run.response_code,
        reason=run.reason and run.reason[:_REASON_LENGTH_MAX],
        not_before=sent_at,
        result=run.result,
    )


def alert_of(
    watch: WatchMessage, missed: Sequence[Missed], window_at: Instant, sent_at: Instant
) -> NotifyMessage:
    """The message of an alert about missed triggers, in their order. It shows the run of the last one."""
    first, last = missed[0], missed[-1]
    run = last.run
    return NotifyMessage(
        trigger=Trigger(watch.key, watch.uid, watch.rev, last.due_at, last.sequence, watch.armed_at),
        state=UNRECORDED if run is None else run.state,
        attempts=0 if run is None else run.attempts,
        started_at=None if run is None else run.started_at,
        ended_at=watch.check_at,
        response_code=None if run is None else run.response_code,
        reason=run.reason[:_REASON_LENGTH_MAX] if run is not None and run.reason is not None else None,
        not_before=sent_at,
        alert=Alert(window_at, len(missed), first.due_at, last.due_at),
    )


def notifies_of(run: Run, job: Job) -> bool:
    """Whether the job's `onComplete` is told of the run's end. Of a batch it is told once, for all runs."""
    return job.definition.on_complete is not None and run.batch is None


def is_recorded(notification: NotifyMessage, run: Run | None) -> bool:
    """Whether the run's record shows the end that the notification is about.

    A notification is sent before the end is recorded. A callback or a deadline can come in between, so that
    the run ends otherwise or goes on. Only a run that succeeded at its first attempt can lack a record.
    """
    if notification.batch_end is not None or notification.alert is not None:
        # The end of a batch is recorded before it is told. An alert is about what the records say.
        return True
    if run is None:
        return notification.state == "succeeded"
    if (run.state, run.attempts) == (notification.state, notification.attempts):
        return True
    if notification.state != "failed" or not run.is_redriven:
        return False
    # The run was redriven since. A function may have crashed after it had given the run up. Then the round
    # went on with another attempt, and did not end as the notification says.
    if run.round_ends is None:
        return run.round_from > notification.attempts
    return notification.attempts in run.round_ends


def body_of(notification: NotifyMessage) -> bytes:
    """The notification as JSON: which run or batch ended, how, when, and with which result or counts.

    The result is the consumer's own JSON text, unchanged. Of an alert: what was missed, and since when.
    """
    if notification.alert is not None:
        return _body_of_alert(notification, notification.alert)
    if notification.batch_end is not None:
        return _body_of_batch(notification, notification.batch_end)
    trigger = notification.trigger
    fields = {
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        "runId": trigger.run_id,
        "triggerId": trigger.id,
        "state": notification.state,
        "dueAt": rfc3339(trigger.due_at),
        "startedAt": _time(notification.started_at),
        "endedAt": rfc3339(notification.ended_at),
        "attempts": notification.attempts,
        "responseCode": notification.response_code,
        "reason": notification.reason,
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"result":{notification.result or "null"}}}'.encode(errors="replace")


def _body_of_alert(notification: NotifyMessage, alert: Alert) -> bytes:
    trigger = notification.trigger
    is_recorded = notification.state != UNRECORDED
    run = {
        "runId": trigger.run_id,
        "state": notification.state,
        "startedAt": _time(notification.started_at),
        "attempts": notification.attempts,
        "responseCode": notification.response_code,
        "reason": notification.reason,
    }
    fields = {
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        "alertId": notification.end_id,
        "missed": alert.missed,
        "firstDueAt": rfc3339(alert.first_due_at),
        "lastDueAt": rfc3339(alert.last_due_at),
        "checkedAt": rfc3339(notification.ended_at),
        "lastRun": run if is_recorded else None,
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _body_of_batch(notification: NotifyMessage, end: BatchEnd) -> bytes:
    trigger, counts = notification.trigger, end.counts
    fields = {
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        "batchId": batch_id(trigger.due_at, trigger.demand),
        "state": end.state,
        "dueAt": rfc3339(trigger.due_at),
        "endedAt": rfc3339(notification.ended_at),
        "total": end.total,
        **counts._asdict(),
        "overran": end.overran,
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def _time(instant: Instant | None) -> Any:
    return None if instant is None else rfc3339(instant)
