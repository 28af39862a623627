"""The names of a trigger, for targets that have no headers."""

import json
from typing import Any

from sweephand.base.instants import rfc3339
from sweephand.model.run_id import batch_id
from sweephand.ports import Attempt
from sweephand.targets.queue_url import ESCAPES


def names_of(attempt: Attempt) -> str:
    """The names that an HTTP delivery carries in headers, as compact JSON."""
    trigger = attempt.trigger
    names: dict[str, Any] = {
        "id": attempt.id,
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        **_subject_of(attempt),
        "due": rfc3339(trigger.due_at),
        "attempt": attempt.number,
        "sequence": trigger.sequence,
        **({} if attempt.ended_after is None else {"event": attempt.event}),
        **({} if attempt.run_token is None else {"runToken": attempt.run_token}),
    }
    return json.dumps(names, separators=(",", ":"))


def _subject_of(attempt: Attempt) -> dict[str, Any]:
    """The run that the attempt is about, with its index; or the batch that has ended."""
    trigger = attempt.trigger
    if attempt.ends_batch:
        return {"batch": batch_id(trigger.due_at, trigger.demand)}
    return {"run": trigger.run_id, "batchIndex": trigger.index}


def text_of(attempt: Attempt) -> str:
    """`data` as JSON that every service takes."""
    return attempt.body.decode().translate(ESCAPES)


def envelope_of(attempt: Attempt) -> str:
    """The names and `data` in one JSON object, for a target that takes no attributes.

    `data` has the very bytes that the caller wrote, so that numbers stay exact.
    """
    return f'{{"sweephand":{names_of(attempt)},"data":{text_of(attempt)}}}'
