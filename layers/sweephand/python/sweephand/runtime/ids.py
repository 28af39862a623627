"""Making what has to be unlike anything else, or unforeseeable: here, and nowhere else in Sweephand."""

import os
import random
import string
from typing import Final, NamedTuple


class _Alphabet(NamedTuple):
    """How random bytes become its characters, each as often as any other.

    As many bytes as the size of the alphabet goes into evenly are characters by `table`; the others, which
    would make its first characters likelier than its last, are `dropped`.
    """

    table: bytes
    dropped: bytes

    @classmethod
    def of(cls, characters: str) -> "_Alphabet":
        """The alphabet of those characters, which are ASCII."""
        times = 256 // len(characters)
        table = (characters.encode() * times).ljust(256, b"?")
        return cls(table, bytes(range(times * len(characters), 256)))


_TOKEN: Final = _Alphabet.of(string.digits + string.ascii_lowercase)
_TOKEN_LENGTH: Final = 16
_TOKENS_AT_ONCE: Final = 32
_SECRET: Final = _Alphabet.of(string.ascii_letters + string.digits)


class SystemIds:
    """ports.Ids by the operating system's randomness. Several threads may share one.

    A snapshot of a process is taken before its first call, and nothing is drawn before it is asked for: so
    no two processes that are restored from one share what was drawn.
    """

    def __init__(self) -> None:
        self._tokens: list[str] = []

    def token(self) -> str:
        """16 characters of a-z and 0-9: 82 random bits.

        Drawn many at a time: for each call to the system a thread lets go of the interpreter, and of ten
        threads that deliver each needs a token.
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
    """So many characters."""
    drawn = b""
    while len(drawn) < length:
        # A few in a hundred are dropped: half as many again are enough but once in a blue moon.
        drawn += os.urandom(length + length // 2).translate(alphabet.table, alphabet.dropped)
    return drawn[:length].decode()
