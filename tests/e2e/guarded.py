"""A deployed stack without the exception for loopback, and jobs that it holds from before a rule."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from infra.local.client import Client
from infra.local.deploy import session
from tests.e2e.parameters import changed
from tests.e2e.schedule import Schedule, eventually
from tests.fakes.egress_attempts import http_target

from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.model.job import JobKey
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.table import Table

#: The operator of this stack denies one host.
PARAMETERS: Final = {"AllowInsecureTargets": "false", "DeniedTargetHosts": "denied.example"}

#: A job that fires when a test triggers it, and fails at its first attempt.
ON_DEMAND: Final = {"retry": {"maxAttempts": 1}}

Job = Mapping[str, Any]


@dataclass(frozen=True)
class Guarded:
    """The stack, its API, and the jobs of one of its namespaces."""

    stack: Mapping[str, Any]
    client: Client
    schedule: Schedule

    @classmethod
    @contextmanager
    def of(cls, stack: Mapping[str, Any], client: Client) -> Iterator["Guarded"]:
        """The stack with these parameters. It has its former ones after the context."""
        with changed(stack, **PARAMETERS):
            yield cls(stack, client, Schedule(client, f"guarded-{os.getpid()}"))

    def refusals(self, jobs: Sequence[Job]) -> list[Sequence[Mapping[str, str]]]:
        """The violations with which the API refuses each job. Asserts that it refuses all of them."""
        named = [{"name": f"refused-{number}", **job} for number, job in enumerate(jobs)]
        results = self._write(named)
        assert [each["status"] for each in results] == [422] * len(jobs), results
        return [each["problem"]["errors"] for each in results]

    def plant(self, jobs: Mapping[str, Job]) -> None:
        """Store jobs whose targets the API refuses, as a stack with other lists could have left them."""
        results = self._write([{"name": name, **ON_DEMAND, "target": http_target()} for name in jobs])
        assert [each["status"] for each in results] == [201] * len(jobs), results
        store = DynamoJobs(self._jobs_table())
        for name, job in jobs.items():
            stored = store.get(JobKey(self.schedule.namespace, name))
            assert stored is not None
            definition = replace(stored.definition, written={**stored.definition.written, **job})
            assert store.put(replace(stored, definition=definition), stored.version)

    def reasons(self, names: Sequence[str]) -> dict[str, str]:
        """Why the runs of these jobs failed, each at its first attempt. The jobs are triggered here."""
        for name in names:
            self.schedule.do(name, "trigger")
        return {name: self._reason(name) for name in names}

    def _reason(self, name: str) -> str:
        run = eventually(lambda: self.schedule.runs(name), lambda run: run["state"] == "failed", within_s=90)
        assert run["attempts"] == 1, run
        reason: str = run["lastFailure"]["reason"]
        return reason

    def _write(self, named: Sequence[Job]) -> list[Any]:
        """The results of writing jobs, as many in a call as it takes."""
        path, found = f"/v1/namespaces/{self.schedule.namespace}/jobs", []
        for first in range(0, len(named), JOBS_PER_BULK_MAX):
            part = json.dumps({"jobs": named[first : first + JOBS_PER_BULK_MAX]}).encode()
            found += self.client.call("POST", path, part, {"content-type": "application/json"}).body[
                "results"
            ]
        return found

    def _jobs_table(self) -> Table:
        client = session().client("dynamodb", endpoint_url=self.stack["awsEndpointUrl"])
        return Table(client, self.stack["tables"]["jobs"], lambda _: None)
