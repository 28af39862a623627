"""`export` and `import` move a namespace to another stack, and a job fires there when it would have fired."""

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Fault, Server, serving
from tests.fakes.world import NOON, World
from tests.unit.client.conftest import CommandLine

from sweephand_client.api.client import Client
from sweephand_client.commands.session import Session
from sweephand_client.http.errors import ForbiddenError, InputError
from sweephand_client.openapi.requests import HttpTarget, JobRequest
from sweephand_client.openapi.windows import WindowRequest
from sweephand_client.tasks.archive import read_archive
from sweephand_client.tasks.transfer import Imported, Importer, export
from sweephand_client.tasks.writing import INCOMPLETE

URL = "https://consumer.example/hook"
TARGET: Final[HttpTarget] = {"type": "http", "url": URL, "headers": {"x-team": "ops"}}

START = "R/2027-03-26T14:00:00Z/P1D"

JOBS: Final[dict[str, JobRequest]] = {
    "cron": {"schedule": "30 2 * * *", "timezone": "Europe/Paris", "target": TARGET, "data": {"n": 1.5}},
    "every": {"schedule": "@every 1h", "target": TARGET},
    "once": {"dueTime": "2h", "target": TARGET},
    "soon": {"dueTime": "5m", "target": TARGET},
    "counted": {"schedule": "@every 10m", "repeats": 3, "target": TARGET},
    "by-hand": {"target": TARGET},
    "limited": {"schedule": "@hourly", "policy": "mail", "target": TARGET},
    "month-end": {
        "schedule": "0 17 L * *",
        "calendar": {"name": "fr", "otherwise": "previous"},
        "target": TARGET,
    },
}


def at(world: World) -> dt.datetime:
    return dt.datetime.fromtimestamp(world.clock.now() / 1000, dt.UTC)


def new_world() -> World:
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    return world


@pytest.fixture
def other() -> Iterator[Server]:
    """Another stack, whose clock a test moves."""
    with serving(Api(new_world())) as server:
        yield server


NIGHTLY: Final[WindowRequest] = {"schedule": "0 1 * * *", "timezone": "Europe/Paris", "duration": "2h"}


@pytest.fixture
def full(client: Client) -> Client:
    """The client of a stack whose namespace has one of each kind."""
    client.namespaces.put("ns", {"limits": {"jobs": 50}, "defaultRetry": {"maxAttempts": 2}})
    client.policies.put(
        "ns", "mail", {"maxConcurrent": 3, "rate": {"limit": 10, "per": "1m"}, "by": "label:tenant"}
    )
    client.policies.put("ns", "stopped", {"maxConcurrent": 1})
    client.policies.pause("ns", "stopped", reason="tonight")
    client.calendars.put("ns", "fr", {"holidays": [{"country": "FR"}], "closed": ["2026-11-30"]})
    client.windows.put("ns", "nightly", NIGHTLY)
    for name, job in JOBS.items():
        client.jobs.put("ns", name, job)
    client.jobs.put("ns", "stopped", {"schedule": "* * * * * *", "target": TARGET})
    client.jobs.pause("ns", "stopped", reason="tonight")
    return client


def exported(client: Client, world: World) -> list[str]:
    return list(export(client, "ns", now=at(world), seen=lambda: None).lines)


def moved(lines: list[str], other: Server, **options: Any) -> list[tuple[str, str]]:
    """The outcome of each thing that is imported into the other stack."""
    client = Client(other.url, "sh_admin")
    importer = Importer(client, "ns", read_archive(lines), now=at(other.api.world), **options)
    return [(each.name, each.outcome) for each in importer.run()]


def due(client: Client, name: str) -> list[str]:
    return [each["utc"] for each in client.jobs.occurrences("ns", name, limit=3)["occurrences"]]


def test_a_namespace_comes_whole_to_another_stack(full: Client, server: Server, other: Server) -> None:
    lines = exported(full, server.api.world)
    other.api.world.clock.time += 60_000

    outcomes = moved(lines, other)

    assert {outcome for _, outcome in outcomes} == {"written"}
    there = Client(other.url, "sh_admin")
    assert there.namespaces.get("ns")["defaultRetry"] == {"maxAttempts": 2}
    mail, held = (there.policies.get("ns", name) for name in ("mail", "stopped"))
    assert (mail["rate"], mail["by"], mail["state"]) == (
        {"limit": 10, "per": "1m"},
        "label:tenant",
        "active",
    )
    assert (held["state"], held.get("pauseReason")) == ("paused", "tonight")
    assert there.calendars.get("ns", "fr")["closed"] == ["2026-11-30"]
    assert [each["name"] for each in there.windows.list("ns")] == ["nightly"]
    assert NIGHTLY.items() <= there.windows.get("ns", "nightly").items()
    for name in JOBS:
        assert due(there, name) == due(full, name), name
        old, new = (each.jobs.get("ns", name) for each in (full, there))
        for field in ("schedule", "timezone", "target", "data", "policy", "retry", "repeats", "calendar"):
            assert old.get(field) == new.get(field), (name, field)
    stopped = there.jobs.get("ns", "stopped")
    assert (stopped["state"], stopped.get("pauseReason")) == ("paused", "tonight")


@pytest.mark.parametrize(("later_ms", "until"), [(60_000, "2026-11-21T13:00:00.000Z"), (7_200_000, None)])
def test_a_pause_that_ends_by_itself_does_so_on_the_other_stack_or_is_over_by_then(
    full: Client, server: Server, other: Server, later_ms: int, until: str | None
) -> None:
    full.jobs.pause("ns", "stopped", until="1h", catchup="none")
    lines = exported(full, server.api.world)
    other.api.world.clock.time += later_ms

    assert {outcome for _, outcome in moved(lines, other)} <= {"written", "over"}
    stopped = Client(other.url, "sh_admin").jobs.get("ns", "stopped")
    assert (stopped["state"] == "paused", stopped.get("pausedUntil")) == (until is not None, until)
    assert stopped.get("resumeCatchup") == (None if until is None else "none")


def test_an_import_hours_later_keeps_phases_and_leaves_out_what_is_over(
    full: Client, server: Server, other: Server
) -> None:
    lines = exported(full, server.api.world)
    there = Client(other.url, "sh_admin")
    other.api.world.clock.time += 15 * 60_000
    moved(lines, other)
    assert due(there, "counted") == due(full, "counted")[1:]
    other.api.world.clock.time += 75 * 60_000

    outcomes = dict(moved(lines, other, replaces=True))

    assert {name for name, outcome in outcomes.items() if outcome == "over"} == {"soon", "counted"}
    assert due(there, "once") == due(full, "once")
    assert due(there, "every") == [*due(full, "every")[1:], "2026-11-21T16:00:00.000Z"]


@pytest.mark.parametrize(
    ("times", "fields"),
    [
        (("03-25T01:30", "03-27T12:00", "03-27T13:00"), {"schedule": "R/P1D"}),
        (("03-25T01:30", "03-27T12:00", "03-28T12:00"), {"schedule": "R/P1D"}),
        (("03-14T01:30", "03-27T12:00", "03-27T13:00"), {"schedule": "R9/P1W", "ttl": "90d"}),
        (("03-25T00:00", "03-26T12:00", "03-27T13:00"), {"schedule": START, "dueTime": "2h"}),
        (("03-25T00:00", "03-26T12:00", "03-27T13:00"), {"schedule": START, "dueTime": "2h", "jitter": "1h"}),
    ],
)
def test_a_repetition_keeps_its_time_of_day_over_a_clock_change(
    client: Client, server: Server, other: Server, times: tuple[str, str, str], fields: JobRequest
) -> None:
    """In Berlin, 02:30 does not exist on 2027-03-28."""
    job: JobRequest = {**fields, "timezone": "Europe/Berlin", "target": TARGET}
    assert moved_at(client, (server, other), job, times).outcome == "written"
    assert due(Client(other.url, "sh_admin"), "daily") == due(client, "daily")


def test_a_repetition_whose_jitter_leads_into_a_clock_change_keeps_its_time_of_day_after_it(
    client: Client, server: Server, other: Server
) -> None:
    job: JobRequest = {"schedule": "R/P1D", "jitter": "20m", "timezone": "Europe/Berlin", "target": TARGET}
    times = "03-25T00:50", "03-27T12:00", "03-27T13:00"
    written = moved_at(client, (server, other), job, times)
    assert due(Client(other.url, "sh_admin"), "daily")[1:] == due(client, "daily")[1:]
    assert "its due time at the clock change may differ" in written.notes[0]


def moved_at(
    client: Client, servers: tuple[Server, Server], job: JobRequest, times: tuple[str, str, str]
) -> Imported:
    """What becomes of a job that is written, exported and imported at three times of 2027."""
    begun, exported_at, imported_at = (
        int(dt.datetime.fromisoformat(f"2027-{each}:00Z").timestamp() * 1000) for each in times
    )
    worlds = [each.api.world for each in servers]
    worlds[0].clock.time = begun
    client.jobs.put("ns", "daily", job)
    worlds[0].clock.time = exported_at
    lines = exported(client, worlds[0])
    for each in worlds:
        each.clock.time = imported_at
    there = Client(servers[1].url, "sh_admin")
    [imported] = Importer(there, "ns", read_archive(lines), now=at(worlds[1])).run()
    return imported


def test_an_import_that_is_repeated_changes_nothing(full: Client, server: Server, other: Server) -> None:
    lines = exported(full, server.api.world)
    moved(lines, other)
    before = list(Client(other.url, "sh_admin").jobs.list("ns"))

    assert {outcome for _, outcome in moved(lines, other)} == {"exists"}
    assert list(Client(other.url, "sh_admin").jobs.list("ns")) == before


def test_a_window_that_is_over_is_left_out_of_an_export_and_of_an_import(
    full: Client, server: Server, other: Server
) -> None:
    full.windows.put("ns", "short", {"from": "2026-11-21T12:00:00Z", "to": "2026-11-21T12:00:30Z"})
    lines = exported(full, server.api.world)
    other.api.world.clock.time += 30_000
    assert dict(moved(lines, other))["short"] == "over"
    server.api.world.clock.time += 30_000
    assert not any('"short"' in line for line in exported(full, server.api.world))


def test_replace_writes_over_what_exists(full: Client, server: Server, other: Server) -> None:
    there = Client(other.url, "sh_admin")
    there.jobs.put("ns", "cron", {"schedule": "@hourly", "target": TARGET})
    there.jobs.pause("ns", "cron")
    there.jobs.put("ns", "stopped", {"schedule": "@hourly", "target": TARGET})
    there.policies.put(
        "ns", "mail", {"maxConcurrent": 3, "rate": {"limit": 10, "per": "1m"}, "by": "label:tenant"}
    )
    there.policies.pause("ns", "mail")
    there.calendars.put("ns", "fr", {})
    there.windows.put("ns", "nightly", {**NIGHTLY, "duration": "1h"})
    there.policies.put("ns", "stopped", {"maxConcurrent": 1})
    there.namespaces.put("ns", {"limits": {}})
    lines = exported(full, server.api.world)

    assert dict(moved(lines, other))["cron"] == "exists"
    assert {outcome for _, outcome in moved(lines, other, replaces=True)} == {"written"}
    job = there.jobs.get("ns", "cron")
    assert (job["schedule"], job["state"]) == ("30 2 * * *", "active")
    assert there.jobs.get("ns", "stopped")["state"] == "paused"
    states = {each["name"]: each["state"] for each in there.policies.list("ns")}
    assert states == {"mail": "active", "stopped": "paused"}
    assert there.namespaces.get("ns")["limits"] == {"jobs": 50}
    assert there.calendars.get("ns", "fr")["closed"] == ["2026-11-30"]
    assert there.windows.get("ns", "nightly")["duration"] == "2h"


def test_a_refused_job_stops_no_other(full: Client, server: Server, other: Server) -> None:
    lines = exported(full, server.api.world)
    lines = [line.replace('"schedule":"30 2 * * *"', '"schedule":"never"') for line in lines]

    outcomes = dict(moved(lines, other))

    assert {name for name, outcome in outcomes.items() if outcome != "written"} == {"cron"}


def test_a_key_that_may_write_no_settings_imports_the_rest(
    full: Client, server: Server, other: Server
) -> None:
    archive = read_archive(exported(full, server.api.world))
    writer = Client(other.url, "sh_writer")

    found = {each.kind: each for each in Importer(writer, "ns", archive, now=at(other.api.world)).run()}

    assert found["settings"].problem is not None
    assert found["settings"].problem.status == 403
    assert {found[kind].outcome for kind in ("calendar", "window", "policy", "job")} == {"written"}


def test_jobs_that_are_over_are_left_out_of_an_export_and_told(full: Client, server: Server) -> None:
    server.api.world.clock.time += 6 * 60_000
    found = export(full, "ns", now=at(server.api.world), seen=lambda: None)
    lines = list(found.lines)

    assert [each.name for each in found.left_out] == ["soon"]
    assert not any('"job":"soon"' in line for line in lines)


def test_a_key_that_sees_no_headers_exports_nothing(server: Server) -> None:
    with pytest.raises(ForbiddenError, match="role write or admin"):
        export(Client(server.url, "sh_reader"), "ns", now=at(server.api.world), seen=lambda: None)


def test_a_file_that_was_cut_is_refused_before_anything_is_written(
    full: Client, server: Server, sweephand: CommandLine
) -> None:
    lines = exported(full, server.api.world)
    for some in (lines[:-1], lines[1:], [*lines[:3], *lines[4:]], []):
        with pytest.raises(InputError, match=r"not whole|no line of an export"):
            read_archive(some)
    path = sweephand.file("cut.jsonl", "\n".join(lines[:-1]))
    assert sweephand.run("import", path, "-n", "elsewhere").code == 2
    assert sweephand.ok("job", "list", "-n", "elsewhere", "--json").json == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Line 2 cannot be read"),
        ('{"job": "a", "definition": {}, "nextAt": "soon"}', "Line 2 cannot be read"),
        ('{"job": "a", "definition": {}, "nextAt": "2026-11-21T12:00:00"}', "no offset"),
        ('{"other": 1}', "Line 2 is no line of an export"),
    ],
)
def test_a_line_that_is_wrong_is_named_unless_the_form_is_of_a_later_version(line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_archive(['{"sweephand": 1, "namespace": "ns"}', line])
    with pytest.raises(InputError, match="form 2"):
        read_archive(['{"sweephand": 2, "namespace": "ns"}', line])


@pytest.mark.usefixtures("full")
def test_the_commands_move_a_namespace_through_a_file(
    sweephand: CommandLine, other: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Session, "now", lambda _: dt.datetime.fromtimestamp(NOON / 1000, dt.UTC))
    path = tmp_path / "ns.jsonl"
    sweephand.ok("export", "--file", str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert sweephand.ok("export").out == path.read_text("utf-8")

    there = {"SWEEPHAND_URL": other.url, "SWEEPHAND_NAMESPACE": "other"}
    said = sweephand.ok("import", str(path), "-n", "other", **there).out
    assert said.endswith(f"{len(JOBS) + 6} written\n")
    found = sweephand.ok("job", "list", "--json", **there).json
    assert {each["name"] for each in found} == {*JOBS, "stopped"}
    said = sweephand.ok("import", str(path), "-n", "other", **there).out
    assert "job cron left unchanged, because it exists\n" in said
    assert said.endswith(f"{len(JOBS) + 1} left unchanged\n")
    results = sweephand.ok("import", str(path), "-n", "other", "--json", **there).json["results"]
    assert {each["outcome"] for each in results} == {"exists"}


def test_an_import_with_a_refused_job_exits_with_2(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "now", lambda _: dt.datetime.fromtimestamp(NOON / 1000, dt.UTC))
    definition = {"schedule": "never", "target": TARGET}
    lines = (
        {"sweephand": 1, "namespace": "new"},
        {"job": "a", "definition": definition, "nextAt": "2027-01-01T00:00:00Z"},
        {"end": {"calendars": 0, "windows": 0, "policies": 0, "jobs": 1}},
    )

    ran = sweephand.run("import", "-", "-n", "new", given="\n".join(map(json.dumps, lines)))

    assert ran.code == 2
    assert "job a refused: 1 field cannot be accepted.\n  /schedule: " in ran.out


@pytest.mark.parametrize("is_paused", [True, False])
def test_an_incomplete_job_does_not_count_as_one_that_exists(
    full: Client, server: Server, other: Server, *, is_paused: bool
) -> None:
    name = "stopped" if is_paused else "cron"
    there = Client(other.url, "sh_admin")
    there.jobs.put("ns", name, {"target": TARGET, "description": INCOMPLETE})
    there.jobs.pause("ns", name)
    lines = exported(full, server.api.world)

    assert dict(moved(lines, other))[name] == "written"

    old, new = full.jobs.get("ns", name), there.jobs.get("ns", name)
    assert (new["state"], new["schedule"]) == (old["state"], old["schedule"])
    assert "description" not in new


def test_an_incomplete_job_is_not_exported(client: Client, server: Server) -> None:
    client.jobs.put("ns", "a", {"target": TARGET, "description": INCOMPLETE})
    found = export(client, "ns", now=at(server.api.world), seen=lambda: None)
    assert not any('"job"' in line for line in found.lines)
    assert [each.name for each in found.left_out] == ["a"]


def test_a_replaced_job_that_was_paused_fires_nothing_of_its_pause(
    full: Client, server: Server, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Client(other.url, "sh_admin")
    there.jobs.put("ns", "cron", {**JOBS["cron"], "catchup": {"mode": "all"}})
    there.jobs.pause("ns", "cron")
    lines = exported(full, server.api.world)
    for world in (server.api.world, other.api.world):
        world.clock.time += 48 * 3_600_000
    other.requests.clear()
    bodies: list[Any] = []
    ask = other.api.send

    def recording(*given: Any, **options: Any) -> Any:
        bodies.append(options["text"])
        return ask(*given, **options)

    monkeypatch.setattr(other.api, "send", recording)

    assert dict(moved(lines, other, replaces=True))["cron"] == "written"

    resumed = other.calls().index("POST /v1/namespaces/ns/jobs/cron/resume")
    assert json.loads(bodies[resumed]) == {"catchup": "none"}


def test_a_refused_resume_stops_no_other_job(full: Client, server: Server, other: Server) -> None:
    there = Client(other.url, "sh_admin")
    there.jobs.put("ns", "cron", JOBS["cron"])
    there.jobs.pause("ns", "cron")
    lines = exported(full, server.api.world)

    class Refuses(list[Fault]):
        def __bool__(self) -> bool:
            return bool(other.requests) and other.requests[-1][1].endswith("/cron/resume")

    other.faults = Refuses([Fault(409, {"content-type": "application/json"}, b'{"detail": "no"}')])
    outcomes = dict(moved(lines, other, replaces=True))

    assert outcomes.pop("cron") == "refused"
    assert set(outcomes.values()) == {"written"}


@pytest.mark.parametrize(("namespace", "is_told"), [("ns", False), ("elsewhere", True)])
def test_an_import_says_that_another_namespace_gives_another_jitter(
    client: Client, server: Server, other: Server, namespace: str, *, is_told: bool
) -> None:
    client.jobs.put("ns", "job", {"schedule": "@hourly", "jitter": "5m", "target": TARGET})
    archive = read_archive(exported(client, server.api.world))
    there = Client(other.url, "sh_admin")

    (found,) = Importer(there, namespace, archive, now=at(other.api.world)).run()

    assert found.outcome == "written"
    assert any("jitter" in note for note in found.notes) == is_told
