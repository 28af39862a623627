"""The scene of a task: a namespace of its own on `sweephand dev`, with jobs and a consumer that can fail."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from infra.local.client import Client

#: How long the stack may take for what a task waits for.
_PATIENCE_S: Final = 60

#: How long a consumer of /slow holds a request.
_HELD_S: Final = 20


class _Server(ThreadingHTTPServer):
    """A server that is silent about connections that were closed before they were answered."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""
        del request, client_address


class Consumer:
    """Answers 503 at /broken until it is mended, holds what comes to /slow, and answers 200 elsewhere."""

    def __init__(self) -> None:
        self.is_mended = threading.Event()
        self.is_released = threading.Event()
        consumer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path.startswith("/slow"):
                    consumer.is_released.wait(_HELD_S)
                is_broken = self.path.startswith("/broken") and not consumer.is_mended.is_set()
                text = b"mailbox full" if is_broken else b"ok"
                self.send_response(503 if is_broken else 200)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the name it has there
                del format, values

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def listening(self) -> Iterator["Consumer"]:
        """Answer within the block."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield self
        finally:
            self.is_released.set()
            self._server.shutdown()
            self._server.server_close()


class Scene:
    """What one performance of a task finds. `facts` are variables, such as the id of a run."""

    def __init__(self, client: Client, namespace: str, consumer: Consumer) -> None:
        self.client = client
        self.namespace = namespace
        self.consumer = consumer
        self.facts: dict[str, str] = {"HOOK": f"{consumer.url}/hook", "NAMESPACE": namespace}
        consumer.is_mended.clear()
        consumer.is_released.clear()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of a call about the namespace."""
        return self.client.ask(method, f"/v1/namespaces/{self.namespace}/{path}", body)

    def put(self, name: str, path: str = "/hook", **job: Any) -> None:
        """Write a job whose consumer is at this path."""
        timing = {} if {"dueTime", "schedule"} & job.keys() else {"schedule": "30 2 * * *"}
        self.ask("PUT", f"jobs/{name}", {"target": self.target(path), **timing, **job})

    def target(self, path: str = "/hook") -> Mapping[str, str]:
        """The target at this path of the consumer."""
        return {"type": "http", "url": f"{self.consumer.url}{path}"}

    def job(self, name: str) -> Any:
        """A job as it is now; None if there is none."""
        response = self.client.call("GET", f"/v1/namespaces/{self.namespace}/jobs/{name}")
        return response.body if response.status == 200 else None  # noqa: PLR2004 - found

    def run(self, name: str, state: str, **body: Any) -> str:
        """Make a trigger of a job, wait until its run is in that state, and return the id of the run."""
        run = str(self.ask("POST", f"jobs/{name}/trigger", body)["id"])
        self.wait(lambda: self.state(name, run) == state)
        return run

    def state(self, name: str, run: str) -> str | None:
        """The state of a run; None while it has no record."""
        response = self.client.call("GET", f"/v1/namespaces/{self.namespace}/jobs/{name}/runs/{run}")
        return response.body["state"] if response.status == 200 else None  # noqa: PLR2004 - found

    def states(self, name: str) -> list[str]:
        """The states of the runs of a job, newest first."""
        return [each["state"] for each in self.ask("GET", f"jobs/{name}/runs")["items"]]

    def failed(self, *names: str) -> None:
        """Write jobs that each have a failed run, whose consumer is mended then."""
        for name in names:
            self.put(name, "/broken", retry={"maxAttempts": 1})
            self.facts["RUN"] = self.run(name, "failed")
        self.consumer.is_mended.set()

    def wait(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds. TimeoutError after a minute."""
        deadline_s = time.monotonic() + _PATIENCE_S
        while not holds():
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{self.namespace}: what the task waits for does not happen")
            time.sleep(0.05)


def in_days(days: float) -> datetime:
    """The present time so many days later, in full seconds of UTC."""
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
