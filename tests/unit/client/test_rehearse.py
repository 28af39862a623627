"""`sweephand rehearse`: a file or a namespace, the errors of both, and what its page shows."""

import datetime as dt
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
from tests.unit.client.conftest import CommandLine
from tests.unit.docs.blocks import ROOT, blocks, commands

from sweephand_client.commands import rehearse
from sweephand_client.commands.session import Session

PAGE: Final = ROOT / "docs" / "rehearsal.md"
BEGIN: Final = "2026-10-12T00:00:00Z"

JOBS: Final = """
defaults:
  target: {type: http, url: "https://example.com/run"}
jobs:
  - {name: a, schedule: "@every 10s", overlap: skip}
  - {name: b, schedule: "0 * * * *", batch: {count: 6}, policy: few}
"""


@pytest.fixture
def jobs(sweephand: CommandLine) -> str:
    return sweephand.file("jobs.yaml", JOBS)


def rehearsed(sweephand: CommandLine, *words: str) -> Any:
    return sweephand.ok("rehearse", *words, "--weeks", "1", "--from", BEGIN, "--json").json


def test_the_page_shows_what_its_command_prints(
    sweephand: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [file], [shell], [shown] = (list(blocks(PAGE, each)) for each in ("yaml", "sh", "text"))
    sweephand.file("jobs.yaml", file.text)
    [command] = commands(shell.text)
    program, *words = shlex.split(command)

    printed = sweephand.ok(*words).out

    assert program == "sweephand"
    assert shown.text in "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def test_a_rehearsal_is_the_same_to_the_byte_by_its_seed(sweephand: CommandLine) -> None:
    # Nine rehearsals follow. With a job that fires every ten seconds, each would take two seconds.
    jobs = sweephand.file("jobs.yaml", JOBS.replace("@every 10s", "@every 10m"))
    options = ("rehearse", jobs, "--weeks", "1", "--from", BEGIN, "--outage", "1h")
    for form in ((), ("--json",), ("--markdown",)):
        first, second = (sweephand.ok(*options, *form).out for _ in range(2))
        assert first == second != sweephand.ok(*options, *form, "--seed", "1").out


def test_another_job_changes_nothing_about_a_job(sweephand: CommandLine, jobs: str) -> None:
    more = sweephand.file("more.yaml", JOBS + '  - {name: c, schedule: "* * * * *"}\n')
    both = [rehearsed(sweephand, each)["jobs"]["a"] for each in (jobs, more)]
    assert both[0] == both[1]
    assert both[0]["skipped"] > 0


def test_a_file_without_a_stack_has_policies_without_limits_and_says_so(
    sweephand: CommandLine, jobs: str
) -> None:
    nowhere = {"SWEEPHAND_URL": None, "SWEEPHAND_KEY": None, "SWEEPHAND_NAMESPACE": None}
    ran = sweephand.ok("rehearse", jobs, "--weeks", "1", "--from", BEGIN, **nowhere)
    assert "limits of these policies are not in the file: few." in ran.out
    assert "breaker opened" not in ran.out


def test_a_file_may_have_the_policies_of_the_stack(sweephand: CommandLine, jobs: str) -> None:
    sweephand.ok("policy", "put", "few", "--max-concurrent", "1")
    sweephand.ok("job", "schedule", "other", "--schedule", "@hourly", "--url", "https://example.com/")

    found = rehearsed(sweephand, jobs, "--policies", "--consumer", "p50=2s,p99=2s,fail=0%")

    assert list(found["jobs"]) == ["a", "b"], "jobs of the stack are not rehearsed"
    assert found["notes"] == []
    assert (found["jobs"]["b"]["openMax"], found["jobs"]["b"]["waitMaxMs"]) == (1, 10_000)


def test_a_file_has_policies_settings_and_windows_of_its_own(sweephand: CommandLine) -> None:
    sweephand.ok("policy", "put", "few", "--max-concurrent", "3")
    beside = """
settings: {limits: {}, defaultTarget: {type: http, url: "https://example.com/run"}}
policies: {few: {maxConcurrent: 1}}
windows: {night: {schedule: "@daily", duration: 2h}}
"""
    text = beside + "jobs: [{name: b, schedule: '@every 1h', batch: {count: 6}, policy: few}]"
    file = sweephand.file("jobs.yaml", text)
    for words in ((), ("--policies",)):
        found = rehearsed(sweephand, file, "--consumer", "p50=2s,p99=2s,fail=0%", *words)
        assert found["notes"] == ["The windows of the namespace are not rehearsed."]
        assert (found["jobs"]["b"]["openMax"], found["jobs"]["b"]["waitMaxMs"]) == (1, 10_000)
    wrong = sweephand.file("wrong.yaml", text.replace(beside.split("\n")[1], "settings: {limits: {}}"))
    ran = sweephand.run("rehearse", wrong)
    assert (ran.code, "line 5, /jobs/0/target: Give a target: " in ran.err) == (2, True)


CALENDAR: Final = """
calendars:
  works: {closed: [{from: 2026-10-12, to: 2026-10-16}]}
jobs:
  - name: a
    schedule: "0 9 * * *"
    calendar: {name: works}
    target: {type: http, url: "https://example.com/run"}
"""


def test_a_calendar_is_that_of_the_file_or_else_of_the_stack_or_else_closes_weekends(
    sweephand: CommandLine,
) -> None:
    def found(text: str, *words: str) -> tuple[int, list[str]]:
        told = rehearsed(sweephand, sweephand.file("jobs.yaml", text), *words)
        return told["jobs"]["a"]["triggers"], told["notes"]

    alone = CALENDAR[CALENDAR.index("jobs:") :]
    assert found(CALENDAR) == (0, [])
    triggers, [note] = found(alone)
    assert triggers == 5
    assert note.startswith("These calendars are not in the file: works.")
    sweephand.ok("calendar", "put", "works", "--closed", "2026-10-12", "--open", "2026-10-17")
    assert found(alone, "--policies") == (5, [])
    sweephand.ok("calendar", "put", "works", "--closed", "2026-10-12..2026-10-13")
    assert found(alone, "--policies") == (3, [])


def test_a_namespace_is_rehearsed_in_its_phase(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sweephand.server.api.world
    now = dt.datetime.fromtimestamp(world.clock.now() / 1000, dt.UTC)
    monkeypatch.setattr(Session, "now", lambda _: now)
    sweephand.ok("policy", "put", "few", "--max-concurrent", "2")
    url = ("--url", "https://example.com/")
    sweephand.ok("job", "schedule", "b", "--schedule", "@every 1h", *url, "--batch", "6", "--policy", "few")
    sweephand.ok("job", "schedule", "off", "--schedule", "@hourly", *url)
    sweephand.ok("job", "pause", "off")

    found = sweephand.ok("rehearse", "--weeks", "1", "--json", "--consumer", "fail=0%").json

    assert found["rehearsed"] == "namespace ns"
    assert found["jobs"]["b"]["triggers"] == 6 * 168 - 6
    assert found["jobs"]["b"]["openMax"] == 2
    assert found["jobs"]["off"]["triggers"] == 0
    past = sweephand.run("rehearse", "--from", "2001-01-01T00:00:00Z")
    assert (past.code, "--from is past" in past.err) == (2, True)


def test_each_error_of_a_file_is_told_with_its_line(sweephand: CommandLine) -> None:
    wrong = sweephand.file(
        "jobs.yaml",
        "defaults:\n  timezone: Mars\njobs:\n  - name: a\n    schedule: never\n    timezone: UTC\n"
        "    target: {type: http, url: x}\n  - {name: b, schedule: '@hourly'}\n",
    )
    ran = sweephand.run("rehearse", wrong)
    assert ran.code == 2
    said = ran.err.splitlines()
    assert said[0] == "The file cannot be used:"
    assert [each.split(": ")[0].strip() for each in said[1:]] == [
        "line 5, /jobs/0/schedule",
        "line 7, /jobs/0/target/url",
        "line 8, /jobs/1/timezone (line 2, /defaults/timezone)",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--consumer", "p50=9"), "p50=9 is no duration. Write one as in p50=0.2s"),
        (("--consumer", "p50=-1s"), "p50=-1s is no duration"),
        (("--consumer", "fail=200%"), "fail=200% is no percentage. Write a number from 0 to 100 and %"),
        (("--consumer", "fail=1"), "fail=1 is no percentage"),
        (("--consumer", "x=1"), "'x=1' is none of p50, p99 and fail. Write p50=0.2s,p99=3s,fail=1%"),
        (("--consumer", "p50=2s,p99=1s"), "p99 is less than p50"),
        (("--consumer", "p50=2s,p50=1s"), "p50 stands twice"),
        (("--consumer", ":p50=2s"), "Name a job before the colon"),
        (("--consumer", "zz*:p50=2s"), "--consumer zz*: no job has that name"),
        (("--outage", "soon"), "'soon' is no duration. Write one as in 2h"),
        (("--outage", "2h@noon"), "'noon' is no instant. Write it as"),
        (
            ("--from", BEGIN, "--outage", "2h@2026-10-11T22:00:00Z"),
            "it is outside of the rehearsed weeks. Let it begin at 2026-10-12T00:00:00.000Z or later",
        ),
        (
            ("--from", BEGIN, "--outage", "2h@2026-11-09T00:00:00Z"),
            "or later, and before 2026-11-09T00:00:00.000Z.",
        ),
        (("--from", "noon"), "'noon' is no time. Give one such as 1h, 02:30"),
        (("--weeks", "53"), "less than or equal to 52"),
    ],
    ids=lambda each: each[-1] if isinstance(each, tuple) else None,
)
def test_an_option_that_cannot_be_read_is_told_with_what_would_be_right(
    sweephand: CommandLine, jobs: str, words: tuple[str, ...], said: str
) -> None:
    ran = sweephand.run("rehearse", jobs, *words)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_an_outage_may_have_begun_before_the_weeks(sweephand: CommandLine) -> None:
    file = sweephand.file("jobs.yaml", "jobs: []")
    found = rehearsed(sweephand, file, "--outage", "2h@2026-10-11T22:00:01Z")
    assert found["outage"] == ["2026-10-11T22:00:01.000Z", "2026-10-12T00:00:01.000Z"]


def test_every_wrong_consumer_is_told(sweephand: CommandLine, jobs: str) -> None:
    ran = sweephand.run("rehearse", jobs, "--consumer", "x=1", "--consumer", "fail=x")
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["--consumer x=1", "--consumer fail=x"]


def test_without_the_packages_of_the_engine_the_command_says_what_to_install(
    sweephand: CommandLine, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        raise ModuleNotFoundError(name="pydantic")

    monkeypatch.setattr(rehearse, "import_module", missing)
    ran = sweephand.run("rehearse", jobs)
    assert (ran.code, "pip install 'sweephand[dev]'" in ran.err) == (2, True)


def test_a_file_of_another_namespace_is_refused(sweephand: CommandLine) -> None:
    file = sweephand.file("jobs.yaml", "namespace: shop\njobs: []\n")
    ran = sweephand.run("rehearse", file, "--namespace", "other")
    assert (ran.code, "is for the namespace shop, not for other." in ran.err) == (2, True)


def test_names_in_markdown_are_no_markup(sweephand: CommandLine) -> None:
    file = sweephand.file("a_b.yaml", 'jobs:\n  - {name: a_b_c, schedule: "* * * * *"}\n')
    text = sweephand.ok("rehearse", file, "--from", BEGIN, "--weeks", "1", "--markdown").out
    assert "| a\\_b\\_c |" in text
    assert "a_b" not in text
