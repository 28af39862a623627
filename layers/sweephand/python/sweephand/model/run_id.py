"""How triggers and their runs are named, how such a name is read, and how a batch has ended."""

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.model.trace import Origin

#: `manual`: a trigger that a caller asked for now. `backfill`: triggers of a past range. `chained`: a trigger
#: that the end of another job's run asked for.
DemandKind = Literal["manual", "backfill", "chained"]


class Demand(NamedTuple):
    """The request that asked for a trigger: its kind, and its token (Ids.token).

    `link` is the trigger's position in a chain of jobs. The first chained trigger has 1. A trigger that no
    run asked for has 0. `origin` is the trace context of the request or the run that asked, if it had one.
    Neither is part of any name.
    """

    kind: DemandKind
    token: str
    link: int = 0
    origin: Origin | None = None


def is_exempt_from_pause(demand: Demand | None) -> bool:
    """Whether a trigger is delivered even if its job is paused: a caller asked for it, and not a run."""
    return demand is not None and demand.kind != "chained"


@dataclass(frozen=True, slots=True)
class RunName:
    """The parts of a run's name. A run of a schedule has no demand; the demand tells other runs apart."""

    due_at: Instant
    index: int
    demand: Demand | None = None

    def __str__(self) -> str:
        return run_id(self.due_at, self.index, self.demand)


def run_id(due_at: Instant, index: int, demand: Demand | None) -> str:
    """The name of a run as text."""
    if demand is None:
        return f"{due_at}-{index}"
    return f"{demand.kind}-{due_at}-{index}-{demand.token}"


# `re` compiles the pattern when it is first used, because this module must be cheap to import.
_RUN_NAME: Final = (
    r"(?:(manual|backfill|chained)-)?(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,6})(?(1)-([a-z0-9]{1,32})|)"
)


def parse_run_name(text: str) -> RunName | None:
    """The parts of a run's name; None if the text is not such a name."""
    match = re.fullmatch(_RUN_NAME, text, re.ASCII)
    if match is None or int(match[2]) > INSTANT_MAX:
        return None
    kind, due_at, index, token = match.groups()
    demand = Demand(cast("DemandKind", kind), token) if kind else None
    return RunName(int(due_at), int(index), demand)


def batch_id(due_at: Instant, demand: Demand | None) -> str:
    """The name of a batch within its job: that of its runs without their index."""
    return str(due_at) if demand is None else f"{demand.kind}-{due_at}-{demand.token}"


def parse_batch_name(text: str) -> RunName | None:
    """The name of the first run of the batch of that name; None if the text is no name of a batch."""
    before, dash, token = text.rpartition("-")
    return parse_run_name(f"{before}-0-{token}" if dash else f"{text}-0")


#: Sorts after every uid of a job.
AFTER_UIDS: Final = "~"


def run_position(name: RunName, uid: str) -> str:
    """The sort key of a run among the runs of its job's key. `uid` is that of the job.

    Runs sort by due time, then by index. At the same place, runs of the schedule sort before runs on demand.
    """
    return f"{name.due_at:014d}#{name.index:07d}#{_demand_position(name.demand)}{uid}"


def batch_position(due_at: Instant, demand: Demand | None, uid: str) -> str:
    """The sort key of a batch among the batches of its job's key, in the order of its runs."""
    return f"{due_at:014d}#{_demand_position(demand)}{uid}"


def _demand_position(demand: Demand | None) -> str:
    return "" if demand is None else f"{AFTER_UIDS}{demand.kind}#{demand.token}#"


class Counts(NamedTuple):
    """How many runs of a batch ended in which way. Those that were skipped count as cancelled."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def over(self) -> int:
        """How many runs are over."""
        return self.succeeded + self.failed + self.cancelled


class BatchEnd(NamedTuple):
    """The end of a batch of `total` triggers. `overran`: as BatchHead has it."""

    total: int
    counts: Counts
    overran: bool

    @property
    def state(self) -> Literal["succeeded", "failed"]:
        """`succeeded` if every run has."""
        return "succeeded" if self.counts.succeeded == self.total else "failed"
