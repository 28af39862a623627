"""How much of a page a sweeper does between two commits: what it can finish, however slow the stores are."""

from typing import Final, NamedTuple

from sweephand.wheel.expand import TRIGGERS_MAX

#: Timers read at once: as many as one-offs make triggers between two commits.
PAGE_TIMERS_MAX: Final = 1_000

#: Records of skipped spans that are written at once: each is a request of its own, since it has a condition.
RECORDS_AT_ONCE: Final = 16

#: Rounds of requests for each timer, at most: a hundredth of a BatchGetItem, a twenty-fifth of a
#: BatchWriteItem, and one of the records that are written at once.
_ROUNDS_PER_TIMER: Final = 1 / 100 + 1 / 25 + 1 / RECORDS_AT_ONCE

#: The same for each trigger: eight calls of ten messages go at once.
_ROUNDS_PER_TRIGGER: Final = 1 / 80

#: Rounds that a portion takes whatever its size: one more of each kind of request, a renewal and the commit.
_ROUNDS_AT_LEAST: Final = 6

#: Each attempt that did not reach a commit leaves this part of the portion for the next: after five in a row
#: a sweeper tries a single timer.
_SHRINKING: Final = 4


class Portion(NamedTuple):
    """At most so many timers, and so many triggers and skipped spans, go between two commits."""

    timers: int
    triggers: int


class Pace:
    """What one sweep has seen of the time that requests take."""

    def __init__(self) -> None:
        self._round_ms = 0.0

    def saw(self, took_ms: int, rounds: float = 1) -> None:
        """Note how long so many rounds took: a slow one counts at once, and is forgotten slowly."""
        self._round_ms = max(took_ms / max(1, rounds), self._round_ms / 2)

    def has_time(self, left_ms: int) -> bool:
        """Whether one more portion and a release can be done in the time that is left."""
        return left_ms >= (_ROUNDS_AT_LEAST + 2) * self._round_ms

    def portion(self, left_ms: int, attempts_in_vain: int) -> Portion:
        """What can be done in half of the time that is left, and never nothing.

        `attempts_in_vain` is how many sweepers in a row claimed the shard and committed nothing: they were
        ended by their time limit, or something failed. With each the portion shrinks, down to one timer, so
        that a shard moves on as long as one timer can be dealt with.
        """
        timers, triggers = PAGE_TIMERS_MAX, TRIGGERS_MAX
        if self._round_ms:
            rounds = left_ms / 2 / self._round_ms - _ROUNDS_AT_LEAST
            # Half of the rounds are for what comes with each timer, half for its triggers.
            timers = min(timers, int(rounds / 2 / _ROUNDS_PER_TIMER))
            triggers = min(triggers, int(rounds / 2 / _ROUNDS_PER_TRIGGER))
        shrunk = _SHRINKING**attempts_in_vain
        return Portion(max(1, timers // shrunk), max(1, triggers // shrunk))


def rounds(timers: int, messages: int, records: int) -> float:
    """How many rounds of requests a portion took that had so many of each, at least one of each kind."""
    return 4 + timers / 100 + timers / 25 + messages / 80 + records / RECORDS_AT_ONCE
