"""A schedule is disabled after its job was accepted, and no fire is lost."""

import datetime as dt
import json
from collections.abc import Callable
from itertools import takewhile
from threading import Lock
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from tests.fakes.http_events import Answered
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.world import World
from tests.unit.client.eventbridge.conftest import (
    FUNCTION,
    NIGHTLY,
    NOW,
    PARAMETERS,
    Account,
    Clock,
    writes,
)
from tests.unit.client.eventbridge.oracle import due_times

from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.errors import InputError, NotFoundError, UnreachableError
from sweephand_client.http.transport import Transport
from sweephand_client.tasks.eventbridge.moving import Existing, Moved, Mover
from sweephand_client.tasks.eventbridge.source import AT_ONCE, MOVED, Source


def test_each_schedule_is_disabled_after_its_job_is_there(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]]
) -> None:
    names = [f"job-{number}" for number in range(9)]
    for name in names:
        account.put(name, NIGHTLY, Description="At night", Target={"Arn": FUNCTION})
    before = {name: account.show(name) for name in names}
    there: list[str] = []

    def look(params: dict[str, Any], **_: Any) -> None:
        there.append(client.jobs.get("default", params["url_path"].rpartition("/")[2])["state"])

    account.client.meta.events.register("before-call.scheduler.UpdateSchedule", look)
    done = move()

    assert {(each.did, each.enabled) for each in done.values()} == {("created", "")}
    assert there == ["active"] * 9
    for name in names:
        was = {**before[name], "State": "DISABLED", "Description": f"At night {MOVED}"}
        assert account.show(name) == was | {
            "LastModificationDate": account.show(name)["LastModificationDate"]
        }


def test_a_job_that_is_refused_leaves_its_schedule_enabled(account: Account, world: World) -> None:
    account.put("good", NIGHTLY)
    account.put("bad", NIGHTLY, Target={"Arn": FUNCTION})
    listed = {f"Target{each}Arns": ("*",) for each in PARAMETERS if each != "Function"}
    clock = Clock(world)
    with (
        serving(Api(world, listed=listed)) as server,
        Client(server.url, transport=Transport(server.url, Bearer("sh_admin"))) as client,
    ):
        mover = Mover(client, Source(account.client), now=clock.now, sleep=clock.sleep)
        done = {each.move.schedule.name: each for each in mover.run(account.moves(with_roles=False))}
    assert account.states() == {"default/good": "DISABLED", "default/bad": "ENABLED"}
    bad = done["bad"]
    assert (bad.did, bad.enabled) == ("refused", "Its job was not written.")
    assert "TargetFunctionArns" in str(bad.problem)


@pytest.mark.parametrize(
    "refused",
    [
        ("GET /v1/namespaces/orders", 404, "refused"),
        ("GET /v1/namespaces/orders/jobs/b", 500, "refused"),
        ("POST /v1/namespaces/orders/jobs", 403, "created"),
    ],
)
def test_a_namespace_that_is_refused_stops_no_other(
    account: Account, server: Server, move: Callable[..., dict[str, Moved]], refused: tuple[str, int, str]
) -> None:
    call, status, paused = refused
    for group in ("orders", "zebra"):
        account.group(group)
    account.put("a", NIGHTLY)
    account.put("b", NIGHTLY, GroupName="orders")
    account.put("paused", NIGHTLY, GroupName="orders", State="DISABLED")
    account.put("z", NIGHTLY, GroupName="zebra")
    send = server.api.send

    def refuse(method: str, url: str, **options: Any) -> Answered:
        if f"{method} {url}" == call:
            return Answered(status, {"content-type": "application/problem+json"}, '{"detail": "No."}')
        return send(method, url, **options)

    server.api.send = refuse  # type: ignore[method-assign, assignment]
    done = move()

    dids = {"a": "created", "b": "refused", "paused": paused, "z": "created"}
    assert {name: each.did for name, each in done.items()} == dids
    assert (done["b"].enabled, str(done["b"].problem)) == ("Its job was not written.", "No.")
    assert account.states() == {
        "default/a": "DISABLED",
        "orders/b": "ENABLED",
        "orders/paused": "DISABLED",
        "zebra/z": "DISABLED",
    }


def test_a_namespace_that_no_job_can_have_stops_no_other(
    account: Account, move: Callable[..., dict[str, Moved]]
) -> None:
    account.group("..")
    account.put("a", NIGHTLY)
    account.put("b", NIGHTLY, GroupName="..")
    done = move()
    assert {name: each.did for name, each in done.items()} == {"a": "created", "b": "refused"}
    assert account.states() == {"../b": "ENABLED", "default/a": "DISABLED"}


@pytest.mark.parametrize("status", [403, 500])
def test_a_schedule_stays_enabled_for_longer_where_its_due_times_are_not_told(
    account: Account, server: Server, move: Callable[..., dict[str, Moved]], clock: Clock, status: int
) -> None:
    account.put("a", NIGHTLY)
    send = server.api.send

    def refuse(method: str, url: str, **options: Any) -> Answered:
        if url.endswith("/occurrences"):
            return Answered(status, {"content-type": "application/problem+json"}, '{"detail": "No."}')
        return send(method, url, **options)

    server.api.send = refuse  # type: ignore[method-assign, assignment]
    assert not move()["a"].enabled
    assert clock.slept == [75.0]


def test_a_fire_of_the_last_minute_is_awaited(
    account: Account, move: Callable[..., dict[str, Moved]], clock: Clock, world: World
) -> None:
    account.put("due-just-now", "cron(0 12 * * ? *)")
    account.put("due-later", "cron(1 12 * * ? *)")
    world.clock.time += 20_000
    states: list[dict[str, str]] = []
    sleep = clock.sleep

    def watched(seconds: float) -> None:
        states.append(account.states())
        sleep(seconds)

    clock.sleep = watched  # type: ignore[method-assign]
    move()
    assert states == [{"default/due-just-now": "ENABLED", "default/due-later": "DISABLED"}]
    # EventBridge has a minute for the fire of noon, and the clocks may differ by 15 s.
    assert clock.slept == [75.0]
    assert set(account.states().values()) == {"DISABLED"}


def test_no_fire_is_awaited_before_the_start(
    account: Account, move: Callable[..., dict[str, Moved]], clock: Clock, world: World
) -> None:
    account.put("a", "cron(0 12 * * ? *)", StartDate=NOW + dt.timedelta(days=1))
    world.clock.time += 20_000
    assert not move()["a"].enabled
    assert clock.slept == []


def test_a_fire_that_a_flexible_window_may_still_bring_keeps_the_schedule_enabled(
    account: Account, move: Callable[..., dict[str, Moved]], clock: Clock, world: World
) -> None:
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 30}
    account.put("open", "cron(50 11 * * ? *)", FlexibleTimeWindow=window)
    account.put("closed", "cron(20 11 * * ? *)", FlexibleTimeWindow=window)
    done = move()
    assert account.states() == {"default/open": "ENABLED", "default/closed": "DISABLED"}
    assert "Run the command after 2026-11-21T12:31:15Z." in done["open"].enabled
    assert clock.slept == []
    world.clock.time += 32 * 60_000
    assert (move()["open"].did, account.states()["default/open"]) == ("kept", "DISABLED")


@pytest.mark.parametrize("second", [0, 1, 14, 15, 44, 45, 59])
def test_no_due_time_is_left_out_whatever_the_second_of_the_move(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]], world: World, second: int
) -> None:
    schedules = {
        "each-minute": ("cron(* * * * ? *)", 0),
        "at-noon": ("cron(0 12 * * ? *)", 0),
        "after-noon": ("cron(1 12 * * ? *)", 0),
        "flexible": ("cron(0/5 * * * ? *)", 12),
        "flexible-at-noon": ("cron(50 11 * * ? *)", 30),
    }
    for name, (expression, minutes) in schedules.items():
        window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": minutes} if minutes else {"Mode": "OFF"}
        account.put(name, expression, FlexibleTimeWindow=window)
    disabled_at: dict[str, int] = {}

    def note(params: dict[str, Any], **_: Any) -> None:
        disabled_at[params["url_path"].rpartition("/")[2]] = world.clock.now()

    account.client.meta.events.register("before-call.scheduler.UpdateSchedule", note)
    world.clock.time += second * 1000
    while len(disabled_at) < len(schedules):
        move()
        world.clock.time += 60_000

    begin = NOW - dt.timedelta(hours=1)
    for name, (expression, minutes) in schedules.items():
        created_at = dt.datetime.fromisoformat(client.jobs.get("default", name)["createdAt"])
        gone_at = dt.datetime.fromtimestamp(disabled_at[name] / 1000, dt.UTC)
        late = dt.timedelta(minutes=minutes, seconds=60)
        due = takewhile(
            lambda at: at < NOW + dt.timedelta(hours=1), due_times(expression, created=NOW, after=begin)
        )
        fires = [(at + late <= gone_at, at > created_at, at, at <= gone_at) for at in due]
        assert [at for by_source, by_job, at, _ in fires if not by_source and not by_job] == []
        twice = [at for *_, by_job, at, may_begin in fires if by_job and may_begin]
        assert all(created_at < at <= created_at + late + dt.timedelta(seconds=75 + 60) for at in twice)


def test_a_schedule_that_always_owes_a_fire_is_disabled_once_its_job_is_old_enough(
    account: Account, move: Callable[..., dict[str, Moved]], world: World
) -> None:
    account.put("a", "rate(5 minutes)", FlexibleTimeWindow={"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15})
    assert move()["a"].enabled
    world.clock.time += 17 * 60_000
    assert not move()["a"].enabled


def test_a_schedule_that_changes_meanwhile_stays_enabled(
    account: Account, client: Client, clock: Clock
) -> None:
    account.put("a", NIGHTLY)
    account.put("gone", NIGHTLY)
    moves = account.moves()
    account.client.delete_schedule(Name="gone")
    shown = account.show("a")
    update = {name: shown[name] for name in ("Name", "FlexibleTimeWindow", "Target")}
    account.client.update_schedule(**update, ScheduleExpression="rate(1 minute)", State="ENABLED")
    done = {
        each.move.schedule.name: each
        for each in Mover(client, Source(account.client), now=clock.now, sleep=clock.sleep).run(moves)
    }
    assert done["a"].enabled == "It was changed while it moved, so it stays enabled. Import it again."
    assert (done["gone"].did, done["gone"].enabled) == ("created", "")
    assert account.states() == {"default/a": "ENABLED"}


@pytest.mark.parametrize(
    "expected",
    [
        ("refuse", "refused", "ENABLED", "https://example.com/edited"),
        ("keep", "kept", "DISABLED", "https://example.com/edited"),
        ("replace", "replaced", "DISABLED", "https://example.com/hook"),
    ],
)
def test_a_job_that_exists_and_differs(
    account: Account,
    client: Client,
    move: Callable[..., dict[str, Moved]],
    expected: tuple[Existing, str, str, str],
) -> None:
    existing, did, state, url = expected
    account.put("a", NIGHTLY, Target={"Arn": "https://example.com/hook"})
    edited: Any = {"schedule": NIGHTLY, "target": {"type": "http", "url": "https://example.com/edited"}}
    client.jobs.put("default", "a", edited)
    done = move(existing)["a"]
    assert (done.did, account.states()["default/a"]) == (did, state)
    target: Any = client.jobs.get("default", "a")["target"]
    assert target["url"] == url
    if existing == "refuse":
        assert "The job exists and differs in data, retry, target." in str(done.problem)


def test_a_paused_job_does_not_take_the_place_of_an_enabled_schedule(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]]
) -> None:
    account.put("a", NIGHTLY)
    move()
    client.jobs.pause("default", "a")
    shown = account.show("a")
    update = {name: shown[name] for name in ("Name", "FlexibleTimeWindow", "Target", "ScheduleExpression")}
    account.client.update_schedule(**update, State="ENABLED")
    refused = move()["a"]
    assert "The job exists and differs in paused." in str(refused.problem)
    assert account.states() == {"default/a": "ENABLED"}
    assert move("replace")["a"].did == "replaced"
    assert client.jobs.get("default", "a")["state"] == "active"


@pytest.mark.parametrize("written", ["{}", '{"order":2}'])
def test_a_paused_job_that_is_replaced_fires_nothing_of_its_pause(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]], world: World, written: str
) -> None:
    account.put("a", NIGHTLY, Target={"Input": "{}"})
    job = account.move().job
    assert job is not None
    client.jobs.put("default", "a", {**job.definition, "data": json.loads(written)})
    client.jobs.pause("default", "a")
    # EventBridge has fired what was due in the pause.
    world.clock.time += 48 * 3_600_000
    assert move("replace")["a"].did == "replaced"
    assert client.jobs.get("default", "a")["state"] == "active"
    world.run_until(world.clock.time + 60_000)
    assert {each["state"] for each in client.runs.list("default", "a")} == {"skipped"}


def refusal(code: str, message: str) -> ClientError:
    """A refusal of UpdateSchedule."""
    answer: Any = {"Error": {"Code": code, "Message": message}}
    return ClientError(answer, "UpdateSchedule")


def test_a_start_that_aws_takes_no_more_is_left_out(
    account: Account, move: Callable[..., dict[str, Moved]], monkeypatch: pytest.MonkeyPatch
) -> None:
    account.put("a", "rate(1 hour)", StartDate=NOW - dt.timedelta(days=9))
    update = account.client.update_schedule

    def strict(**fields: Any) -> Any:
        if "StartDate" in fields:
            raise refusal("ValidationException", "The StartDate you specify cannot be earlier.")
        return update(**fields)

    monkeypatch.setattr(account.client, "update_schedule", strict)
    assert not move()["a"].enabled
    assert account.states() == {"default/a": "DISABLED"}


def test_a_schedule_that_aws_does_not_let_disable_is_told(
    account: Account, move: Callable[..., dict[str, Moved]], monkeypatch: pytest.MonkeyPatch
) -> None:
    account.put("a", NIGHTLY)

    def deny(**_: Any) -> Any:
        raise refusal("AccessDeniedException", "No.")

    monkeypatch.setattr(account.client, "update_schedule", deny)
    done = move()["a"]
    assert (done.did, done.was_refused) == ("created", True)
    assert "EventBridge Scheduler refused UpdateSchedule: " in done.enabled


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (EndpointConnectionError(endpoint_url="https://scheduler.example"), UnreachableError),
        (NoCredentialsError(), InputError),
    ],
)
def test_a_run_ends_when_aws_cannot_be_called(
    account: Account,
    move: Callable[..., dict[str, Moved]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    raised: type[Exception],
) -> None:
    account.put("a", NIGHTLY)
    monkeypatch.setattr(account.client, "update_schedule", Mock(side_effect=error))
    with pytest.raises(raised):
        move()


def test_a_long_description_makes_room_for_the_mark(
    account: Account, client: Client, move: Callable[..., dict[str, Moved]]
) -> None:
    account.put("a", NIGHTLY, Description="x" * 512)
    move()
    shown = account.show("a")["Description"]
    assert (len(shown), shown.endswith(f"x {MOVED}")) == (512, True)
    assert client.jobs.get("default", "a")["description"] == "x" * 512


@pytest.fixture
def counted(account: Account) -> list[int]:
    """The most calls of GetSchedule that were under way at once."""
    under_way, most, lock = [0], [0], Lock()

    def begin(**_: Any) -> None:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])

    def end(**_: Any) -> None:
        with lock:
            under_way[0] -= 1

    account.client.meta.events.register("before-call.scheduler.GetSchedule", begin)
    account.client.meta.events.register("after-call.scheduler.GetSchedule", end)
    return most


def test_five_hundred_schedules_take_few_calls(
    account: Account,
    client: Client,
    server: Server,
    move: Callable[..., dict[str, Moved]],
    counted: list[int],
) -> None:
    account.group("orders")
    for number in range(500):
        group = ("default", "orders")[number % 2]
        account.put(f"job-{number:03}", NIGHTLY, GroupName=group)
    account.calls.clear()
    done = move()
    assert {(each.did, each.enabled) for each in done.values()} == {("created", "")}
    assert len(done) == 500
    # Each schedule is read once, and once more before it is disabled.
    assert account.calls == {
        "ListScheduleGroups": 1,
        "ListTagsForResource": 2,
        "ListSchedules": 6,
        "GetSchedule": 1_000,
        "UpdateSchedule": 500,
    }
    assert 1 <= counted[0] <= AT_ONCE
    jobs = [each for each in writes(server) if each.endswith("/jobs")]
    assert len(jobs) == 6, "250 jobs of each namespace in calls of 100"
    assert set(account.states().values()) == {"DISABLED"}
    with pytest.raises(NotFoundError):
        client.jobs.get("default", "job-001")
