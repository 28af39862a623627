"""Time and ids of the cost benchmark: moved by hand, and the same in every run."""

import random
import string

from sweephand.base.instants import Instant

_ALPHABET = string.digits + string.ascii_lowercase


class HandClock:
    """ports.Clock that stands still until somebody waits, or moves it."""

    def __init__(self, now: Instant) -> None:
        self._now = now

    def now(self) -> Instant:
        """The instant it was moved to last."""
        return self._now

    def wait_until(self, instant: Instant) -> None:
        """Move it there, unless it is there or past it."""
        self._now = max(self._now, instant)


class SeededIds:
    """ports.Ids that are the same in every run, so that two runs spread their jobs alike."""

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
