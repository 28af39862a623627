"""What a run over many seeds says of itself: its figures, and how a seed is run again."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.simulation.world.faults import Mask

from sweephand.base.instants import DAY_MS, MINUTE_MS

#: Each figure of the report, and which counts of the seeds are added up for it.
FIGURES: Final[Mapping[str, Sequence[str]]] = {
    "seeds": ("seeds",),
    "triggers delivered": ("triggers",),
    "requests to consumers": ("requests",),
    "client requests": ("client requests",),
    "writes and deletions of jobs": ("writes", "deletions"),
    "pages of bulk calls": ("bulk calls",),
    "reports, cancels and redrives of runs": ("reports", "of runs"),
    "ends told": ("told",),
    "crashes": ("kill", "time limit"),
    "pauses": ("pause",),
    "store and queue errors": ("throttle", "loss", "part", "refusal"),
    "outages": ("outage",),
    "messages received in vain": ("not begun",),
    "duplicated messages": ("copy",),
    "delayed messages": ("delay",),
    "failed or lost answers": ("failed answers",),
    "dead letters": ("dead letters",),
    "ticks": ("ticks",),
    "ticks missed": ("ticks missed",),
    "ticks doubled": ("double ticks",),
    "items removed, their time to live being over": ("removed",),
    "times the shards were raised": ("raised shards",),
}


def figures_of(counts: Mapping[str, int], lasted_s: float) -> str:
    """The figures, a line each, and the rate."""
    width = max(map(len, FIGURES)) + 2
    lines = [f"{name:<{width}}{sum(counts.get(each, 0) for each in of):>12,}" for name, of in FIGURES.items()]
    days = counts.get("simulated minutes", 0) * MINUTE_MS / DAY_MS
    seeds = counts.get("seeds", 0)
    lines.append(f"{'simulated time':<{width}}{days:>12,.1f} days")
    lines.append(f"{'took':<{width}}{lasted_s:>12,.1f} s, {seeds / lasted_s:,.1f} seeds/s")
    return "\n".join(lines)


def replay_of(seed: int, mask: Mask) -> str:
    """How the seed is run again: by the command, and with what was left out."""
    troubles = ", ".join(repr(each) for each in sorted(mask.troubles))
    actions = ", ".join(map(str, sorted(mask.actions)))
    masked = (
        f"Mask(troubles=frozenset({{{troubles}}}), actions=frozenset({{{actions}}}), minutes={mask.minutes})"
    )
    return f"Replay: make sim SEED={seed}\nor, as told here: run({seed}, mask={masked}, is_telling=True)"
