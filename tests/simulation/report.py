"""The report of a run over many seeds: its figures, and how to run a seed again."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.simulation.world.faults import Mask

from sweephand.base.instants import DAY_MS, MINUTE_MS

#: Each figure of the report, and the counts of the seeds whose sum it is.
FIGURES: Final[Mapping[str, Sequence[str]]] = {
    "seeds": ("seeds",),
    "triggers delivered": ("triggers",),
    "requests to consumers": ("requests",),
    "client requests": ("client requests",),
    "writes and deletions of jobs": ("writes", "deletions"),
    "pages of bulk calls": ("bulk calls",),
    "jobs of bulk writes": ("bulk entries",),
    "reports, cancels and redrives of runs": ("reports", "of runs"),
    "notifications of ends": ("notified",),
    "crashes": ("kill", "time limit"),
    "pauses": ("pause",),
    "store and queue errors": ("throttle", "loss", "part", "refusal"),
    "outages": ("outage",),
    "messages received in vain": ("not begun",),
    "bundles received": ("bundles",),
    "wake-ups": ("wake-ups",),
    "duplicated messages": ("copy",),
    "delayed messages": ("delay",),
    "failed or lost answers": ("failed answers",),
    "dead letters": ("dead letters",),
    "ticks": ("ticks",),
    "ticks missed": ("ticks missed",),
    "ticks doubled": ("double ticks",),
    "items removed after their time to live": ("removed",),
    "times the shards were raised": ("raised shards",),
}


def figures_of(counts: Mapping[str, int], lasted_s: float) -> str:
    """Return the figures, a line each, and the rate."""
    width = max(map(len, FIGURES)) + 2
    lines = [f"{name:<{width}}{sum(counts.get(each, 0) for each in of):>12,}" for name, of in FIGURES.items()]
    days = counts.get("simulated minutes", 0) * MINUTE_MS / DAY_MS
    seeds = counts.get("seeds", 0)
    lines.append(f"{'simulated time':<{width}}{days:>12,.1f} days")
    lines.append(f"{'took':<{width}}{lasted_s:>12,.1f} s, {seeds / lasted_s:,.1f} seeds/s")
    return "\n".join(lines)


def replay_of(seed: int, mask: Mask) -> str:
    """Return how to run the seed again: whole by a command, shrunk by a call."""
    troubles = ", ".join(repr(each) for each in sorted(mask.troubles))
    actions = ", ".join(map(str, sorted(mask.actions)))
    masked = (
        f"Mask(troubles=frozenset({{{troubles}}}), actions=frozenset({{{actions}}}), minutes={mask.minutes})"
    )
    return f"Replay: make sim SEED={seed}\nor, shrunk as above: run({seed}, mask={masked}, is_telling=True)"
