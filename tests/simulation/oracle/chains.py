"""What was told of the ends of runs: by a notice to a consumer, or by a trigger of a job that follows."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Requested, Told

#: What the id of a chained trigger has after its job's uid.
CHAINED = "-chained-"


class End(NamedTuple):
    """That the run of a trigger of a job ended in a state, after so many attempts."""

    uid: str
    trigger_id: str
    attempts: int
    state: str


class Followed(NamedTuple):
    """That an end was told at an instant under an id.

    `name` and `uid` are of the job whose consumer was told, or of the one that was triggered.
    """

    end: End
    id: str
    name: str
    uid: str
    at: int


def followed(tale: Tale) -> Iterator[Followed]:
    """All that was told of ends."""
    for each in tale.of(Told):
        end = End(each.uid, each.trigger_id, each.attempts, each.state)
        yield Followed(end, each.notice_id, each.name, each.uid, each.at)
    for request in tale.requests:
        told = end_in(request)
        if told is not None:
            yield Followed(told, request.trigger_id, request.name, request.uid, request.at)


def end_in(request: Requested) -> End | None:
    """The end that a chained trigger tells of; None if it tells of none, or is not chained."""
    said = json.loads(request.data) if CHAINED in request.trigger_id else None
    if not isinstance(said, dict):
        return None
    trigger_id = said["triggerId"]
    return End(trigger_id.partition("-")[0], trigger_id, said["attempts"], said["state"])
