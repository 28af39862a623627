"""The ports of time and chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sweephand.base.instants import Instant


class Clock(Protocol):
    """The clock of this machine."""

    def now(self) -> Instant:
        """The present instant."""
        ...

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after it; return at once if it is past."""
        ...


class Ids(Protocol):
    """The source of ids that must be unique, and of secrets that nobody can guess."""

    def token(self) -> str:
        """16 characters of a-z and 0-9 that no other caller gets: for uids, versions, owners."""
        ...

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9 that nobody can guess: 256 random bits."""
        ...

    def fraction(self) -> float:
        """A random number from 0 up to, but not including, 1."""
        ...
