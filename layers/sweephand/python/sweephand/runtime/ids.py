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
_SECRET: Final = _Alphabet.of(string.ascii_letters + string.digits)


class SystemIds:
    """ports.Ids by the operating system's randomness: safe after a snapshot of the process is restored."""

    def token(self) -> str:
        """16 characters of a-z and 0-9: 82 random bits."""
        return _drawn(_TOKEN, 16)

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9: 256 random bits."""
        return _drawn(_SECRET, 43)

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        return random.SystemRandom().random()


def _drawn(alphabet: _Alphabet, length: int) -> str:
    """So many characters.

    They are drawn at once: for each call to the system a thread lets go of the interpreter, and ten threads
    that deliver draw a token each.
    """
    drawn = b""
    while len(drawn) < length:
        # A few in a hundred are dropped: half as many again are enough but once in a blue moon.
        drawn += os.urandom(length + length // 2).translate(alphabet.table, alphabet.dropped)
    return drawn[:length].decode()
