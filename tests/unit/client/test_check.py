"""`sweephand check` and the hook of pre-commit: a file is judged without a stack."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from infra.local.places import ROOT
from tests.fakes.world import NOON
from tests.unit.client.conftest import CommandLine
from tests.unit.client.test_apply_resources import EVERYTHING
from tests.unit.docs.blocks import blocks

from sweephand.base.instants import to_datetime
from sweephand_client.commands import rehearse
from sweephand_client.commands.session import Session

GOOD: Final = """
defaults:
  target: {type: http, url: "https://example.com/run"}
jobs:
  - {name: a, schedule: "@hourly", policy: few, calendar: {name: de}}
  - {name: b, dueTime: 2h, target: {type: http, url: "https://x.example", headers: {x-key: {secretRef: key}}}}
"""
BAD: Final = GOOD.replace("@hourly", "61 * * * *").replace("dueTime", "dueTim").replace("https:", "ftp:", 1)


def test_files_that_a_stack_would_take_are_checked_without_one(sweephand: CommandLine) -> None:
    first, second = sweephand.file("jobs.yaml", GOOD), sweephand.file("other.yaml", "jobs: [{name: a}]")
    checked = sweephand.ok("check", first, second, SWEEPHAND_URL=None, SWEEPHAND_KEY=None)
    assert checked.out == f"{first}: 2 jobs, and none is refused\n{second}: 1 job, and none is refused\n"
    assert sweephand.ok("check", first, "--json").json == {"jobs": {first: 2}}
    assert sweephand.server.requests == []


def test_each_wrong_field_of_each_file_is_named_with_its_line(sweephand: CommandLine) -> None:
    bad, good = sweephand.file("bad.yaml", BAD), sweephand.file("good.yaml", GOOD)
    broken = sweephand.file("broken.yaml", "jobs: [")
    checked = sweephand.run("check", bad, good, broken)
    assert (checked.code, checked.out) == (2, "")
    for said in (
        f"{bad}: The file cannot be used:\n",
        "  line 5, /jobs/0/schedule: ",
        "  line 5, /jobs/0/target/url (line 3, /defaults/target/url): ",
        "  line 6, /jobs/1/dueTim: ",
        f"{broken}: The file is not YAML: ",
    ):
        assert said in checked.err
    assert good not in checked.err


def test_each_wrong_name_is_named_with_its_line(sweephand: CommandLine) -> None:
    file = sweephand.file("jobs.yaml", "jobs:\n  - {name: a b}\n  - {schedule: x}\n  - {name: ''}\n")
    for words in (("check",), ("rehearse",), ("apply", "--file")):
        ran = sweephand.run(*words, file)
        assert ran.code == 2
        assert [each.partition(": ")[0].strip() for each in ran.err.splitlines() if " line " in each] == [
            f"line {number + 2}, /jobs/{number}/name" for number in range(3)
        ]


def test_what_stands_beside_the_jobs_is_checked_too(sweephand: CommandLine) -> None:
    sweephand.ok("check", sweephand.file("jobs.yaml", EVERYTHING))
    wrong = EVERYTHING.replace("{jobs: 50", "{job: 50").replace("per: 60s", "per: 0s")
    wrong = (
        wrong.replace("country: FR", "country: FX").replace("PT2H", "30h").replace("0 8 * * *", "61 8 * * *")
    )
    checked = sweephand.run("check", sweephand.file("jobs.yaml", wrong))
    places = [each.partition(": ")[0].strip() for each in checked.err.splitlines()[1:]]
    assert places == [
        "line 3, /settings/limits/job",
        "line 8, /policies/mailer/rate/per",
        "line 10, /calendars/fr/holidays/0/country",
        "line 12, /windows/night/duration",
        "line 17, /jobs/0/schedule",
    ]


@pytest.mark.parametrize(
    "times",
    [
        "dueTime: '2026-11-21T11:59:01Z'",
        "dueTime: '2026-11-21T11:58:00Z'",
        "schedule: 'at(2026-11-20T00:00:00)'",
        "schedule: ['2026-11-20T00:00:00Z']",
        "schedule: 'R3/2026-11-01T00:00:00Z/P1D'",
        "schedule: '@daily', ttl: '2026-11-20T00:00:00Z'",
        "schedule: '0 8 * * SAT', calendar: {name: own}",
        "schedule: '0 8 * * SUN', calendar: {name: own}",
    ],
)
def test_times_are_judged_as_by_apply_in_an_empty_namespace(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch, times: str
) -> None:
    monkeypatch.setattr(Session, "now", lambda _: to_datetime(NOON))
    job = f"{{name: a, target: {{type: http, url: 'https://x.example'}}, {times}}}"
    file = sweephand.file("jobs.yaml", f"calendars: {{own: {{weekend: [SUN]}}}}\njobs: [{job}]")
    checked, applied = sweephand.run("check", file), sweephand.run("apply", "-f", file)
    assert checked.code == applied.code
    assert ("line 2, /jobs/0/" in checked.err) == ("line 2, /jobs/0/" in applied.out) == (checked.code == 2)


@pytest.mark.parametrize("day", ["SAT", "SUN", "MON", "*"])
def test_a_calendar_that_the_file_lacks_refuses_no_job(sweephand: CommandLine, day: str) -> None:
    target = "{type: http, url: 'https://x.example'}"
    jobs = [
        f"{{name: a, schedule: '0 8 * * {day}', target: {target}, calendar: {{name: de}}}}",
        f"{{name: b, schedule: '0 8 * * {day}', target: {target}, calendar: {{name: de, days: closed}}}}",
    ]
    sweephand.ok("check", sweephand.file("jobs.yaml", f"jobs: [{', '.join(jobs)}]"))
    wrong = sweephand.file("wrong.yaml", f"jobs: [{jobs[1].replace('closed', 'close')}]")
    assert "line 1, /jobs/0/calendar/days: " in sweephand.run("check", wrong).err


def test_more_jobs_are_checked_than_a_rehearsal_takes(sweephand: CommandLine) -> None:
    jobs = "".join(f"\n  - {{name: job-{number}}}" for number in range(1_001))
    file = sweephand.file("jobs.yaml", f"jobs:{jobs}")
    assert sweephand.ok("check", file, "--json").json == {"jobs": {file: 1_001}}
    assert "a rehearsal takes 1,000" in sweephand.run("rehearse", file).err


def test_a_file_for_another_namespace_is_refused_as_by_apply(sweephand: CommandLine) -> None:
    ours, theirs = (
        sweephand.file(f"{name}.yaml", f"namespace: {name}\njobs: []") for name in ("ours", "theirs")
    )
    sweephand.ok("check", ours, theirs)
    checked = sweephand.run("check", ours, theirs, "--namespace", "ours")
    applied = sweephand.run("apply", "-f", theirs, "--namespace", "ours")
    assert (checked.code, checked.err) == (applied.code, f"{theirs}: {applied.err}")
    assert checked.code == 2


def test_without_the_engine_the_command_says_what_to_install(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse, "_ENGINE", "no_such_engine")
    ran = sweephand.run("check", sweephand.file("jobs.yaml", GOOD))
    assert ran.code == 2
    assert ran.err.startswith(
        "`sweephand check` needs packages that are not installed, such as no_such_engine."
    )


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BAD, 2)], ids=["good", "bad"])
def test_the_hook_refuses_a_commit_with_a_bad_file(
    hook: dict[str, Any], tmp_path: Path, text: str, code: int
) -> None:
    (tmp_path / "jobs.yaml").write_text(text, encoding="utf-8")
    program, *words = shlex.split(hook["entry"])
    assert program in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    done = subprocess.run(  # noqa: S603 - the entry of the hook, by this environment
        [sys.executable, "-m", "sweephand_client.commands.main", *words, "jobs.yaml"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT}/client:{ROOT}/layers/sweephand/python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("/jobs/1/dueTim" in done.stderr) == (code != 0)


def test_the_hook_installs_what_its_command_needs(hook: dict[str, Any]) -> None:
    assert (hook["language"], hook["additional_dependencies"]) == ("python", [".[dev]"])


def test_the_page_names_the_hook(hook: dict[str, Any]) -> None:
    *_, block = blocks(ROOT / "docs" / "jobs-as-code.md", "yaml")
    [[named]] = [each["hooks"] for each in yaml.safe_load(block.text)["repos"]]
    assert named["id"] == hook["id"]
