"""A schedule is disabled after its job was accepted, no fire is lost, and a second run changes nothing."""

import datetime as dt
from collections.abc import Callable
from itertools import islice, takewhile
from threading import Lock
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Fault, Server, serving
from tests.fakes.world import World
from tests.unit.client.eventbridge.conftest import FUNCTION, NOW, PARAMETERS, Account
from tests.unit.client.eventbridge.oracle import due_times

from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.errors import NotFoundError, UnreachableError
from sweephand_client.http.transport import Transport
from sweephand_client.tasks.eventbridge.moving import Existing, Moved, Mover
from sweephand_client.tasks.eventbridge.source import AT_ONCE, MOVED, Source

NIGHTLY = "cron(30 2 * * ? *)"
WRITES = ("PUT", "POST", "PATCH", "DELETE")


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


def test_a_second_run_changes_nothing(
    account: Account, client: Client, server: Server, move: Callable[..., dict[str, Moved]]
) -> None:
    account.put("a", NIGHTLY)
    account.put("b", "rate(1 hour)", State="DISABLED")
    first = move()
    assert (first["a"].did, first["b"].did) == ("created", "created")
    assert client.jobs.get("default", "b")["state"] == "paused"
    kept, shown, calls = revisions(client), account.states(), dict(account.calls)
    server.requests.clear()
    assert [each.did for each in move().values()] == ["kept"]
    assert (writes(server), revisions(client), account.states()) == ([], kept, shown)
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

    def lose(model: Any, **_: Any) -> None:
        assert model is None, "no schedule is disabled"

    account.client.meta.events.register("before-call.scheduler.UpdateSchedule", lose)
    send = server.api.send

    def broken(method: str, url: str, **options: Any) -> Any:
        if "/orders" in url:
            server.faults += [Fault()] * 20
        return send(method, url, **options)

    server.api.send = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(UnreachableError):
        move()
    assert revisions_after(server, client, send) == ["a"]

    account.client.meta.events.unregister("before-call.scheduler.UpdateSchedule", lose)
    assert {name: each.did for name, each in move().items()} == {"a": "kept", "b": "created"}
    assert set(account.states().values()) == {"DISABLED"}


def revisions_after(server: Server, client: Client, send: Any) -> list[str]:
    """The names of the jobs, once the stack is there again."""
    server.api.send = send  # type: ignore[method-assign]
    server.faults.clear()
    return [*revisions(client)]


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
    assert len(writes(server)) == 6, "250 jobs of each namespace in calls of 100"
    assert set(account.states().values()) == {"DISABLED"}
    with pytest.raises(NotFoundError):
        client.jobs.get("default", "job-001")
