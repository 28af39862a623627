"""When a function makes its clients."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from tests.fakes.functions import forget_the_environment, function

SETTINGS = {
    "JOBS_TABLE": "jobs",
    "TIMERS_TABLE": "timers",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The services of the clients that have been made."""
    services: list[str] = []
    make: Any = boto3.client

    def client(service: str, **options: Any) -> Any:
        services.append(service)
        return make(service, **options)

    monkeypatch.setattr(boto3, "client", client)
    forget_the_environment()
    yield services
    forget_the_environment()


@pytest.mark.parametrize("name", ["deliver", "sweep", "tick"])
def test_a_function_makes_the_clients_of_its_tables_and_its_queue_as_it_starts(
    name: str, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in SETTINGS.items():
        monkeypatch.setenv(variable, value)
    function(name)
    assert sorted(made) == ["dynamodb", "sqs"]


@pytest.mark.parametrize("name", ["deliver", "sweep", "tick"])
def test_without_the_settings_of_a_stack_a_function_makes_no_client(name: str, made: list[str]) -> None:
    function(name)
    assert made == []
