"""What makes the command line quick to use: texts and times of people, all namespaces, and forms of data."""

import csv
import io
import os
import subprocess
import sys
from typing import Any

import pytest
import typer
from tests.fakes.world import NOON
from tests.unit.client.conftest import CommandLine

from sweephand.model.attempt import Answer
from sweephand_client.commands import inputs, run, session
from sweephand_client.tasks.exact_yaml import parsed

URL = "https://consumer.example/hook"
REPORT = ("job", "schedule", "report", "-s", "@hourly", "--url", URL)


@pytest.fixture
def jobs(sweephand: CommandLine) -> CommandLine:
    """A stack with the job `report` in two namespaces."""
    sweephand.ok(*REPORT, "--timezone", "Europe/Paris", "--label", "team=ops")
    sweephand.ok(*REPORT, "-n", "other")
    return sweephand


def test_options_write_the_fields_that_people_change_most(sweephand: CommandLine) -> None:
    rules = ("--jitter", "30s", "--overlap", "skip", "--catchup", "none", "--completion", "async")
    ttl = ("--ttl", "2027-01-05T06:00:00Z")
    sweephand.ok(
        *REPORT, *rules, *ttl, "--field", "history=full", "--field", "repeats=4", "--description", "5"
    )
    job = sweephand.ok("job", "get", "report", "--json").json
    assert (job["jitter"], job["overlap"], job["completion"]) == ("30s", "skip", "async")
    assert (job["catchup"]["mode"], job["history"], job["repeats"]) == ("none", "full", 4)
    assert (job["ttl"], job["description"]) == ("2027-01-05T06:00:00Z", "5")


def test_a_due_time_is_on_the_wall_of_the_jobs_zone(sweephand: CommandLine) -> None:
    words = ("job", "schedule", "once", "--due", "2027-07-05 06:00", "--url", URL)
    sweephand.ok(*words, "--timezone", "Asia/Tokyo", "--zone", "UTC")
    assert sweephand.ok("job", "get", "once", "--json").json["nextRun"] == "2027-07-04T21:00:00.000Z"
    sweephand.ok(*words, "--zone", "UTC")
    assert sweephand.ok("job", "get", "once", "--json").json["nextRun"] == "2027-07-05T06:00:00.000Z"


def test_a_patch_writes_some_fields_and_removes_others(jobs: CommandLine) -> None:
    before = jobs.ok("job", "get", "report", "--json").json
    said = jobs.ok(
        "job", "patch", "report", "-s", "@daily", "--label", "site=eu", "--without", "timezone"
    ).out
    after = jobs.ok("job", "get", "report", "--json").json
    assert said.startswith("report is active, next run at ")
    assert (after["schedule"], after["labels"]) == ("@daily", {"team": "ops", "site": "eu"})
    assert ("timezone" in after, after["target"]) == (False, before["target"])
    assert jobs.run("job", "patch", "report", "--ttl", "1d", "--if-match", before["rev"]).code == 4


def test_a_list_shows_zone_and_target_and_the_jobs_of_every_namespace(jobs: CommandLine) -> None:
    one = jobs.ok("job", "list").out.splitlines()
    assert one[0].split() == ["NAME", "STATE", "LAST", "NEXT", "RUN", "SCHEDULE", "ZONE", "TARGET"]
    assert one[1].split()[-3:] == ["@hourly", "Europe/Paris", URL]
    both = jobs.ok("job", "list", "-A").out.splitlines()
    assert [line.split()[:2] for line in both] == [
        ["NAMESPACE", "NAME"],
        ["ns", "report"],
        ["other", "report"],
    ]
    refused = jobs.run("job", "list", "-A", "-n", "ns")
    assert (refused.code, "not both" in refused.err) == (2, True)


def test_runs_of_every_namespace_are_listed_newest_first(jobs: CommandLine) -> None:
    world = jobs.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    fails = ("--url", URL, "--field", 'retry={"maxAttempts": 1}')
    for name, namespace, due in (("a", "ns", "10s"), ("b", "other", "11s"), ("c", "ns", "12s")):
        jobs.ok("job", "schedule", name, "-n", namespace, "--due", due, *fails)
    world.run_until(NOON + 13_000)

    listed = jobs.ok("run", "list", "-A", "--json").json
    assert [(each["namespace"], each["job"]) for each in listed] == [("ns", "c"), ("other", "b"), ("ns", "a")]
    assert jobs.ok("run", "list", "-A").out.split()[:2] == ["NAMESPACE", "JOB"]
    assert jobs.ok("run", "list", "-o", "name").out.splitlines() == [
        f"{each['job']} {each['id']}" for each in listed if each["namespace"] == "ns"
    ]


def test_a_namespace_that_the_stack_does_not_have_is_said(jobs: CommandLine) -> None:
    for words in (("job", "list"), ("run", "list")):
        said = jobs.ok(*words, "-n", "nobody").err
        assert "The stack has no namespace nobody. It has ns, other." in said
        assert jobs.ok(*words, "-n", "nobody", "--json").err == ""


def test_results_are_printed_in_the_form_that_a_program_reads(jobs: CommandLine) -> None:
    whole = jobs.ok("job", "list", "--json").json
    assert jobs.ok("job", "list", "-o", "json").json == whole
    assert parsed(jobs.ok("job", "list", "-o", "yaml").out) == whole
    assert jobs.ok("job", "list", "-A", "-o", "name").out == "report\nreport\n"
    (row,) = csv.DictReader(io.StringIO(jobs.ok("job", "list", "-o", "csv").out))
    assert (row["name"], row["timezone"], row["labels"]) == ("report", "Europe/Paris", '{"team":"ops"}')
    assert jobs.ok("job", "list", "--prefix", "x", "-o", "csv").out == ""
    assert jobs.ok("job", "get", "report", "-o", "name").out == "report\n"
    assert jobs.run("job", "list", "-o", "xml").code == 2


def test_times_are_shown_in_the_zone_that_is_asked_for(jobs: CommandLine) -> None:
    next_run = jobs.ok("job", "get", "report", "--json").json["nextRun"]
    assert f"{next_run[:10]} {next_run[11:19]}" in jobs.ok("job", "list", "--zone", "UTC").out
    refused = jobs.run("job", "list", "--zone", "Mars/Base")
    assert (refused.code, "There is no time zone 'Mars/Base'" in refused.err) == (2, True)


def test_data_are_complete_unless_a_limit_is_asked_for(sweephand: CommandLine) -> None:
    for number in range(22):
        sweephand.ok(*REPORT[:2], "a", *REPORT[3:], "--field", f"repeats={number + 1}")
    assert len(sweephand.ok("job", "changes", "a", "--json").json) == 22
    shown = sweephand.ok("job", "changes", "a")
    assert (len(shown.out.splitlines()), "There are more than 20." in shown.err) == (21, True)
    cut = sweephand.ok("job", "changes", "a", "--json", "--limit", "3")
    assert (len(cut.json), "There are more than 3." in cut.err) == (3, True)


DELETIONS: list[tuple[str, ...]] = [
    ("job", "delete", "report"),
    ("policy", "delete", "mail"),
    ("window", "delete", "night"),
    ("calendar", "delete", "fr"),
    ("secret", "delete", "token"),
    ("key", "revoke", "k"),
]


@pytest.mark.parametrize("words", DELETIONS, ids=" ".join)
def test_a_person_is_asked_before_something_is_deleted(
    jobs: CommandLine, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(text: str, **_: Any) -> None:
        asked.append(text)
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", refuse)
    monkeypatch.setattr(inputs, "is_terminal", lambda: True)
    before = len(jobs.server.requests)
    assert jobs.run(*words).code == 1
    assert (len(asked), len(jobs.server.requests)) == (1, before)
    assert words[-1] in asked[0]
    # A command that is sure, and one in a script, is not asked.
    jobs.run(*words, "--yes")
    monkeypatch.setattr(inputs, "is_terminal", lambda: False)
    jobs.run(*words)
    assert (len(asked), len(jobs.server.requests)) == (1, before + 2)


def test_a_person_is_told_how_many_runs_change_before_they_do(
    jobs: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = jobs.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    once = ("--due", "10s", "--url", URL, "--field", 'retry={"maxAttempts": 1}')
    jobs.ok("job", "schedule", "a", *once)
    jobs.ok("job", "schedule", "b", *once)
    world.run_until(NOON + 11_000)
    asked: list[str] = []
    monkeypatch.setattr(run, "is_terminal", lambda: True)
    monkeypatch.setattr(inputs, "is_terminal", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda text, **_: asked.append(text))
    words = ("run", "redrive", "--since", "2026-11-21T12:00:00Z")
    assert jobs.ok(*words, "-A").out == "Redriven: 2 runs in 2 namespaces.\n"
    assert asked == ["2 runs in 2 namespaces would be redriven. Go on?"]
    assert jobs.ok(*words, "--dry-run").out == "2 runs would be redriven.\n"
    assert jobs.ok(*words, "--yes").out == "Redriven: 2 runs.\n"
    assert len(asked) == 1


def test_what_changes_is_shown_again_until_it_is_over(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(session, "sleep", wait)
    shown = sweephand.ok("status", "--watch").out
    assert (shown.count("heartbeatAt"), len(waited)) == (2, 2)


def modules_after(*words: str) -> tuple[str, set[str]]:
    """The first line that a command prints in a process of its own, and the modules that it has imported."""
    program = (
        f"import sys; sys.argv = {['sweephand', *words]}\n"
        "from sweephand_client.commands.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sorted(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(  # noqa: S603 - the Python of this environment
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    first, *_, modules = ran.stdout.splitlines()
    return first, set(modules.split())


def test_the_version_needs_none_of_the_modules_that_call_a_stack() -> None:
    version, modules = modules_after("--version")
    assert version.startswith("sweephand ")
    assert {"urllib3", "yaml", "rich"} & modules == set()


def test_a_list_of_jobs_imports_neither_what_other_commands_need_nor_bars(jobs: CommandLine) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in jobs.environment.items():
            patched.setenv(name, value)
        line, modules = modules_after("job", "list", "-o", "name")
    assert (line, "urllib3" in modules) == ("report", True)
    assert {"yaml", "rich.progress", "concurrent.futures.thread"} & modules == set()
