"""`tail` tells of each change of a run once, and finds runs that have left the first page."""

import pytest
from tests.fakes.http_server import Server
from tests.fakes.world import World
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.model.attempt import Answer
from sweephand_client.api.client import Client
from sweephand_client.commands import run as command
from sweephand_client.tasks import tailing
from sweephand_client.tasks.tailing import Tail


def deliver(world: World, seconds: int = 1) -> None:
    """Let time pass, and the delivery function deliver what is due."""
    world.run_until(world.clock.time + seconds * 1_000, ticking=False)


def answer(world: World, code: int) -> None:
    """Let the consumer answer by this status from now on."""
    world.consumers.answering = lambda _: Answer(succeeded=code < 300, code=code)


def told(tail: Tail) -> list[tuple[str, int]]:
    return [(each["state"], each["attempts"]) for each in tail.look()]


def test_each_change_of_a_run_is_told_once(client: Client, server: Server) -> None:
    world = server.api.world
    client.jobs.put("ns", "job", {"target": TARGET, "retry": {"initialDelay": "10s"}})
    client.jobs.trigger("ns", "job")
    deliver(world)
    tail = Tail(client, "ns", "job")

    assert [each["state"] for each in tail.begin(5)] == ["succeeded"]
    assert told(tail) == []
    answer(world, 500)
    client.jobs.trigger("ns", "job")
    deliver(world)
    assert told(tail) == [("retrying", 1)]
    assert told(tail) == []
    deliver(world, 20)
    assert told(tail) == [("retrying", 2)]


def test_an_older_run_that_ends_is_told(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "_PAGE", 2)
    world = server.api.world
    client.jobs.put("ns", "job", {"target": TARGET, "retry": {"initialDelay": "600s", "maxAttempts": 2}})
    tail = Tail(client, "ns", "job")
    tail.begin(0)
    answer(world, 500)
    first = client.jobs.trigger("ns", "job")["id"]
    deliver(world)
    assert told(tail) == [("retrying", 1)]
    answer(world, 200)
    for _ in range(3):
        client.jobs.trigger("ns", "job")
        deliver(world)
        assert told(tail) == [("succeeded", 1)]

    client.runs.cancel("ns", "job", first)

    assert told(tail) == [("cancelled", 1)]
    assert tail.missed == 0


def test_more_runs_than_a_look_shows_are_noticed(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "_PAGE", 2)
    client.jobs.put("ns", "job", {"target": TARGET})
    client.jobs.trigger("ns", "job")
    deliver(server.api.world)
    tail = Tail(client, "ns", "job")
    tail.begin(0)
    for _ in range(3):
        client.jobs.trigger("ns", "job")
        deliver(server.api.world)

    assert len(tail.look()) == 2
    assert tail.missed == 1


@pytest.fixture
def passing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a wait of the command, the job is triggered and delivered."""

    def wait(_: float) -> None:
        Client(server.url, "sh_admin").jobs.trigger("ns", "job")
        deliver(server.api.world)

    monkeypatch.setattr(command, "sleep", wait)


@pytest.mark.usefixtures("passing")
def test_the_command_shows_runs_until_so_many_are_over(sweephand: CommandLine) -> None:
    sweephand.ok("job", "schedule", "job", "--url", TARGET["url"])
    lines = sweephand.ok("tail", "job", "--until", "2", "--last", "0").out.splitlines()
    assert len(lines) == 2
    assert all("succeeded" in line and "late " in line and "answer 204" in line for line in lines)
    assert sweephand.ok("tail", "job", "--until", "1", "--json", "--last", "0").json["state"] == "succeeded"
    calls = len(sweephand.server.requests)
    assert len(sweephand.ok("tail", "job", "--until", "2").out.splitlines()) == 3, "those before count too"
    assert len(sweephand.server.requests) == calls + 2


def test_an_interrupt_ends_it_and_a_job_without_records_is_told(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "sleep", interrupt)
    sweephand.ok("job", "schedule", "job", "--url", TARGET["url"], "--field", 'history="failures"')

    ran = sweephand.ok("tail", "job")

    assert ran.out == ""
    assert "keeps no record" in ran.err


def test_a_job_that_does_not_exist_cannot_be_followed(sweephand: CommandLine) -> None:
    assert sweephand.run("tail", "nothing").code == 4
