"""Writes jobs so that no write takes effect twice, also if an answer is lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, cast

from sweephand_client.api.client import Client
from sweephand_client.api.jobs import JOBS_MAX
from sweephand_client.http.errors import (
    MAY_HAVE_WRITTEN,
    InputError,
    NotFoundError,
    PreconditionError,
    Problem,
    RefusedError,
    StackFailedError,
    UnreachableError,
    problem_of,
)
from sweephand_client.http.operation import changed_nothing
from sweephand_client.openapi.job_answers import BulkWriteResult
from sweephand_client.openapi.requests import BulkJobRequest, JobRequest, NamedJobRequest
from sweephand_client.tasks.job_fields import differing_fields, stored_form, written_fields

#: The description of a job whose creation was interrupted. Such a job counts as one that does not exist.
INCOMPLETE: Final = "The creation of this paused job is not complete. Run the same command again."

#: The errors of a write after which another write may succeed.
NOT_DONE: Final = (StackFailedError, RefusedError, InputError)

_UNKNOWN: Final = "The stack may have written this job, and deleted it after its run. Look at its runs."


@dataclass(frozen=True, slots=True)
class Write:
    """A job to write. `rev` is the revision that it had when it was read, None if there was no job."""

    name: str
    definition: JobRequest
    rev: str | None


def attempt(write: Callable[[], object]) -> Problem | None:
    """Call `write`. Returns the problem for which it was not done, and None if it was done.

    Raises UnreachableError: no other write would succeed either.
    """
    try:
        write()
    except NOT_DONE as error:
        return problem_for(error)
    return None


def problem_for(error: StackFailedError | RefusedError | InputError) -> Problem:
    """The problem for which a write was not done. It says if the write may have been done all the same."""
    if isinstance(error, InputError):
        return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "", str(error))
    if isinstance(error, StackFailedError) and error.may_have_written:
        return replace(error.problem, detail=f"{error.problem.detail} {MAY_HAVE_WRITTEN}")
    return error.problem


def write_jobs(
    client: Client, namespace: str, writes: Sequence[Write], *, reason: str | None = None
) -> Iterator[Problem | None]:
    """Write jobs in bulk. Returns for each, in order, the problem for which it was not written, or None.

    No job is written that was changed since it was read. It may be unknown whether a call has written a job.
    Then the job is written again. A job that has the definition by now is done. Raises UnreachableError and
    StackFailedError, and a refusal of a whole call.
    """
    for write, problem in _in_bulk(client, namespace, writes, reason):
        is_unknown = problem is not None and problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if problem is not None and problem.status == HTTPStatus.PRECONDITION_FAILED:
            yield None if _is_stored(client, namespace, write) else problem
        elif problem is None or not is_unknown or changed_nothing(problem):
            yield problem
        else:
            yield _written_once(client, namespace, write, reason)


def check_jobs(
    client: Client, namespace: str, writes: Sequence[Write], *, reason: str | None = None
) -> Iterator[Problem | None]:
    """For each job, in order, the problem for which the stack would not write it, or None. Writes nothing.

    Raises a refusal of a whole call, such as for its `reason`.
    """
    named: Iterator[NamedJobRequest] = ({"name": each.name, **each.definition} for each in writes)
    return map(_problem_of, client.jobs.put_many(namespace, named, dry_run=True, reason=reason))


def write_job(client: Client, namespace: str, write: Write, *, reason: str | None = None) -> None:
    """Write a job, unless it was changed since it was read: then PreconditionError.

    A job that has the definition by now is done: a call whose answer was lost has written it.
    """
    try:
        client.jobs.put(
            namespace,
            write.name,
            write.definition,
            if_match=write.rev,
            if_absent=write.rev is None,
            reason=reason,
        )
    except PreconditionError:
        if not _is_stored(client, namespace, write):
            raise


def _in_bulk(
    client: Client, namespace: str, writes: Sequence[Write], reason: str | None
) -> Iterator[tuple[Write, Problem | None]]:
    """Each job with its problem. The jobs of a call whose outcome is unknown have a problem of 5xx."""
    done = 0
    while done < len(writes):
        left = writes[done:]
        results = client.jobs.put_many(namespace, map(_unchanged, left), reason=reason)
        try:
            for write, result in zip(left, results, strict=True):
                done += 1
                yield write, _problem_of(result)
        except (UnreachableError, StackFailedError) as error:
            if not error.may_have_written:
                raise
            unknown = writes[done : done + JOBS_MAX]
            done += len(unknown)
            yield from ((each, Problem(HTTPStatus.SERVICE_UNAVAILABLE, "", str(error))) for each in unknown)


def _unchanged(write: Write) -> NamedJobRequest:
    """The job with its precondition: nobody has changed or created it since it was read."""
    named = cast("BulkJobRequest", {"name": write.name, **write.definition})
    if write.rev is None:
        named["ifNoneMatch"] = "*"
    else:
        named["ifMatch"] = write.rev
    return named


def _problem_of(result: BulkWriteResult) -> Problem | None:
    problem = result.get("problem")
    return None if problem is None else problem_of(result["status"], problem)


def _written_once(client: Client, namespace: str, write: Write, reason: str | None) -> Problem | None:
    """Write a job that an earlier call may have written."""
    if write.rev is None and write.definition.get("deleteAfterCompletion"):
        # Where there is no job now, it may have been written, have fired, and have been deleted.
        is_stored = _is_stored(client, namespace, write)
        return None if is_stored else Problem(HTTPStatus.SERVICE_UNAVAILABLE, "", _UNKNOWN)
    try:
        write_job(client, namespace, write, reason=reason)
    except RefusedError as error:
        return error.problem
    return None


def _is_stored(client: Client, namespace: str, write: Write) -> bool:
    """Whether the job has the definition of the write."""
    try:
        stored = client.jobs.get(namespace, write.name)
    except NotFoundError:
        return False
    default_retry = client.namespaces.get(namespace).get("defaultRetry")
    return not differing_fields(written_fields(stored), stored_form(write.definition, default_retry))


def is_incomplete(job: Mapping[str, Any]) -> bool:
    """Whether a stored job is the first step of create_paused(), which was interrupted."""
    return job.get("description") == INCOMPLETE


def create_paused(
    client: Client,
    namespace: str,
    name: str,
    definition: JobRequest,
    reason: str | None,
    *,
    write_reason: str | None = None,
    **end: Any,
) -> None:
    """Create a job that is paused. Raises PreconditionError if it exists.

    `reason` says why it is paused, and `write_reason` why it is written.

    The API pauses only a job that exists. So the job is created without its schedule, which fires only on
    demand, then paused, then written as it shall be: a job that is replaced stays paused. Until then its
    description says that it is incomplete, and the next call goes on with it. `end` is that of Jobs.pause().
    If a step is refused, the job is deleted again and the error is raised.
    """
    rev = _begin(client, namespace, name, definition)
    try:
        # A pause leaves the revision. So the write fails if another writer has changed the job since then.
        client.jobs.pause(namespace, name, reason=reason, **end)
        write_job(client, namespace, Write(name, definition, rev), reason=write_reason)
    except RefusedError:
        remove_incomplete(client, namespace, name, rev)
        raise


def remove_incomplete(client: Client, namespace: str, name: str, rev: str) -> None:
    """Delete a job that is incomplete, unless it was changed since it had that revision."""
    with suppress(PreconditionError, NotFoundError):
        client.jobs.delete(namespace, name, if_match=rev)


def _begin(client: Client, namespace: str, name: str, definition: JobRequest) -> str:
    """Create the incomplete job, unless an interrupted call has left it there. Returns its revision."""
    bare: JobRequest = {"description": INCOMPLETE}
    if definition.get("target") is not None:
        bare["target"] = definition["target"]
    try:
        return client.jobs.put(namespace, name, bare, if_absent=True)["rev"]
    except PreconditionError:
        stored = client.jobs.get(namespace, name)
        if not is_incomplete(stored):
            raise
        return stored["rev"]
