"""The preconditions of a write: the job exists, is in the revision that the caller named, and time is left.

Each try of a request's writes must leave within 20 s, by the sender's clock.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from sweephand.base.errors import NotFoundError, PreconditionError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Clock

_TRIES_MAX: Final = 5

Written = TypeVar("Written")


def until_written(write: Callable[[], Written | None], busy: str) -> Written:
    """The first result of `write` that is not None: None says that another write came first.

    Raises UnavailableError with the text `busy` after five of them.
    """
    for _ in range(_TRIES_MAX):
        written = write()
        if written is not None:
            return written
    raise UnavailableError(busy)


def existing_job(job: Job | None, key: JobKey, now: Instant) -> Job:
    """The job; NotFoundError if it does not exist or has expired."""
    return stored_job(None if job is None or job.is_gone(now) else job, key)


def stored_job(job: Job | None, key: JobKey) -> Job:
    """The job, also one that has expired and is still stored; NotFoundError if there is none."""
    if job is None:
        raise NotFoundError(f"There is no job {key.name} in namespace {key.namespace}.")
    return job


def check_revision(
    what: str, present: str | None, if_match: tuple[str, ...] | None, *, if_absent: bool = False
) -> None:
    """Raises PreconditionError unless `present` is one of the revisions in `if_match` (`*`: any revision).

    `what` names what is written. `present` is None if there is no such thing. With `if_absent`, there must be
    none.
    """
    if present is None:
        if if_match is not None:
            raise PreconditionError(f"There is no {what}, and If-Match asks for one.")
    elif if_absent:
        raise PreconditionError(f"There is a {what} already, in revision {present}.")
    elif if_match is not None and "*" not in if_match and present not in if_match:
        raise PreconditionError(f"The {what} is in revision {present}. If-Match asks for another one.")


def check_job_revision(key: JobKey, stored: Job | None, if_match: tuple[str, ...] | None) -> None:
    """As check_revision(), of a job."""
    check_revision(f"job {key.name}", None if stored is None else stored.rev, if_match)


def within_time_limit(clock: Clock, requested_at: Instant) -> Callable[[], bool]:
    """A check that a store calls before each try of a write of that request, in any thread."""
    return lambda: clock.now() - requested_at <= REQUEST_TIME_LIMIT_MS


def check_time_limit(clock: Clock, requested_at: Instant) -> None:
    """Raises UnavailableError if a request is so old that its commit could come too late after its arming."""
    if not within_time_limit(clock, requested_at)():
        raise UnavailableError("The stores are too slow at present; nothing was written. Ask again.")
