"""What triggers and their runs are called, and what the name of a run says."""

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast

from sweephand.base.instants import INSTANT_MAX, Instant

#: `manual`: a trigger now; `backfill`: triggers of a span that is past; `chained`: one that a run of another
#: job asked for when it ended.
DemandKind = Literal["manual", "backfill", "chained"]


class Demand(NamedTuple):
    """That somebody asked for a trigger: what for, and by which request (a token of Ids).

    `link` says how many triggers in a row each asked for the next until this one: 1 for the first that is
    chained to another, 0 for what no run asked for. It is no part of any name.
    """

    kind: DemandKind
    token: str
    link: int = 0


def is_exempt(demand: Demand | None) -> bool:
    """Whether a trigger is delivered though its job is paused: somebody asked for it, not a run."""
    return demand is not None and demand.kind != "chained"


@dataclass(frozen=True, slots=True)
class RunName:
    """What the name of a run says. Those of a schedule have no demand; others are told apart by theirs."""

    due_at: Instant
    index: int
    demand: Demand | None = None

    def __str__(self) -> str:
        if self.demand is None:
            return f"{self.due_at}-{self.index}"
        return f"{self.demand.kind}-{self.due_at}-{self.index}-{self.demand.token}"


# Left for re to compile and keep when it is first used: importing this must be cheap.
_RUN_NAME: Final = (
    r"(?:(manual|backfill|chained)-)?(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,6})(?(1)-([a-z0-9]{1,32})|)"
)


def read_run_name(text: str) -> RunName | None:
    """What a run's name says; None if it is none."""
    match = re.fullmatch(_RUN_NAME, text, re.ASCII)
    if match is None or int(match[2]) > INSTANT_MAX:
        return None
    kind, due_at, index, token = match.groups()
    demand = Demand(cast("DemandKind", kind), token) if kind else None
    return RunName(int(due_at), int(index), demand)
