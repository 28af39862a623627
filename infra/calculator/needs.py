"""What triggers need: sweepers, shards, delivery functions and quotas, and how long a herd is sent."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import SWEEP_RESERVE_MS
from sweephand.storage.jobs import LISTING_SHARDS
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX
from sweephand.wheel.tick import MESSAGES_AT_ONCE
from sweephand_engine.costs import quotas
from sweephand_engine.costs.measured import Measured
from sweephand_engine.costs.pollers import CALL_TRIGGERS, COLD_S, EARLY_S, Work, core_of

#: The load of a sweeper or a function, as a share of what it can do. The rest is reserved for uneven minutes.
LOAD: Final = 0.7

#: What a trigger reads of the Jobs table: half a unit when it is swept, and one when it is delivered.
JOB_READS: Final = 1.5

#: The most of `MaxSweepers` (template.yaml). `ShardCount` may be larger.
SWEEPERS_MAX: Final = 100

#: Tick sweeps by itself for this long. Then it starts sweepers for what is left (template.yaml: 55 s).
_TICK_S: Final = 55 - SWEEP_RESERVE_MS // SECOND_MS


@dataclass(frozen=True, slots=True)
class Needs:
    """What so many triggers a minute need. `history` is kept: one write for each trigger."""

    per_minute: int
    sweepers: int
    functions: int
    reads_per_s: float
    writes_per_s: float
    in_flight: int
    namespaces: int

    @property
    def per_s(self) -> float:
        """Triggers a second."""
        return self.per_minute / 60

    @property
    def stacks(self) -> int:
        """The stacks over which so many triggers have to be spread, because parameters of a stack end."""
        of_sweepers = ceil(self.sweepers / SWEEPERS_MAX)
        return max(of_sweepers, ceil(self.functions / quotas.MAXIMUM_CONCURRENCY.value))

    @property
    def raised(self) -> str:
        """The quotas of an ordinary account that do not suffice, each with the value that does, or `none`.

        All stacks share the account's concurrency: all functions at once, and as much again for others. Each
        has tables and a queue of its own.
        """
        needed: dict[quotas.Quota, tuple[str, float]] = {
            quotas.CONCURRENCY: ("Lambda concurrency", 2 * (self.functions + self.sweepers)),
            quotas.POLLERS_MAX: ("functions of a queue", self.functions / self.stacks),
            quotas.IN_FLIGHT: ("messages in flight", self.in_flight / self.stacks),
            quotas.TABLE_READS: ("reads a second of a table", self.reads_per_s / self.stacks),
            quotas.TABLE_WRITES: ("writes a second of a table", self.writes_per_s / self.stacks),
        }
        short = [
            f"{name} {rounded(value):,}" for quota, (name, value) in needed.items() if value > quota.value
        ]
        return "; ".join(short) or "none"


def rounded(value: float) -> int:
    """The number rounded up to two digits."""
    step: int = 10 ** max(0, len(str(ceil(value))) - 2)
    return ceil(value / step) * step


def sweeper_per_s(measured: Measured, work: str, memory_mb: int) -> float:
    """Triggers a second of one sweeper. The processor limits it where it has less than a whole core."""
    [point] = [each for each in measured.sweeper if each.work == work]
    return min(point.per_s, core_of(memory_mb) * 1_000_000 / point.cpu_us)


def delivery(measured: Measured, memory_mb: int) -> Work:
    """The work of the delivery function with so much memory, through connections of TLS that are kept."""
    return Work(measured.function_cpu_us / 1_000_000, core_of(memory_mb))


def function_per_s(work: Work) -> float:
    """Triggers a second of one delivery function that always finds full bundles, waiting included."""
    return CALL_TRIGGERS / (EARLY_S + work.call_s())


def needs(per_minute: int, sweeper: float, work: Work) -> Needs:
    """What triggers need that are spread evenly over each minute.

    `sweeper` is the triggers a second of one sweeper.
    """
    per_s = per_minute / 60
    functions = max(quotas.POLLERS_AT_FIRST.value, ceil(per_s / function_per_s(work) / LOAD))
    reads = per_s * JOB_READS
    # A function holds its messages while it handles them. Few triggers a second fill no bundle.
    filled = min(BUNDLE_TRIGGERS_MAX, max(1.0, per_s))
    held_s = EARLY_S + work.call_s()
    return Needs(
        per_minute=per_minute,
        sweepers=max(1, ceil(per_s / sweeper / LOAD)),
        functions=functions,
        reads_per_s=reads,
        writes_per_s=per_s,
        in_flight=min(functions * MESSAGES_AT_ONCE, ceil(per_s / filled * held_s)),
        namespaces=max(1, ceil(reads / (quotas.PARTITION_READS.value * LISTING_SHARDS * LOAD))),
    )


def sent_after_idle_s(herd: int, per_s: float, tick_per_s: float) -> float:
    """Seconds until the last trigger is sent, after minutes in which little was due: tick begins alone.

    `per_s` is what all sweepers send in a second, and `tick_per_s` what tick sends.
    """
    alone = tick_per_s * _TICK_S
    if herd <= alone:
        return herd / tick_per_s
    return _TICK_S + COLD_S + (herd - alone) / per_s
