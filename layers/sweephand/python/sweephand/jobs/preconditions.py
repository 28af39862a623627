"""The preconditions of a write: the job exists, and it is in the revision that the caller named."""

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobKey


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
