"""The notification of a run's end (`onComplete`), and the alert of a watch (`onAlert`): what they say."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

from sweephand.base.instants import Instant, rfc3339, rfc3339_or_none
from sweephand.model.attempt import Event
from sweephand.model.job import Job
from sweephand.model.run import OVER_STATES, Run, State, trigger_of
from sweephand.model.run_id import batch_id
from sweephand.model.trigger import NotifyMessage, Trigger
from sweephand.model.watch import UNRECORDED, Alert, WatchMessage
from sweephand.model.webhook import TEXT, TIME, WHOLE, Fact, object_of, values_of
from sweephand.model.window import Hold

#: A notification can be the data of a chained trigger. With a reason of this length and no result, it stays
#: within the 2 KB that travel in a message.
_REASON_LENGTH_MAX: Final = 200


class Missed(NamedTuple):
    """A trigger that was missed: its due time, its number in the series, and its run if that has a record.

    It had to succeed by `deadline_at`. If windows held it, its time began anew after that `hold`.
    """

    due_at: Instant
    sequence: int
    run: Run | None
    deadline_at: Instant
    hold: Hold | None = None


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
        traceparent=None if run.origin is None else run.context.traceparent,
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
        return _written(ALERT, notification, "alert").encode(errors="replace")
    if notification.batch_end is not None:
        return _written(BATCH_END, notification, "batch-end").encode()
    text = _written(END, notification, "end")
    return f'{text[:-1]},"{RESULT.name}":{notification.result or "null"}}}'.encode(errors="replace")


def _written(facts: Iterable[Fact], notification: NotifyMessage, event: Event) -> str:
    return json.dumps(values_of(facts, notification, event), ensure_ascii=False, separators=(",", ":"))


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_JOB: Final = (
    Fact("namespace", TEXT, "The namespace of the job.", lambda told: told.trigger.key.namespace),
    Fact("job", TEXT, "The name of the job.", lambda told: told.trigger.key.name),
)
_RUN_ID: Final = Fact("runId", TEXT, "The id of the run.", lambda told: told.trigger.run_id)
_DUE_AT: Final = Fact("dueAt", TIME, "When the trigger was due.", lambda told: rfc3339(told.trigger.due_at))
_STARTED_AT: Final = Fact(
    "startedAt",
    _or_null(TIME),
    "When the first attempt began. Null if none has begun.",
    lambda told: rfc3339_or_none(told.started_at),
)
_ENDED_AT: Final = Fact(
    "endedAt",
    TIME,
    "When the run, or the last run of the batch, was over.",
    lambda told: rfc3339(told.ended_at),
)
_ATTEMPTS: Final = Fact("attempts", WHOLE, "How many attempts have begun.", lambda told: told.attempts)
_RESPONSE_CODE: Final = Fact(
    "responseCode",
    _or_null(WHOLE),
    "The HTTP status of the last response. Null if there was none.",
    lambda told: told.response_code,
)
_REASON: Final = Fact(
    "reason",
    _or_null({**TEXT, "maxLength": _REASON_LENGTH_MAX}),
    f"The reason for the state, in up to {_REASON_LENGTH_MAX} characters. Null if there is none.",
    lambda told: told.reason,
)

#: What a notification of a run's end says, and after it the consumer's own JSON text.
END: Final = (
    *_JOB,
    _RUN_ID,
    Fact("triggerId", TEXT, "The `webhook-id` of the trigger.", lambda told: told.trigger.id),
    Fact(
        "state",
        {**TEXT, "enum": [each for each in get_args(State) if each in OVER_STATES]},
        "How the run ended.",
        lambda told: told.state,
    ),
    _DUE_AT,
    _STARTED_AT,
    _ENDED_AT,
    _ATTEMPTS,
    _RESPONSE_CODE,
    _REASON,
)
RESULT: Final = Fact(
    "result", {}, "What the consumer gave with `complete`, else null.", lambda told: told.result
)

#: What an alert says about the run of the last missed trigger.
_LAST_RUN: Final = (
    _RUN_ID,
    Fact("state", {**TEXT, "enum": [*get_args(State)]}, "The state of the run.", lambda told: told.state),
    _STARTED_AT,
    _ATTEMPTS,
    _RESPONSE_CODE,
    _REASON,
)

#: What an alert says.
ALERT: Final = (
    *_JOB,
    Fact("alertId", TEXT, "The `webhook-id` of the alert.", lambda told: told.end_id),
    Fact(
        "missed",
        {**WHOLE, "minimum": 1},
        "How many triggers have not succeeded in time.",
        lambda told: told.alert.missed,
    ),
    Fact(
        "firstDueAt",
        TIME,
        "When the first of them was due.",
        lambda told: rfc3339(told.alert.first_due_at),
    ),
    Fact("lastDueAt", TIME, "When the last of them was due.", lambda told: rfc3339(told.alert.last_due_at)),
    Fact("checkedAt", TIME, "When Sweephand looked.", lambda told: rfc3339(told.ended_at)),
    Fact(
        "lastRun",
        _or_null(object_of(_LAST_RUN, "alert", "MissedRun", "The run of the last missed trigger.")),
        "The run of the last of them. Null without a record.",
        lambda told: None if told.state == UNRECORDED else values_of(_LAST_RUN, told, "alert"),
    ),
)


def _count(name: str, meaning: str) -> Fact:
    return Fact(name, WHOLE, meaning, lambda told: getattr(told.batch_end.counts, name))


#: What a notification of a batch's end says.
BATCH_END: Final = (
    *_JOB,
    Fact(
        "batchId",
        TEXT,
        "The id of the batch.",
        lambda told: batch_id(told.trigger.due_at, told.trigger.demand),
    ),
    Fact(
        "state",
        {**TEXT, "enum": ["succeeded", "failed"]},
        "`succeeded` if each run has succeeded, else `failed`.",
        lambda told: told.batch_end.state,
    ),
    _DUE_AT,
    _ENDED_AT,
    Fact("total", WHOLE, "How many triggers the batch had.", lambda told: told.batch_end.total),
    _count("succeeded", "How many runs have succeeded."),
    _count("failed", "How many runs have failed."),
    _count("cancelled", "How many runs were cancelled or skipped."),
    Fact(
        "overran",
        {"type": "boolean"},
        "Whether the batch has taken longer than its window.",
        lambda told: told.batch_end.overran,
    ),
)
