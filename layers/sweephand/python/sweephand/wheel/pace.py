"""How much of a page a sweeper handles between two commits, so that it finishes even if stores are slow."""

from typing import Final, NamedTuple

from sweephand.base.concurrency import REQUESTS_AT_ONCE
from sweephand.wheel.expand import TRIGGERS_MAX

#: How many keys, items and messages one request of DynamoDB or SQS takes. A sweeper divides its work into
#: parts of this size, which it then reads, writes and sends at once.
JOBS_PER_READ: Final = 100
TIMERS_PER_WRITE: Final = 25
MESSAGES_PER_SEND: Final = 10

#: Timers that are read at once. One-off jobs make one trigger each, and as many triggers fit between two
#: commits.
PAGE_TIMERS_MAX: Final = 1_000

#: Requests for each timer, at most: a hundredth of a BatchGetItem, a twenty-fifth of a BatchWriteItem, and a
#: record of a skipped range. A round is as many requests as are made at once.
_ROUNDS_PER_TIMER: Final = (1 / JOBS_PER_READ + 1 / TIMERS_PER_WRITE + 1) / REQUESTS_AT_ONCE

#: Rounds of requests for each trigger.
_ROUNDS_PER_TRIGGER: Final = 1 / MESSAGES_PER_SEND / REQUESTS_AT_ONCE

#: Rounds that any portion takes: one more of each kind of request, a renewal, and the commit.
_ROUNDS_AT_LEAST: Final = 6

#: Each claim that reached no commit divides the next portion by this. After five in a row, a sweeper tries a
#: single timer.
_SHRINKING: Final = 4


class Portion(NamedTuple):
    """How many timers, and how many triggers and skipped ranges, go between two commits at most."""

    timers: int
    triggers: int


class Pace:
    """The time that requests have taken in one sweep."""

    def __init__(self) -> None:
        self._round_ms = 0.0

    def record(self, took_ms: int, rounds: float = 1) -> None:
        """Record how long so many rounds took. A slow round counts at once, and is forgotten slowly."""
        self._round_ms = max(took_ms / max(1, rounds), self._round_ms / 2)

    def has_time(self, left_ms: int) -> bool:
        """Whether the time that is left suffices for one more portion and a release."""
        return left_ms >= (_ROUNDS_AT_LEAST + 2) * self._round_ms

    def portion(self, left_ms: int, attempts_in_vain: int) -> Portion:
        """What a sweeper can do in half of the time that is left; at least one timer and one trigger.

        `attempts_in_vain` is the number of claims of the shard in a row that reached no commit, because of a
        time limit or a failure. With each of them the portion shrinks, down to one timer. So the shard
        advances as long as one timer can be handled.
        """
        timers, triggers = PAGE_TIMERS_MAX, TRIGGERS_MAX
        if self._round_ms:
            rounds = left_ms / 2 / self._round_ms - _ROUNDS_AT_LEAST
            # Half of the rounds are for the requests that each timer needs, and half for its triggers.
            timers = min(timers, int(rounds / 2 / _ROUNDS_PER_TIMER))
            triggers = min(triggers, int(rounds / 2 / _ROUNDS_PER_TRIGGER))
        shrunk = _SHRINKING**attempts_in_vain
        return Portion(max(1, timers // shrunk), max(1, triggers // shrunk))


def rounds(timers: int, messages: int, records: int) -> float:
    """The rounds of requests that a portion of that size took; each kind counts as one round at least."""
    requests = timers / JOBS_PER_READ + timers / TIMERS_PER_WRITE + messages / MESSAGES_PER_SEND + records
    return 4 + requests / REQUESTS_AT_ONCE
