"""Rebuilding a stack whose timers were lost, by the client and by the command."""

from typing import Any, Final

import pytest
from tests.fakes.http_server import Server
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.base.errors import ForbiddenError
from sweephand.runs import rebuild as rebuilding
from sweephand_client import Client
from sweephand_client.openapi.requests import JobRequest

SINCE = "2026-11-21T11:59:00Z"
JOB: Final[JobRequest] = {"schedule": "0 * * * * *", "target": TARGET}


@pytest.fixture
def stack(client: Client, server: Server, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A stack with three jobs in two namespaces and no timers. One call of a rebuild examines one job."""
    monkeypatch.setattr(rebuilding, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(rebuilding, "PAGE_MAX", 1)
    for namespace, name in (("ns", "a"), ("ns", "b"), ("other", "c")):
        client.jobs.put(namespace, name, JOB)
    server.api.world.lose_timers()
    return client


def test_the_client_calls_until_every_job_is_armed(stack: Client, server: Server) -> None:
    parts = list(stack.rebuild(SINCE))
    assert len(parts) > 2
    assert sum(each["jobs"] for each in parts) == 3
    assert len(server.api.world.timers.everything()) == 3


def test_the_command_tells_what_it_has_done(stack: Client, sweephand: CommandLine) -> None:
    assert stack.me()["namespace"] == "*"
    ran = sweephand.ok("rebuild", "--since", SINCE)
    assert ran.out == "3 jobs examined: 3 timers written, and 0 runs taken up.\n"
    one = sweephand.ok("rebuild", "--since", SINCE, "--namespace", "other", "--json")
    assert one.json == {"jobs": 1, "timers": 1, "runs": 0, "failed": []}


def test_an_interrupted_rebuild_says_how_to_go_on(
    stack: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(stack.rebuild(SINCE))
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
    stack: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del stack

    def failing(*_: Any, **__: Any) -> Any:
        raise ValueError("There is no time zone Mars/Base.")

    monkeypatch.setattr(rebuilding, "rebuilt_timers", failing)
    ran = sweephand.run("rebuild", "--since", SINCE)
    assert ran.code == 1
    assert "Not armed: ns/a: There is no time zone Mars/Base." in ran.err


def test_bad_input_is_told_in_words(stack: Client, sweephand: CommandLine) -> None:
    del stack
    refused = sweephand.run("rebuild", "--since", "yesterday")
    assert refused.code == 2
    assert "/since" in refused.err
    assert sweephand.run("rebuild").code == 2
