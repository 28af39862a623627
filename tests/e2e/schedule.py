"""The jobs of one namespace of a deployed stack, and functions that wait for their runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from infra.local.client import Client
from infra.smoke import stage
from tests.fakes.receiver import Delivery


@dataclass(frozen=True)
class Schedule:
    """Puts jobs of one namespace, and reads what is recorded of them."""

    client: Client
    namespace: str

    def path(self, name: str) -> str:
        return f"/v1/namespaces/{self.namespace}/jobs/{name}"

    def put(self, name: str, **job: Any) -> Any:
        return self.client.ask("PUT", self.path(name), job)

    def put_many(self, jobs: dict[str, dict[str, Any]]) -> None:
        """Create all of them in one request."""
        documents = [{"name": name, **job} for name, job in jobs.items()]
        answer = self.client.ask("POST", f"/v1/namespaces/{self.namespace}/jobs", {"jobs": documents})
        assert [result["status"] for result in answer["results"]] == [201] * len(jobs), answer

    def do(self, name: str, verb: str, body: Any = None) -> Any:
        """What a verb of a job answers: pause, resume, trigger."""
        return self.client.ask("POST", f"{self.path(name)}/{verb}", body)

    def runs(self, name: str) -> list[Any]:
        """Newest due time first."""
        items: list[Any] = self.client.ask("GET", f"{self.path(name)}/runs")["items"]
        return items

    def run(self, name: str, run_id: str) -> Any:
        """The record of a run; of a trigger to come, what follows from its job."""
        return self.client.ask("GET", f"{self.path(name)}/runs/{run_id}")

    def state_of(self, name: str, state: str) -> Any:
        """The one run of a job, as soon as it is in that state."""
        (run,) = eventually(lambda: [self.runs(name)], lambda runs: runs and runs[0]["state"] == state)
        return run

    def consumer_of(self, delivery: Delivery) -> tuple[Client, str]:
        """The API as the consumer of a delivery calls it, with its token; and the path of its run."""
        token, run_id = delivery.headers["sweephand-run-token"], delivery.headers["sweephand-run"]
        path = f"{self.path(delivery.headers['sweephand-job'])}/runs/{run_id}"
        return Client(self.client.api_url, token), path


def eventually(read: Callable[[], list[Any]], wanted: Callable[[Any], bool], within_s: float = 90) -> Any:
    """The first wanted of what is read, again and again."""
    found = stage.eventually(lambda: next(([each] for each in read() if wanted(each)), None), "it", within_s)
    return found[0]
