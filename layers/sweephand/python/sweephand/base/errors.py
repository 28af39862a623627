"""The tree of errors; what a caller did wrong says what would be right.

SweephandError
├── BadRequestError           the caller must change something
│   ├── InvalidError          fields that cannot be accepted: 422, one Violation for each
│   ├── MalformedError        a body that is not JSON: 400
│   ├── UnsupportedError      a content type that is not JSON: 415
│   ├── TooLargeError         a body over its limit: 413
│   ├── ForbiddenError        a role that does not suffice: 403
│   ├── NotFoundError         nothing there, or not for this caller: 404
│   ├── ConflictError         what is there is in no state for this: 409
│   ├── GoneError             what this was about is over, and whoever asks should stop: 410
│   └── PreconditionError     If-Match or If-None-Match lost: 412
├── UnavailableError          Sweephand gave up in time; nothing was committed: 503
├── PoisonError               a message that cannot be read or handled: it goes to the dead-letter queue
└── StoreError                a store or queue did not do what was asked, after the SDK's own retries
    └── NewerError            what is stored or queued was written by a newer version: it waits for that one

A room hangs its own where they belong: below BadRequestError, schedules its ScheduleError and web its
UnauthenticatedError (401) and MethodError (405), below TooLargeError its DataTooLargeError; below the root,
runtime its SettingsError and delivery its EgressError.
"""

from collections.abc import Sequence
from typing import NamedTuple


class SweephandError(Exception):
    """Whatever Sweephand raises by itself."""


class BadRequestError(SweephandError):
    """The caller must change something; the message says what would be right."""


class Violation(NamedTuple):
    """One field that cannot be accepted: a JSON pointer (RFC 6901) and a sentence that says what would be."""

    pointer: str
    detail: str


def pointer(*path: str | int) -> str:
    """The JSON pointer (RFC 6901) of a path of names and indexes. `~` and `/` in names are escaped."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


class InvalidError(BadRequestError):
    """Fields that cannot be accepted; `violations` names each, in the order of the document."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        assert violations, "an invalid request names at least one field"
        super().__init__("; ".join(f"{each.pointer}: {each.detail}" for each in violations))
        self.violations = tuple(violations)


class MalformedError(BadRequestError):
    """A body that is not JSON."""


class UnsupportedError(BadRequestError):
    """A content type that is not JSON."""


class TooLargeError(BadRequestError):
    """A body over its limit; the message names the limit."""


class ForbiddenError(BadRequestError):
    """A role that does not suffice; the message names the one that would."""


class NotFoundError(BadRequestError):
    """Nothing there, or nothing that this caller may see: the two are not told apart."""


class ConflictError(BadRequestError):
    """What is there is in no state for what was asked; the message says in which it is."""


class GoneError(BadRequestError):
    """What this was about is over, and whoever asks should stop; the message says why."""


class PreconditionError(BadRequestError):
    """If-Match or If-None-Match lost: the job is not in the version that the caller named."""


class UnavailableError(SweephandError):
    """Sweephand gave up in time; nothing was committed, and asking again is safe."""


class PoisonError(SweephandError):
    """A message that cannot be read, or not be handled, now or ever; the message says what about it."""


class StoreError(SweephandError):
    """A store or queue did not do what was asked; what was written may or may not be there."""


class NewerError(StoreError):
    """Something was written by a newer version of Sweephand, which alone can read it.

    It is kept until that version is there again: going back a version loses nothing.
    """
