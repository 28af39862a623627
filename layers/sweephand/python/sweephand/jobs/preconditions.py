"""The preconditions of a write: the job exists, is in the revision that the caller named, and time is left.

Each try of a request's writes must leave within 20 s, by the sender's clock.
"""

from collections.abc import Callable

from sweephand.base.errors import NotFoundError, PreconditionError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Clock


def existing_job(job: Job | None, key: JobKey, now: Instant) -> Job:
    """The job; NotFoundError if it does not exist or has expired."""
    return stored_job(None if job is None or job.is_gone(now) else job, key)


def stored_job(job: Job | None, key: JobKey) -> Job:
    """The job, also one that has expired and is still stored; NotFoundError if there is none."""
    if job is None:
        raise NotFoundError(f"There is no job {key.name} in namespace {key.namespace}.")
    return job


def check_revision(key: JobKey, stored: Job | None, if_match: str | None) -> None:
    """Raises PreconditionError if the job is not in the revision `if_match` (`*`: any revision)."""
    if if_match is not None and (stored is None or if_match not in ("*", stored.rev)):
        if stored is None:
            raise PreconditionError(f"There is no job {key.name}, and If-Match asks for one.")
        raise PreconditionError(
            f"The job {key.name} is not in revision {if_match}: it is in revision {stored.rev}."
        )


def within_time_limit(clock: Clock, requested_at: Instant) -> Callable[[], bool]:
    """A check that a store calls before each try of a write of that request, in any thread."""
    return lambda: clock.now() - requested_at <= REQUEST_TIME_LIMIT_MS


def check_time_limit(clock: Clock, requested_at: Instant) -> None:
    """Raises UnavailableError if a request is so old that its commit could come too late after its arming."""
    if not within_time_limit(clock, requested_at)():
        raise UnavailableError("The stores are too slow at present; nothing was written. Ask again.")
