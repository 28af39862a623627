"""A model of sending: how long sweepers take to send a herd to the queue."""

from dataclasses import dataclass
from typing import Final

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import SWEEP_RESERVE_MS

#: Tick sweeps by itself for so long. Then it starts sweepers for what is left (template.yaml: 55 s).
_TICK_S: Final = 55 - SWEEP_RESERVE_MS // SECOND_MS

#: A sweeper that tick starts is cold.
_COLD_S: Final = 1.5


@dataclass(frozen=True, slots=True)
class Sweeping:
    """What sends: so many sweepers and shards, and triggers a second of a sweeper and of tick itself."""

    sweepers: int
    shards: int
    sweeper_per_s: float
    tick_per_s: float

    @property
    def per_s(self) -> float:
        """Triggers a second of all sweepers. One shard has one sweeper at a time."""
        return min(self.sweepers, self.shards) * self.sweeper_per_s


def sent_after_s(herd: int, sweeping: Sweeping) -> float:
    """Seconds until the last trigger is sent, if tick has started all sweepers."""
    return herd / sweeping.per_s


def sent_after_idle_s(herd: int, sweeping: Sweeping) -> float:
    """The same after minutes in which little was due: tick begins alone."""
    alone = sweeping.tick_per_s * _TICK_S
    if herd <= alone:
        return herd / sweeping.tick_per_s
    return _TICK_S + _COLD_S + (herd - alone) / sweeping.per_s
