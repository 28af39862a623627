"""The network between the delivery function and its consumers: slow connections, and FIFO queues."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from tests.fakes.fifo import DEDUPLICATION_MS
from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.workload.modes import Modes
from tests.simulation.world.faults import fraction, mixed
from tests.simulation.world.processes import Machine, Scheduler

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.delivery.checked_clients import CONNECT_TIMEOUT_S
from sweephand.model.attempt import Attempt

#: How long a connection normally takes. A slow one takes up to its target's time-out.
_CONNECT_MS_MAX: Final = 30

#: The time-out of a target that names none (docs/targets/http.md).
_TIMEOUT_DEFAULT: Final = "15s"

#: Each number picks one of the independent chances of a connection.
_IS_SLOW: Final = 5
_CONNECTING: Final = 2
_IS_LONG: Final = 9

#: In a seed whose trouble is slow connections, this share of them takes almost the whole time-out.
_LONG: Final = 1 / 2


@dataclass(slots=True)
class Network:
    """The connections of all machines, and the messages that each FIFO queue has taken.

    `slow` is the chance that a connection is slow.
    """

    scheduler: Scheduler
    modes: Modes
    slow: float
    _kept: Counter[tuple[Machine, str]] = field(default_factory=Counter)
    _taken: dict[str, Instant] = field(default_factory=dict)

    def connect(self, attempt: Attempt, code: int) -> int | None:
        """Let time pass until a connection stands.

        Returns what is left of the time-out, or None if there is no connection.
        """
        limit_ms = _limit_ms(attempt)
        if self._kept[self._place(attempt)]:
            self._kept[self._place(attempt)] -= 1
            return limit_ms
        takes_ms = self._takes_ms(attempt, code)
        self.scheduler.sleep(min(takes_ms, limit_ms))
        return limit_ms - takes_ms if takes_ms < limit_ms else None

    def keep(self, attempt: Attempt) -> None:
        """Keep a connection over which nothing was sent, for the next attempt on this machine."""
        self._kept[self._place(attempt)] += 1

    def drops(self, deduplication_id: str) -> bool:
        """Whether a FIFO queue accepts a message but does not deliver it, since it has had this id.

        The five minutes count from the first message with that id, whatever happened to it.
        """
        now = self.scheduler.now
        taken_at = self._taken.get(deduplication_id)
        if taken_at is not None and now - taken_at < DEDUPLICATION_MS:
            return True
        self._taken[deduplication_id] = now
        return False

    def _takes_ms(self, attempt: Attempt, code: int) -> int:
        """Return how long a new connection takes. It is less than the target allows."""
        if fraction(code, _IS_SLOW) >= self.slow:
            return int(fraction(code, _CONNECTING) * _CONNECT_MS_MAX)
        most_ms = _allowed_ms(attempt)
        if self.modes.is_slow and fraction(code, _IS_LONG) < _LONG:
            return most_ms - 1 - mixed(code, _CONNECTING) % SECOND_MS
        return int(fraction(code, _CONNECTING) * most_ms)

    def _place(self, attempt: Attempt) -> tuple[Machine, str]:
        spec = attempt.spec
        return self.scheduler.strand.process.machine, str(spec.get("url") or spec.get("queueUrl"))


def _allowed_ms(attempt: Attempt) -> int:
    """Return how long the target lets connecting take."""
    if attempt.spec["type"] == "sqs":
        return CONNECT_TIMEOUT_S * SECOND_MS
    return length_ms(attempt.spec.get("timeout", _TIMEOUT_DEFAULT))


def _limit_ms(attempt: Attempt) -> int:
    """Return how long connecting and the request may take together."""
    allowed_ms = _allowed_ms(attempt)
    return allowed_ms if attempt.within_ms is None else min(allowed_ms, attempt.within_ms)
