"""Creates a job that is paused from its first moment on, so that nothing fires in between."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import NotFoundError, PreconditionError, RefusedError
from sweephand_client.tasks.writing import Write, write_job

#: The description of a job whose creation was interrupted. Such a job counts as one that does not exist.
INCOMPLETE: Final = "The creation of this paused job is not complete. Run the same command again."


def is_incomplete(job: Mapping[str, Any]) -> bool:
    """Whether a stored job is the first step of create_paused(), which was interrupted."""
    return job.get("description") == INCOMPLETE


def create_paused(
    client: Client, namespace: str, name: str, definition: Mapping[str, Any], reason: str | None
) -> None:
    """Create a job that is paused. Raises PreconditionError if it exists.

    The API pauses only a job that exists. So the job is created without its schedule, which fires only on
    demand, then paused, then written as it shall be: a job that is replaced stays paused. Until then its
    description says that it is incomplete, and the next call goes on with it. If a step is refused, the job
    is deleted again and the error is raised.
    """
    rev = _begin(client, namespace, name, definition)
    try:
        # A pause leaves the revision. So the write fails if another writer has changed the job since then.
        client.jobs.pause(namespace, name, reason=reason)
        write_job(client, namespace, Write(name, definition, rev))
    except RefusedError:
        remove_incomplete(client, namespace, name, rev)
        raise


def remove_incomplete(client: Client, namespace: str, name: str, rev: str) -> None:
    """Delete a job that is incomplete, unless it was changed since it had that revision."""
    with suppress(PreconditionError, NotFoundError):
        client.jobs.delete(namespace, name, if_match=rev)


def _begin(client: Client, namespace: str, name: str, definition: Mapping[str, Any]) -> str:
    """Create the incomplete job, or find the one that an interrupted call left. Returns its revision."""
    bare: dict[str, Any] = {"description": INCOMPLETE}
    if definition.get("target") is not None:
        bare["target"] = definition["target"]
    try:
        return client.jobs.put(namespace, name, bare, if_absent=True)["rev"]
    except PreconditionError:
        stored = client.jobs.get(namespace, name)
        if not is_incomplete(stored):
            raise
        return stored["rev"]
