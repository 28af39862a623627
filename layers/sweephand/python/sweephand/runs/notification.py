"""What is told of a run's end (`onComplete`), and whether the run has ended so."""

import json
from typing import Any, Final

from sweephand.base.instants import Instant, rfc3339
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import NotifyMessage

#: Without a result, a notice is the data of a chained trigger that travels in its message: 2 KB at most.
_REASON_LENGTH_MAX: Final = 200


def notification_of(run: Run) -> NotifyMessage:
    """The message that has the end of a run told; `run` is as its end is about to be recorded."""
    assert run.is_over, "what goes on has no end to tell of"
    assert run.ended_at is not None, "an end has its instant"
    return NotifyMessage(
        trigger=trigger_of(run),
        state=run.state,
        attempts=run.attempts,
        started_at=run.started_at,
        ended_at=run.ended_at,
        response_code=run.response_code,
        reason=run.reason and run.reason[:_REASON_LENGTH_MAX],
        not_before=run.ended_at,
        result=run.result,
    )


def is_recorded(notice: NotifyMessage, run: Run | None) -> bool:
    """Whether a run has ended as a notice says, by its record.

    A notice is sent before the end is recorded, and a report or a deadline can come in between: then the end
    is another, or none. A run without a record is one that succeeded at once: nothing else ends without one.
    """
    if run is None:
        return notice.state == "succeeded"
    if (run.state, run.attempts) == (notice.state, notice.attempts):
        return True
    # Redriven since: it had ended, and will end again.
    return notice.state == "failed" and run.round_from > notice.attempts


def body_of(notice: NotifyMessage) -> bytes:
    """What is told, as JSON: whose run it is, how it ended, when, and with which result.

    The result stands in it byte for byte as the consumer sent it.
    """
    trigger = notice.trigger
    told = {
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        "runId": trigger.run_id,
        "triggerId": trigger.id,
        "state": notice.state,
        "dueAt": rfc3339(trigger.due_at),
        "startedAt": _time(notice.started_at),
        "endedAt": rfc3339(notice.ended_at),
        "attempts": notice.attempts,
        "responseCode": notice.response_code,
        "reason": notice.reason,
    }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"result":{notice.result or "null"}}}'.encode(errors="replace")


def _time(instant: Instant | None) -> Any:
    return None if instant is None else rfc3339(instant)
