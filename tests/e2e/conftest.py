"""A deployed stack for the end-to-end tests, and a consumer that its triggers are delivered to.

    SWEEPHAND_STACK=.local/stack.json pytest tests/e2e

runs them on a stack that is up already; else they deploy one of their own on a free port, and end it.
"""

import functools
import itertools
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from infra.local import stack as local
from infra.local.client import Client
from infra.local.places import MINISTACK, SAM, Place
from infra.local.receiver import Receiver
from tests.e2e.schedule import Schedule

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is an end-to-end one."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Mapping[str, Any]]:
    """What `.local/stack.json` says of the stack that the tests run on."""
    described = os.environ.get("SWEEPHAND_STACK")
    if described:
        yield json.loads(Path(described).read_text(encoding="utf-8"))
        return
    if not (SAM.exists() and MINISTACK.exists()):
        pytest.skip("SAM or ministack is not installed: make setup")
    place = Place(_free_port())
    try:
        yield local.up(place, say=lambda _: None)
    finally:
        local.down(place)
        if not request.session.testsfailed:
            shutil.rmtree(place.home, ignore_errors=True)  # else its log may say why


@pytest.fixture(scope="session")
def client(stack: Mapping[str, Any]) -> Iterator[Client]:
    """The API, called with the stack's admin key."""
    with Client.of(stack) as client:
        yield client


@pytest.fixture
def namespace() -> str:
    """A namespace of the test's own, so that tests do not see each other's jobs."""
    return f"test-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def receiver(client: Client, namespace: str) -> Iterator[Receiver]:
    """A consumer that verifies with the namespace's signing secrets, asked for once."""
    secrets = functools.cache(lambda: client.signing_secrets(namespace))
    with Receiver(secrets) as receiver:
        yield receiver


@pytest.fixture
def schedule(client: Client, namespace: str) -> Schedule:
    """The jobs of the test's own namespace."""
    return Schedule(client, namespace)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
