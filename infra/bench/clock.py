"""The clocks and the ids of the cost benchmarks."""

import random
import string
import time

from sweephand.base.instants import SECOND_MS, Instant

_ALPHABET = string.digits + string.ascii_lowercase


class HandClock:
    """ports.Clock that stands still until a caller waits or moves it."""

    def __init__(self, now: Instant) -> None:
        self._now = now

    def now(self) -> Instant:
        """The instant to which it was last moved."""
        return self._now

    def wait_until(self, instant: Instant) -> None:
        """Move the clock to that instant, unless it is there or later already."""
        self._now = max(self._now, instant)


class AheadClock:
    """ports.Clock by the machine's clock, which a caller can move ahead."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def now(self) -> Instant:
        """The present instant."""
        return time.time_ns() // 1_000_000 + self._ahead_ms

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant; at once if it is past."""
        time.sleep(max(0, instant - self.now()) / SECOND_MS)

    def move_to(self, instant: Instant) -> None:
        """Go on from that instant, which is to come."""
        self._ahead_ms += max(0, instant - self.now())


class SeededIds:
    """ports.Ids that are the same in every run, so that all runs spread their jobs alike."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311 - no secret of anybody's

    def token(self) -> str:
        """16 characters of a-z and 0-9."""
        return "".join(self._random.choices(_ALPHABET, k=16))

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9."""
        return "".join(self._random.choices(string.ascii_letters + string.digits, k=43))

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        return self._random.random()
