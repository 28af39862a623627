"""Creates a job that is paused from its first moment on, so that nothing fires in between."""

from collections.abc import Mapping
from typing import Any

from sweephand_client.api.client import Client
from sweephand_client.http.errors import SweephandError


def create_paused(
    client: Client, namespace: str, name: str, definition: Mapping[str, Any], reason: str | None
) -> None:
    """Create a job that is paused. Raises PreconditionError if it exists.

    The API pauses only a job that exists. So the job is created without its schedule, which fires only on
    demand, then paused, then written as it shall be: a job that is replaced stays paused. If the last step is
    refused, the job is deleted again and the error is raised.
    """
    bare = {"target": definition["target"]} if definition.get("target") is not None else {}
    client.jobs.put(namespace, name, bare, if_absent=True)
    try:
        client.jobs.pause(namespace, name, reason=reason)
        client.jobs.put(namespace, name, definition)
    except SweephandError:
        client.jobs.delete(namespace, name)
        raise
