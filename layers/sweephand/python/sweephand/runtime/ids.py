"""Making what has to be unlike anything else, or unforeseeable: here, and nowhere else in Sweephand."""

import random
import secrets
import string

_TOKEN_ALPHABET = string.digits + string.ascii_lowercase
_SECRET_ALPHABET = string.ascii_letters + string.digits


class SystemIds:
    """ports.Ids by the operating system's randomness: safe after a snapshot of the process is restored."""

    def token(self) -> str:
        """16 characters of a-z and 0-9: 82 random bits."""
        return "".join(secrets.choice(_TOKEN_ALPHABET) for _ in range(16))

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9: 256 random bits."""
        return "".join(secrets.choice(_SECRET_ALPHABET) for _ in range(43))

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        return random.SystemRandom().random()
