"""Notifications of the ends of runs, to a consumer or as a trigger of the next job in a chain."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.oracle.tale import TOO_LONG, Tale
from tests.simulation.traces.rare_events import BatchTold, ChainBound
from tests.simulation.traces.trace import Buried, Requested, Told

#: The part of a chained trigger's id that follows its job's uid.
CHAINED = "-chained-"


#: The most links that a chain has, unless the trace says otherwise.
LINKS_MAX = 100


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


def chains_of_jobs_are_bounded(tale: Tale) -> Iterator[str]:
    """A chain has as many links as are allowed and no more, also where jobs follow each other in circles."""
    longest = next((each.links for each in tale.of(ChainBound)), LINKS_MAX)
    links: dict[str, int | None] = {}
    for request in tale.requests:
        known = links[request.trigger_id] = _link(request, links)
        if known is not None and known > longest:
            yield f"{request.name}: {request.trigger_id} is link {known} of its chain; {longest} are allowed"
        if request.index == 0:
            links[_batch_of(request)] = known
    for letter in tale.of(Buried):
        reached = links.get(letter.trigger_id or "", longest)
        if TOO_LONG in letter.reason and reached is not None and reached < longest:
            yield f"the chain of {letter.trigger_id} ended after {reached} links; {longest} are allowed"


def _link(request: Requested, links: dict[str, int | None]) -> int | None:
    """Return the place of a trigger in its chain; None if what it follows has made no request itself."""
    if CHAINED not in request.trigger_id:
        return 0
    end, batch_end = end_in(request), batch_end_in(request)
    before = None
    if end is not None:
        before = links.get(end.trigger_id)
    elif batch_end is not None:
        before = links.get(f"{batch_end.name}/{batch_end.batch}")
    return None if before is None else before + 1


def _batch_of(request: Requested) -> str:
    """Return what names the batch of a trigger, if it has one."""
    run_id = request.trigger_id.removeprefix(f"{request.uid}-")
    return f"{request.name}/{run_id.replace(f'{request.due_at}-{request.index}', str(request.due_at), 1)}"
