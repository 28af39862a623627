"""Writing many jobs to a running stack, by bulk calls."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import urllib3
from infra.local.client import Client, RefusedError

from sweephand.base.concurrency import parts
from sweephand.base.limits import JOBS_PER_BULK_MAX

#: A bulk call that the stack did not finish is made again, so many times in all.
_TRIES_MAX: Final = 4

_WRITTEN: Final = (200, 201)


def write_jobs(client: Client, namespace: str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Write any number of jobs, one bulk call after the other. RuntimeError if some were not written."""
    for some in parts(jobs, JOBS_PER_BULK_MAX):
        _write(client, namespace, some)


def _write(client: Client, namespace: str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Make one bulk call, and repeat it for the jobs that the stack did not write.

    Writing a job twice changes nothing. RuntimeError if some jobs were not written.
    """
    left, why = list(jobs), ""
    for _ in range(_TRIES_MAX):
        try:
            results = client.ask("POST", f"/v1/namespaces/{namespace}/jobs", {"jobs": left})["results"]
        except (urllib3.exceptions.HTTPError, RefusedError) as error:
            why = str(error)
            continue
        refused = {each["name"]: each for each in results if each["status"] not in _WRITTEN}
        if not refused:
            return
        left = [job for job in left if job["name"] in refused]
        why = str(next(iter(refused.values())))
    raise RuntimeError(f"{len(left)} jobs of {namespace} were not written in {_TRIES_MAX} calls: {why}")
