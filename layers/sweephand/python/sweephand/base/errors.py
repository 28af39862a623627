"""The tree of errors that Sweephand raises, and the HTTP status that each one becomes.

SweephandError
├── BadRequestError           the caller must change something in the request
│   ├── InvalidError          fields that Sweephand cannot accept, with one Violation for each: 422
│   ├── MalformedError        a body that is not JSON: 400
│   ├── UnsupportedError      a content type that is not JSON: 415
│   ├── TooLargeError         a body over its size limit: 413
│   ├── ForbiddenError        the caller's role does not suffice: 403
│   ├── NotFoundError         the object does not exist, or this caller may not see it: 404
│   ├── ConflictError         the object's present state does not allow the request: 409
│   ├── GoneError             the run is over, and the consumer should stop: 410
│   ├── PreconditionError     If-Match or If-None-Match does not hold: 412
│   ├── ScheduleError         a schedule that cannot be read; its caller makes violations of it
│   └── QuotaError            a limit of the namespace is reached: 429
├── UnavailableError          Sweephand gave up within its time limit and committed nothing: 503
├── OffTooLongError           the stack has been switched off for ten days or more
├── PoisonError               a message that can never be handled; it is buried
├── FormError                 a stored value breaks its layout
└── StoreError                a store or queue failed, after the retries of the SDK
    ├── ParameterError        a parameter of the stack names something that is not as it must be: 503
    └── NewerError            a newer version wrote the item or message; it waits for that version

Rooms above add their own errors to the tree. Below BadRequestError, web has UnauthenticatedError (401) and
MethodError (405). Below TooLargeError, web has DataTooLargeError.
Directly below SweephandError, runtime has SettingsError, ListsTooLongError and RefusedError, and delivery has
EgressError.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from sweephand.base.limits import PROBLEM_ERRORS_MAX


class SweephandError(Exception):
    """Any error that Sweephand itself raises."""


class BadRequestError(SweephandError):
    """The caller must change something in the request. The message says what would be right."""


class Violation(NamedTuple):
    """A field that Sweephand cannot accept: its JSON pointer (RFC 6901), and what would be right."""

    pointer: str
    detail: str


def pointer(*path: str | int) -> str:
    """The JSON pointer (RFC 6901) of a path of names and indexes; `~` and `/` in names are escaped."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def first_violations(violations: Iterable[Violation]) -> list[Violation]:
    """The first violations: one more than a problem names, so that the problem can say that there are more.

    A body has room for a hundred thousand wrong names. A rule that judges the names of a caller makes its
    violations lazily and ends them here, because nobody is shown the rest.
    """
    return list(islice(violations, PROBLEM_ERRORS_MAX + 1))


class InvalidError(BadRequestError):
    """Fields that Sweephand cannot accept; `violations` has one entry for each, in the document's order.

    There can be more wrong fields than entries: see `first_violations`.
    """

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
    """The caller's role does not suffice; the message names a role that does."""


class NotFoundError(BadRequestError):
    """The object does not exist, or this caller may not see it; the caller cannot tell which."""


class ConflictError(BadRequestError):
    """The object's present state does not allow the request; the message names that state."""


class GoneError(BadRequestError):
    """The run is over, and the consumer that sends callbacks for it should stop; the message says why."""


class PreconditionError(BadRequestError):
    """If-Match or If-None-Match does not hold: the job is not in the revision that the caller named."""


class QuotaError(BadRequestError):
    """A limit of the namespace is reached; the message names the limit. It may be free again later."""


class RateError(BadRequestError):
    """The caller's key may send no more requests in this minute. It may again after `retry_after_s`."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class UnavailableError(SweephandError):
    """Sweephand gave up within its time limit and committed nothing; the caller may safely ask again."""


class OffTooLongError(SweephandError):
    """The stack has been switched off for so long that somebody has to know."""


class PoisonError(SweephandError):
    """A message that Sweephand cannot read, or can never handle; the message of the error says why."""


class FormError(SweephandError):
    """What is stored does not have the form of its layout. The message names the field and its form."""


class StoreError(SweephandError):
    """A store or queue failed; the write may or may not have been applied."""


class ParameterError(StoreError):
    """A parameter of the stack names something that is not as it must be; nothing was written.

    The message names the parameter and says what would be right.
    """


class NewerError(StoreError):
    """A newer version of Sweephand wrote the item or message, and only that version can read it.

    Sweephand keeps it until the newer version runs again, so a rollback loses nothing.
    """


class ScheduleError(BadRequestError):
    """A text that cannot be read; the message quotes the wrong part and says what was expected.

    The parser does not know in which field of a request the text stood. Its caller does, and makes a
    Violation of this error. `pointer` is the place of the text in a schedule of several parts (`/3`,
    `/hour`). It is empty for a schedule that is one text.
    """

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class SchedulePartsError(ScheduleError):
    """Several parts of one schedule cannot be read."""

    def __init__(self, faults: Sequence[ScheduleError]) -> None:
        super().__init__("; ".join(str(each) for each in faults))
        self.faults = tuple(faults)
