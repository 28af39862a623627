"""A stack in memory behind a server on loopback, and the client and the command line that call it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.world import World
from tests.unit.client.jobs_schema import errors_of
from typer.testing import CliRunner

from sweephand.model.timer import Heartbeat
from sweephand_client.api.client import Client
from sweephand_client.commands.main import app
from sweephand_client.http import exact_json
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport
from sweephand_client.openapi.requests import HttpTarget, JobRequest

TARGET: Final[HttpTarget] = {"type": "http", "url": "https://consumer.example/hook"}
JOB: Final[JobRequest] = {"schedule": "@every 1h", "target": TARGET}


@pytest.fixture
def server() -> Iterator[Server]:
    """The API of an empty stack."""
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.counts_deliveries = True
    world.leases.beat(Heartbeat(world.clock.now()))
    with serving(Api(world)) as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client has waited between its attempts. No test waits for them."""
    return []


@pytest.fixture
def client(server: Server, waits: list[float]) -> Iterator[Client]:
    """The client of an admin."""
    transport = Transport(server.url, Bearer("sh_admin"), sleep=waits.append, draw=lambda: 1.0)
    with Client(server.url, transport=transport) as client:
        yield client


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON on stdout. Numbers that are not whole are Decimal."""
        return exact_json.read(self.out)


class CommandLine:
    """Runs commands on the stack of a server, as a person with the key of an admin."""

    def __init__(self, server: Server, home: Path) -> None:
        self.server = server
        self.home = home
        self.environment = {
            "SWEEPHAND_URL": server.url,
            "SWEEPHAND_KEY": "sh_admin",
            "SWEEPHAND_NAMESPACE": "ns",
            "SWEEPHAND_CONFIG": str(home / "config"),
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }

    def run(self, *words: str, given: str | bytes | None = None, **environment: str | None) -> Ran:
        """Run `sweephand WORDS…`. None removes a variable of the environment.

        A file that `apply` takes or `crontab` prints is one of the JSON Schema.
        """
        result = CliRunner().invoke(app, list(words), input=given, env={**self.environment, **environment})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if words[:1] == ("apply",) and "--from" not in words and result.exit_code == 0:
            file = words[words.index("-f" if "-f" in words else "--file") + 1]
            assert errors_of(str(given) if file == "-" else Path(file).read_text("utf-8")) == []
        if words[:1] == ("crontab",) and result.exit_code == 0 and "--json" not in words:
            assert errors_of(result.stdout) == []
        return Ran(result.exit_code, result.stdout, result.stderr)

    def ok(self, *words: str, given: str | bytes | None = None, **environment: str | None) -> Ran:
        """Run a command that has to succeed."""
        ran = self.run(*words, given=given, **environment)
        assert ran.code == 0, ran
        return ran

    def file(self, name: str, text: str) -> str:
        """The path of a new file with that text."""
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture
def sweephand(server: Server, tmp_path: Path) -> CommandLine:
    """The command line, on the stack of the server."""
    return CommandLine(server, tmp_path)
