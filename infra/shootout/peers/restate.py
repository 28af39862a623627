"""Restate, one node, and a worker that serves the handlers which it calls."""

from collections.abc import Mapping
from typing import Final

import urllib3
from infra.local.places import StackError, free_port
from infra.shootout.node import PACKAGES, NodePrograms
from infra.shootout.peer import Run

_SERVER: Final = PACKAGES / "@restatedev" / "restate-server-linux-x64" / "bin" / "restate-server"


class Restate(NodePrograms):
    """One-offs are delayed calls. A series is an object that calls itself after a delay, as it advises."""

    name = "restate"
    setting = "the default: each write is synced"
    lacks: Mapping[str, str] = {"clock": "its server is linked statically, and does not ask the C library"}
    script = "restate.mjs"
    packages = ("@restatedev/restate-server-linux-x64", "@restatedev/restate-sdk")

    def start(self, run: Run) -> None:
        """Start the server and the worker, and register the worker's handlers."""
        self._admin, self._node, self._worker = free_port(), free_port(), free_port()
        super().start(run)
        deployments = f"http://127.0.0.1:{self._admin}/deployments"
        answer = urllib3.request("POST", deployments, json={"uri": f"http://127.0.0.1:{self._worker}"})
        if answer.status != 201:  # noqa: PLR2004 - created
            raise StackError(f"Restate did not accept its worker: {answer.data.decode()}")

    def launch(self) -> None:
        """Start the server and the worker on the ports of the run."""
        address = ("--bind-ip", "127.0.0.1", "--bind-port", self._node, "--listen-mode", "tcp")
        self.processes.start(
            "server",
            [_SERVER, "--no-logo", "--base-dir", self.run.home / "data", "--node-name", "one", *address],
            self._is_healthy,
            RESTATE_ADMIN__BIND_PORT=str(self._admin),
            RESTATE_INGRESS__BIND_PORT=str(self.port),
            RESTATE_DISABLE_TELEMETRY="true",
        )
        self.start_worker(self._worker, RESTATE_LOGGING="ERROR")

    def _is_healthy(self) -> bool:
        paths = (f"{self._admin}/health", f"{self.port}/restate/health")
        try:
            answers = [urllib3.request("GET", f"http://127.0.0.1:{path}", retries=False) for path in paths]
        except urllib3.exceptions.HTTPError:
            return False
        return all(each.status == 200 for each in answers)  # noqa: PLR2004 - OK
