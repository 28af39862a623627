"""Auditing the jobs of a stack and rebuilding its timers, by the client and by the command."""

import re
from typing import Any, Final

import pytest
from tests.fakes.http_server import Server
from tests.fakes.world import NOON
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.base.errors import ForbiddenError
from sweephand.model.job import JobKey
from sweephand.runs import audit as auditing
from sweephand.runs import audit_findings
from sweephand.runs import rebuild as rebuilding
from sweephand_client import Client
from sweephand_client.openapi.requests import JobRequest

JOB: Final[JobRequest] = {"dueTime": "1h", "target": TARGET}


@pytest.fixture
def stack(client: Client, server: Server, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A stack with three jobs in two namespaces, of which two have lost their timers. A call examines one."""
    monkeypatch.setattr(audit_findings, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(auditing, "PAGE_MAX", 1)
    for namespace, name in (("ns", "a"), ("ns", "b"), ("other", "c")):
        client.jobs.put(namespace, name, JOB)
    for key in (JobKey("ns", "b"), JobKey("other", "c")):
        server.api.world.timers.lose(key, NOON)
    return client


def test_the_client_calls_until_every_job_is_examined(stack: Client) -> None:
    parts = list(stack.audit())
    assert len(parts) > 2
    assert sum(each["jobs"] for each in parts) == 3
    assert [lost["name"] for each in parts for lost in each["timers"]] == ["b", "c"]
    assert [lost for each in stack.audit() for lost in each["timers"]] == []


def test_the_command_tells_what_it_has_found_and_mended(stack: Client, sweephand: CommandLine) -> None:
    assert stack.me()["namespace"] == "*"
    ran = sweephand.run("audit", "--dry-run")
    assert ran.code == 1
    assert "ns/b" in ran.out
    assert "3 jobs examined: 2 lost timers and 0 lost messages found, 0 written." in ran.out
    ran = sweephand.ok("audit")
    assert "other/c" in ran.out
    assert "3 jobs examined: 2 lost timers and 0 lost messages found, 2 written." in ran.out
    assert sweephand.ok("audit", "--dry-run").out == (
        "3 jobs examined: 0 lost timers and 0 lost messages found, 0 written.\n"
    )


def test_the_command_prints_json_and_takes_one_namespace(stack: Client, sweephand: CommandLine) -> None:
    del stack
    one = sweephand.ok("audit", "--namespace", "other", "--json")
    lost = [{"namespace": "other", "name": "c", "dueAt": "2026-11-21T13:00:00.000Z"}]
    assert one.json == {
        "jobs": 1,
        "late": 0,
        "written": 1,
        "kept": 0,
        "timers": lost,
        "runs": [],
        "failed": [],
    }


def test_an_interrupted_audit_says_how_to_go_on(
    stack: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(stack.audit(dry_run=True))
    whole = auditing.Auditor.audit
    calls: list[Any] = []

    def breaking(self: Any, **options: Any) -> Any:
        calls.append(options)
        if len(calls) == 2:
            raise ForbiddenError("The key was revoked.")
        return whole(self, **options)

    monkeypatch.setattr(auditing.Auditor, "audit", breaking)
    ran = sweephand.run("audit")
    assert ran.code == 4
    assert f"--cursor {first['nextCursor']}" in ran.err.replace("\n", "")
    rest = sweephand.ok("audit", "--cursor", first["nextCursor"], "--json")
    assert rest.json["jobs"] == 2


def test_a_job_that_cannot_be_examined_is_named(
    stack: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del stack

    def failing(*_: Any) -> Any:
        raise ValueError("There is no time zone Mars/Base.")

    monkeypatch.setattr(auditing, "due_timer", failing)
    ran = sweephand.run("audit")
    assert ran.code == 1
    assert "Not examined: ns/a: There is no time zone Mars/Base." in ran.err


def test_jobs_with_which_the_sweepers_are_late_are_counted(
    stack: Client, server: Server, sweephand: CommandLine
) -> None:
    del stack
    server.api.world.clock.time += 2 * 3_600_000
    ran = sweephand.run("audit")
    assert ran.code == 1
    assert re.search(r"Not judged: (1 job|[23] jobs)\. The sweepers are late\.", ran.err)


SINCE = "2026-11-21T11:59:00Z"
MINUTELY: Final[JobRequest] = {"schedule": "0 * * * * *", "target": TARGET}


@pytest.fixture
def emptied(client: Client, server: Server, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A stack with three jobs in two namespaces and no timers. One call of a rebuild examines one job."""
    monkeypatch.setattr(rebuilding, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(rebuilding, "PAGE_MAX", 1)
    for namespace, name in (("ns", "a"), ("ns", "b"), ("other", "c")):
        client.jobs.put(namespace, name, MINUTELY)
    server.api.world.lose_timers()
    return client


def test_the_client_calls_until_every_job_is_armed(emptied: Client, server: Server) -> None:
    parts = list(emptied.rebuild(SINCE))
    assert len(parts) > 2
    assert sum(each["jobs"] for each in parts) == 3
    assert len(server.api.world.timers.everything()) == 3


def test_the_command_tells_what_it_has_done(emptied: Client, sweephand: CommandLine) -> None:
    assert emptied.me()["namespace"] == "*"
    ran = sweephand.ok("rebuild", "--since", SINCE)
    assert ran.out == "3 jobs examined: 3 timers written, and 0 runs taken up.\n"
    one = sweephand.ok("rebuild", "--since", SINCE, "--namespace", "other", "--json")
    assert one.json == {"jobs": 1, "timers": 1, "runs": 0, "failed": []}


def test_an_interrupted_rebuild_says_how_to_go_on(
    emptied: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(emptied.rebuild(SINCE))
    whole = rebuilding.Rebuilder.rebuild
    calls: list[Any] = []

    def breaking(self: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(options)
        if len(calls) == 2:
            raise ForbiddenError("The key was revoked.")
        return whole(self, *arguments, **options)

    monkeypatch.setattr(rebuilding.Rebuilder, "rebuild", breaking)
    ran = sweephand.run("rebuild", "--since", SINCE)
    assert ran.code == 4
    assert f"--since {SINCE} --cursor {first['nextCursor']}" in ran.err.replace("\n", "")
    rest = sweephand.ok("rebuild", "--since", SINCE, "--cursor", first["nextCursor"], "--json")
    assert rest.json["jobs"] == 2


def test_a_job_that_cannot_be_armed_is_named(
    emptied: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del emptied

    def failing(*_: Any, **__: Any) -> Any:
        raise ValueError("There is no time zone Mars/Base.")

    monkeypatch.setattr(rebuilding, "rebuilt_timers", failing)
    ran = sweephand.run("rebuild", "--since", SINCE)
    assert ran.code == 1
    assert "Not armed: ns/a: There is no time zone Mars/Base." in ran.err


def test_bad_input_is_told_in_words(emptied: Client, sweephand: CommandLine) -> None:
    del emptied
    refused = sweephand.run("rebuild", "--since", "yesterday")
    assert refused.code == 2
    assert "/since" in refused.err
    assert sweephand.run("rebuild").code == 2
