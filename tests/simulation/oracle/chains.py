"""Notifications of the ends of runs, to a consumer or as a trigger of the next job in a chain."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import BatchTold
from tests.simulation.traces.trace import Requested, Told

#: The part of a chained trigger's id that follows its job's uid.
CHAINED = "-chained-"


class End(NamedTuple):
    """The end of a trigger's run: its state, after a number of attempts."""

    uid: str
    trigger_id: str
    attempts: int
    state: str


class Followed(NamedTuple):
    """An end that was notified at an instant under an id.

    `name` and `uid` are of the job whose `onComplete` was notified, or of the job that was triggered.
    """

    end: End
    id: str
    name: str
    uid: str
    at: int


def followed(tale: Tale) -> Iterator[Followed]:
    """Return all notifications of ends."""
    for each in tale.of(Told):
        end = End(each.uid, each.trigger_id, each.attempts, each.state)
        yield Followed(end, each.notice_id, each.name, each.uid, each.at)
    for request in tale.requests:
        told = end_in(request)
        if told is not None:
            yield Followed(told, _first_of(request), request.name, request.uid, request.at)


def _first_of(request: Requested) -> str:
    """Return the id of the first trigger of the batch to which a chained trigger belongs."""
    before, _, after = request.trigger_id.partition(f"-{request.due_at}-{request.index}-")
    return f"{before}-{request.due_at}-0-{after}"


def end_in(request: Requested) -> End | None:
    """Return the end that a chained trigger follows, or None if it follows none or is not chained."""
    said = json.loads(request.data) if CHAINED in request.trigger_id else None
    if not isinstance(said, dict) or "batchId" in said:
        return None
    trigger_id = said["triggerId"]
    return End(trigger_id.partition("-")[0], trigger_id, said["attempts"], said["state"])


def batch_end_in(request: Requested) -> BatchTold | None:
    """Return the end of a batch that a chained trigger follows, or None if it follows none.

    What is told does not name the uid of the job whose batch has ended, so that is empty. The instant is 0,
    so that what is told twice is equal.
    """
    said = json.loads(request.data) if CHAINED in request.trigger_id else None
    if not isinstance(said, dict) or "batchId" not in said:
        return None
    counts = said["succeeded"], said["failed"], said["cancelled"]
    first = _first_of(request)
    return BatchTold(0, said["job"], "", said["batchId"], first, said["state"], said["total"], counts)


def is_of_batch(tale: Tale, uid: str, run_id: str) -> bool:
    """Whether a run is one of a batch."""
    return any(each.is_counted is not None for each in tale.runs_of.get((uid, run_id), []))
