"""How far a round has come that keeps what waits while the stack is switched off, and what it has kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from sweephand.base.instants import Instant

#: What a round keeps, one part after the other: timers of the wheel, messages in queues, lines of policies,
#: what belongs to single jobs, and payloads that no job refers to.
KeepPart: TypeAlias = Literal["timers", "messages", "policies", "jobs", "payloads"]
KEEP_PARTS: Final[Sequence[KeepPart]] = ("timers", "messages", "policies", "jobs", "payloads")


class KeepPlace(NamedTuple):
    """How far a round has come: the part, the `name` within it, and the position `after` within that.

    `name` is a shard, a queue, a namespace or the number of a place of payloads; empty for the first one.
    `after` is the sort key of a timer, the name of a policy or job, or a position in a place of payloads:
    everything up to it is done. Of a queue, it is how many messages in a row
    were found that had been sent since the round began. `before` is a position within the runs of that
    job; empty if all of its runs are done.
    """

    part: KeepPart
    name: str = ""
    after: str = ""
    before: str = ""


#: The place of a round that has not begun.
KEEP_BEGINNING: Final = KeepPlace(KEEP_PARTS[0])


class KeepRound(NamedTuple):
    """A round: when it began, and how far it has come; `place` is None when it is over.

    A step is at work until `held_until` at the latest. `version` is the token of the write. `done_at` is when
    the latest round began that is over: what waited then was kept. None if no round was ever over.
    """

    began_at: Instant
    place: KeepPlace | None
    held_until: Instant
    version: str
    done_at: Instant | None = None


@dataclass(slots=True)
class Kept:
    """The result of a step: how many items and messages it has kept, by what they are.

    `is_over` says whether the round is over with this step.
    """

    timers: int = 0
    messages: int = 0
    entries: int = 0
    jobs: int = 0
    revisions: int = 0
    lines: int = 0
    runs: int = 0
    payloads: int = 0
    is_over: bool = False


class EndingTimers(NamedTuple):
    """The sort keys of timers that end soon. `reached` is the last key that was read; None: all were read."""

    keys: Sequence[str]
    reached: str | None


class Renewed(NamedTuple):
    """How many messages were sent again, and how many of them had been sent since the given instant."""

    messages: int
    young: int
