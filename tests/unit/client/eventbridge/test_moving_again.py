"""A second run goes on where a run ended, also one that was killed, and changes nothing that is done."""

import datetime as dt
from collections.abc import Callable
from itertools import islice
from threading import Lock
from typing import Any

import pytest
from tests.fakes.http_server import Fault, Server
from tests.fakes.scheduler_calls import schedule, scheduler_of, shown
from tests.fakes.world import World
from tests.unit.client.eventbridge.conftest import NIGHTLY, NOW, Account, Clock, revisions, writes

from sweephand_client.api.client import Client
from sweephand_client.http.errors import UnreachableError
from sweephand_client.tasks.eventbridge.moving import Moved, Mover
from sweephand_client.tasks.eventbridge.source import Source


def test_a_second_run_changes_nothing(
    account: Account, client: Client, server: Server, move: Callable[..., dict[str, Moved]]
) -> None:
    account.put("a", NIGHTLY)
    account.put("b", "rate(1 hour)", State="DISABLED")
    first = move()
    assert (first["a"].did, first["b"].did) == ("created", "created")
    assert client.jobs.get("default", "b")["state"] == "paused"
    kept, states, calls = revisions(client), account.states(), dict(account.calls)
    server.requests.clear()
    assert [each.did for each in move().values()] == ["kept"]
    assert (writes(server), revisions(client), account.states()) == ([], kept, states)
    assert account.calls["UpdateSchedule"] == calls["UpdateSchedule"] == 1


def test_a_job_that_was_resumed_here_stays_so(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]]
) -> None:
    account.put("a", NIGHTLY, State="DISABLED")
    move()
    client.jobs.resume("default", "a")
    assert move()["a"].did == "kept"
    assert client.jobs.get("default", "a")["state"] == "active"
    definition: Any = {"schedule": "@daily", "target": {"type": "http", "url": "https://example.com/a"}}
    client.jobs.put("default", "a", definition)
    assert move("replace")["a"].did == "replaced"
    assert client.jobs.get("default", "a")["state"] == "active"


def test_a_start_that_passes_after_its_job_was_written_is_no_difference(
    account: Account, client: Client, server: Server, move: Callable[..., dict[str, Moved]], world: World
) -> None:
    account.put("a", NIGHTLY, StartDate=NOW + dt.timedelta(hours=1))
    job = account.move().job
    assert job is not None
    client.jobs.put("default", "a", job.definition)
    world.clock.time += 2 * 3_600_000
    server.requests.clear()
    assert (move()["a"].did, account.states()["default/a"]) == ("kept", "DISABLED")
    assert (writes(server), "dueTime" in client.jobs.get("default", "a")) == ([], True)


@pytest.mark.parametrize(
    "given",
    [(NIGHTLY, "2026-11-21T13:00:00Z"), (NIGHTLY, "1h"), ("rate(1 hour)", "2026-11-21T12:00:10Z")],
)
def test_a_start_is_a_difference_if_it_changes_due_times(
    account: Account,
    client: Client,
    move: Callable[..., dict[str, Moved]],
    world: World,
    given: tuple[str, str],
) -> None:
    expression, due_time = given
    account.put("a", expression)
    job = account.move().job
    assert job is not None
    client.jobs.put("default", "a", {**job.definition, "dueTime": due_time})
    world.clock.time += 20_000
    assert "The job exists and differs in dueTime. Say" in str(move()["a"].problem)
    assert account.states() == {"default/a": "ENABLED"}


class Killed(BaseException):
    """The process has ended."""


@pytest.mark.parametrize("updates", [0, 1, 5, 11])
def test_a_run_that_was_killed_while_it_disabled_goes_on(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]], updates: int
) -> None:
    for number in range(12):
        account.put(f"job-{number:02}", NIGHTLY)
    left, lock = [updates], Lock()

    def die(**_: Any) -> None:
        with lock:
            left[0] -= 1
            if left[0] < 0:
                raise Killed

    account.client.meta.events.register("before-call.scheduler.UpdateSchedule", die)
    with pytest.raises(Killed):
        move()
    assert list(account.states().values()).count("DISABLED") == updates
    kept = revisions(client)
    assert len(kept) == 12

    account.client.meta.events.unregister("before-call.scheduler.UpdateSchedule", die)
    done = move()
    assert [each.did for each in done.values() if each.did != "kept"] == []
    assert (set(account.states().values()), revisions(client)) == ({"DISABLED"}, kept)


@pytest.mark.parametrize("told", [1, 3, 5])
def test_a_run_that_was_killed_while_it_wrote_goes_on(
    account: Account, client: Client, clock: Clock, move: Callable[..., dict[str, Moved]], told: int
) -> None:
    for number in range(6):
        account.put(f"job-{number}", NIGHTLY, State="DISABLED")
    account.put("last", NIGHTLY)
    mover = Mover(client, Source(account.client), now=clock.now, sleep=clock.sleep)
    run = mover.run(account.moves())
    assert [each.did for each in islice(run, told)] == ["created"] * told
    run.close()  # type: ignore[attr-defined]
    kept = revisions(client)
    assert (len(kept), account.states()["default/last"]) == (told, "ENABLED")

    done = move()
    assert {name for name, each in done.items() if each.did == "kept"} == {*kept}
    assert revisions(client).items() >= kept.items()
    states = {each["name"]: each["state"] for each in client.jobs.list("default")}
    assert states == {**dict.fromkeys((f"job-{number}" for number in range(6)), "paused"), "last": "active"}
    assert account.states()["default/last"] == "DISABLED"


def test_a_run_whose_stack_is_gone_disables_nothing_and_goes_on_later(
    account: Account, client: Client, server: Server, move: Callable[..., dict[str, Moved]]
) -> None:
    account.group("orders")
    account.put("a", NIGHTLY)
    account.put("b", NIGHTLY, GroupName="orders")

    send = server.api.send

    def broken(method: str, url: str, **options: Any) -> Any:
        if "/orders" in url:
            server.faults += [Fault()] * 20
        return send(method, url, **options)

    server.api.send = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(UnreachableError):
        move()
    assert revisions_after(server, client, send) == ["a"]

    assert account.calls["UpdateSchedule"] == 0
    assert {name: each.did for name, each in move().items()} == {"a": "kept", "b": "created"}
    assert set(account.states().values()) == {"DISABLED"}


def revisions_after(server: Server, client: Client, send: Any) -> list[str]:
    """The names of the jobs, once the stack is there again."""
    server.api.send = send  # type: ignore[method-assign]
    server.faults.clear()
    return [*revisions(client)]


def test_the_client_of_eventbridge_goes_on_with_what_was_moved(
    account: Account, move: Callable[..., dict[str, Moved]], server: Server
) -> None:
    account.group("orders", team="shop")
    account.put("plain")
    account.put("texts", GroupName="orders", Description="The report.", Target={"Input": "Good morning"})
    account.put(
        "off", "rate(5 minutes)", GroupName="orders", State="DISABLED", EndDate=NOW + dt.timedelta(days=9)
    )
    places = {"plain": "default", "texts": "orders", "off": "orders"}
    before = {
        name: {"ActionAfterCompletion": "NONE", **account.show(name, group)} for name, group in places.items()
    }
    move()
    scheduler = scheduler_of(server.api)
    for name, group in places.items():
        found = shown(scheduler.get_schedule(Name=name, GroupName=group))
        dates = ("CreationDate", "LastModificationDate", "Arn")
        assert {each: value for each, value in found.items() if each not in dates} == {
            each: value for each, value in before[name].items() if each not in dates
        }
    arn = scheduler.get_schedule_group(Name="orders")["Arn"]
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "shop"}]
    scheduler.update_schedule(**schedule("texts", GroupName="orders"))
    scheduler.delete_schedule(Name="off", GroupName="orders")
    assert [each["Name"] for each in scheduler.list_schedules(GroupName="orders")["Schedules"]] == ["texts"]
