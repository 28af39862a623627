"""A stack in memory behind a server on loopback, and the client that calls it."""

from collections.abc import Iterator

import pytest
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.world import World

from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport


@pytest.fixture
def server() -> Iterator[Server]:
    """The API of an empty stack."""
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.leases.beat(world.clock.now())
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
