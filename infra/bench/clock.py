"""The clock and the ids of the cost benchmark. Both are the same in every run."""

import random
import string

from sweephand.base.instants import Instant

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
