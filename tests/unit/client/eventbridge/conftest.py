"""An account of AWS with schedules, by moto in this process, and a stack that may reach every target."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import boto3
import pytest
import time_machine
from moto import mock_aws
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.world import NOON, World

from sweephand_client.api.client import Client
from sweephand_client.commands.session import Session
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport
from sweephand_client.tasks.eventbridge.moving import Existing, Moved, Mover
from sweephand_client.tasks.eventbridge.source import Source
from sweephand_client.tasks.eventbridge.translation import Move, translate

REGION: Final = "eu-west-1"
NOW: Final = dt.datetime.fromtimestamp(NOON / 1000, dt.UTC)
ROLE: Final = "arn:aws:iam::123456789012:role/scheduler"
QUEUE: Final = "arn:aws:sqs:eu-west-1:123456789012:sweephand-orders"
FUNCTION: Final = "arn:aws:lambda:eu-west-1:123456789012:function:orders:live"
TOPIC: Final = "arn:aws:sns:eu-west-1:123456789012:orders"
BUS: Final = "arn:aws:events:eu-west-1:123456789012:event-bus/orders"
MACHINE: Final = "arn:aws:states:eu-west-1:123456789012:stateMachine:orders"
NIGHTLY: Final = "cron(30 2 * * ? *)"
WRITES: Final = ("PUT", "POST", "PATCH", "DELETE")
PARAMETERS: Final = ("Role", "Function", "Topic", "Bus", "StateMachine", "Queue")


class Account:
    """EventBridge Scheduler of one region. `calls` counts the calls of its client by operation."""

    def __init__(self, now: Callable[[], dt.datetime]) -> None:
        self.now = now
        self.client: Any = boto3.client("scheduler", region_name=REGION)
        self.calls: Counter[str] = Counter()
        self.client.meta.events.register(
            "before-call.scheduler", lambda model, **_: self.calls.update([model.name])
        )

    def group(self, name: str, **tags: str) -> None:
        """Make a schedule group."""
        given = [{"Key": key, "Value": value} for key, value in tags.items()]
        self.client.create_schedule_group(Name=name, Tags=given)

    def put(self, name: str, expression: str = "cron(0 9 * * ? *)", **fields: Any) -> None:
        """Make a schedule, by default with a queue as its target. Fields of `Target` are merged."""
        target = {"Arn": QUEUE, "RoleArn": ROLE, "Input": '{"order":1}'} | fields.pop("Target", {})
        self.client.create_schedule(
            Name=name,
            ScheduleExpression=expression,
            FlexibleTimeWindow=fields.pop("FlexibleTimeWindow", {"Mode": "OFF"}),
            Target={each: value for each, value in target.items() if value is not None},
            **fields,
        )

    def show(self, name: str, group: str = "default") -> dict[str, Any]:
        """What GetSchedule answers."""
        shown: dict[str, Any] = self.client.get_schedule(Name=name, GroupName=group)
        return {each: value for each, value in shown.items() if each != "ResponseMetadata"}

    def states(self) -> dict[str, str]:
        """The state of each schedule by group and name."""
        pages = self.client.get_paginator("list_schedules").paginate()
        return {
            f"{each['GroupName']}/{each['Name']}": each["State"]
            for page in pages
            for each in page["Schedules"]
        }

    def moves(self, namespace: str | None = None, *, with_roles: bool = True) -> list[Move]:
        """What an import finds now."""
        schedules = Source(self.client).read()
        return translate(schedules, namespace=namespace, now=self.now(), with_roles=with_roles)

    def move(self, *, with_roles: bool = True) -> Move:
        """What an import finds now, where there is one schedule."""
        (move,) = self.moves(with_roles=with_roles)
        return move


@pytest.fixture
def world() -> World:
    """The stack in memory, whose clock shows noon."""
    return World()


@pytest.fixture
def server(world: World) -> Iterator[Server]:
    """The API of a stack that may reach every target."""
    with serving(Api(world, listed={f"Target{each}Arns": ("*",) for each in PARAMETERS})) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """The client of an admin."""
    with Client(
        server.url, transport=Transport(server.url, Bearer("sh_admin"), sleep=lambda _: None)
    ) as client:
        yield client


class Clock:
    """A clock that shows noon until somebody sleeps by it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.slept: list[float] = []

    def now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.world.clock.now() / 1000, dt.UTC)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.world.clock.time += round(seconds * 1000)


@pytest.fixture
def clock(world: World) -> Clock:
    return Clock(world)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[Account]:
    """An account without schedules, at noon."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(Session, "now", lambda _: clock.now())
    with mock_aws(), time_machine.travel(NOW, tick=False):
        yield Account(clock.now)


@pytest.fixture
def move(account: Account, client: Client, clock: Clock) -> Callable[..., dict[str, Moved]]:
    """Moves every schedule, and returns what was done by its name."""

    def moved(existing: Existing = "refuse", namespace: str | None = None) -> dict[str, Moved]:
        mover = Mover(client, Source(account.client), now=clock.now, sleep=clock.sleep, existing=existing)
        return {each.move.schedule.name: each for each in mover.run(account.moves(namespace))}

    return moved


def writes(server: Server) -> list[str]:
    """The requests that write jobs. A preview is a POST that writes nothing."""
    return [each for each in server.calls() if each.startswith(WRITES) and not each.endswith("/occurrences")]


def revisions(client: Client, namespace: str = "default") -> dict[str, str]:
    return {each["name"]: each["rev"] for each in client.jobs.list(namespace)}
