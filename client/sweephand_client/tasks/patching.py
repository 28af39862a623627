"""Patches many jobs, some at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import Problem
from sweephand_client.openapi.requests import JobPatchRequest
from sweephand_client.tasks.writing import attempt

_AT_ONCE: Final = 8


def patch_jobs(
    client: Client, namespace: str, names: Sequence[str], fields: JobPatchRequest
) -> Iterator[Problem | None]:
    """Write some fields of each job. Returns for each, in order, the problem for which it was not done.

    A refused job does not stop the others. Raises UnreachableError.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        writes = [partial(client.jobs.patch, namespace, name, fields) for name in names]
        yield from threads.map(attempt, writes)
