"""The clock of the machine, and random ids, secrets and fractions. No other module reads either."""

import os
import random
import string
import time
from typing import Final, NamedTuple

from sweephand.base.instants import Instant


class SystemClock:
    """ports.Clock by the machine's clock."""

    def now(self) -> Instant:
        """The present instant in whole milliseconds, rounded down."""
        return time.time_ns() // 1_000_000

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after; at once if it is past."""
        remaining_ms = instant - self.now()
        if remaining_ms > 0:
            time.sleep(remaining_ms / 1_000)


class _Alphabet(NamedTuple):
    """How random bytes become the characters of an alphabet, each equally likely.

    The table covers the largest multiple of the alphabet's size that fits into 256. The remaining bytes are
    `dropped`: they would make the first characters more likely than the last.
    """

    table: bytes
    dropped: bytes

    @classmethod
    def of(cls, characters: str) -> "_Alphabet":
        """The alphabet of those characters, which must be ASCII."""
        times = 256 // len(characters)
        table = (characters.encode() * times).ljust(256, b"?")
        return cls(table, bytes(range(times * len(characters), 256)))


_TOKEN: Final = _Alphabet.of(string.digits + string.ascii_lowercase)
_TOKEN_LENGTH: Final = 16
_TOKENS_AT_ONCE: Final = 32
_SECRET: Final = _Alphabet.of(string.ascii_letters + string.digits)


class SystemIds:
    """ports.Ids by the operating system's randomness. Several threads may share one object.

    Nothing is drawn before the first call, and Lambda takes its snapshot before that. So two processes that
    start from one snapshot never share random numbers.
    """

    def __init__(self) -> None:
        self._tokens: list[str] = []

    def token(self) -> str:
        """16 characters of a-z and 0-9: 82 random bits.

        Tokens are drawn 32 at a time. For each system call a thread releases the interpreter lock, and each
        of ten threads that deliver needs a token.
        """
        try:
            return self._tokens.pop()
        except IndexError:
            drawn = _drawn(_TOKEN, _TOKEN_LENGTH * _TOKENS_AT_ONCE)
            first, *others = (drawn[at : at + _TOKEN_LENGTH] for at in range(0, len(drawn), _TOKEN_LENGTH))
            self._tokens += others
            return first

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9: 256 random bits."""
        return _drawn(_SECRET, 43)

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        return random.SystemRandom().random()


def _drawn(alphabet: _Alphabet, length: int) -> str:
    """A random text of that length."""
    drawn = b""
    while len(drawn) < length:
        # A few bytes in a hundred are dropped. Half as many again are nearly always enough.
        drawn += os.urandom(length + length // 2).translate(alphabet.table, alphabet.dropped)
    return drawn[:length].decode()
