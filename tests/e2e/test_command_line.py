"""The command line on a deployed stack: apply, and every command of its page."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.client import Client
from infra.local.places import ROOT, SOURCES
from tests.e2e.inboxes import Served, served
from tests.fakes.receiver import Receiver

PAGE: Final = (ROOT / "docs" / "command-line.md").read_text("utf-8")

#: How long a command may take, and how long the page's fifty commands may.
_PATIENCE_S: Final = 120
_PAGE_PATIENCE_S: Final = 300


@dataclass(frozen=True)
class CommandLine:
    """Runs `sweephand` in a folder of its own, by nothing but the stack's file or the given variables."""

    home: Path
    variables: Mapping[str, str]

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "sweephand_client.commands.main", *words],
            cwd=self.home,
            env=dict(self.variables),
            input=given,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )

    def ok(self, *words: str, given: str = "") -> str:
        """What a command prints that has to succeed."""
        done = self.run(*words, given=given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.ok(*words, "--json"))


@pytest.fixture
def sweephand(stack: Mapping[str, Any], namespace: str, tmp_path: Path) -> CommandLine:
    """The command line in a folder of a checkout whose local stack is described."""
    for name in (".git", ".local"):
        (tmp_path / name).mkdir()
    described = tmp_path / ".local" / "stack.json"
    described.touch(mode=0o600)
    described.write_text(json.dumps(stack), encoding="utf-8")
    home = tmp_path / "below"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SWEEPHAND", "AWS_"))}
    own = {"HOME": str(tmp_path), "PYTHONPATH": SOURCES, "SWEEPHAND_NAMESPACE": namespace}
    return CommandLine(home, kept | own)


def test_apply_writes_jobs_that_are_delivered_and_writes_nothing_twice(
    sweephand: CommandLine, receiver: Receiver
) -> None:
    jobs = {
        "labels": {"managed-by": "test"},
        "defaults": {"target": {"type": "http", "url": receiver.url("/applied")}},
        "jobs": [
            {"name": "soon", "dueTime": "1s", "data": {"price": 1.5}},
            {"name": "stopped", "schedule": "* * * * * *", "paused": "not yet"},
        ],
    }
    text = json.dumps(jobs)
    assert sweephand.ok("apply", "-f", "-", given=text).endswith("2 created, 0 unchanged\n")
    [delivery] = receiver.wait("/applied", 1, within_s=90)
    assert (delivery.headers["sweephand-job"], delivery.body) == ("soon", b'{"price":1.5}')
    before = sweephand.json("job", "list")

    assert sweephand.ok("apply", "-f", "-", given=text) == "2 unchanged\n"
    assert sweephand.json("job", "list") == before
    assert before[1]["pauseReason"] == "not yet"
    fewer = json.dumps({**jobs, "jobs": []})
    assert (
        sweephand.run("apply", "-f", "-", "--prune", "--dry-run", "--exit-code", given=fewer).returncode == 1
    )
    assert sweephand.ok("apply", "-f", "-", "--prune", given=fewer).endswith("2 deleted, 0 unchanged\n")
    assert sweephand.json("job", "list") == []


def test_a_file_has_what_its_jobs_need_and_leaves_the_jobs_of_others_alone(
    sweephand: CommandLine, receiver: Receiver
) -> None:
    beside: dict[str, dict[str, Any]] = {
        "settings": {"limits": {}, "defaultTarget": {"type": "http", "url": receiver.url("/default")}},
        "policies": {"few": {"maxConcurrent": 2}},
        "calendars": {"open": {"weekend": []}},
        "windows": {"later": {"schedule": "0 0 1 1 *", "duration": "1h"}},
    }
    job = {"name": "soon", "dueTime": "1s", "policy": "few", "calendar": {"name": "open"}}
    text = json.dumps({"labels": {"by": "test"}, **beside, "jobs": [job]})
    whole = ("apply", "-f", "-", "--all-or-nothing")
    assert sweephand.ok(*whole, given=text).endswith("5 created, 0 unchanged\n")
    receiver.wait("/default", 1, within_s=90)
    assert sweephand.ok(*whole, given=text) == "5 unchanged\n"

    other = json.dumps({"jobs": [{"name": "soon", "description": "mine"}]})
    refused = sweephand.run(*whole, given=other)
    assert (refused.returncode, "The file by=test owns the job. " in refused.stdout) == (4, True)
    assert "description" not in sweephand.json("job", "get", "soon")
    sweephand.ok(*whole, "--take-over", given=other)
    removed = {name: dict.fromkeys(each) for name, each in beside.items() if name != "settings"}
    fewer = json.dumps({"labels": {"by": "test"}, **removed, "jobs": []})
    assert sweephand.ok("apply", "-f", "-", "--prune", given=fewer).endswith("3 deleted, 0 unchanged\n")


@pytest.fixture
def inbox(client: Client, namespace: str) -> Iterator[Served]:
    with served(client.signing_secrets(namespace)) as inbox:
        yield inbox


@pytest.mark.sampled(2)
def test_every_command_of_the_page_succeeds(
    sweephand: CommandLine, stack: Mapping[str, Any], namespace: str, inbox: Served
) -> None:
    for language, name in (("yaml", "jobs.yaml"), ("crontab", "crontab")):
        (text,) = blocks(language)
        (sweephand.home / name).write_text(text, encoding="utf-8")
    program = shlex.join([sys.executable, "-m", "sweephand_client.commands.main"])
    # Another test may have emptied the table of timers, with the stack's heartbeat. The next tick brings it.
    ticks = "for _ in $(seq 90); do sweephand status > /dev/null 2>&1 && break; sleep 1; done\n"
    script = f'set -o pipefail\nsweephand() {{ {program} "$@"; }}\n{ticks}' + "".join(blocks("sh"))
    variables = {
        # `sweephand check` runs the engine.
        "PYTHONPATH": SOURCES,
        "API": stack["apiUrl"],
        "KEY": stack["apiKey"],
        "INBOX": inbox.url,
        "COPY": f"{namespace}-page",
    }
    done = subprocess.run(
        ["/bin/bash", "-e"],
        input=script.replace("default-namespace demo", f"default-namespace {namespace}"),
        cwd=sweephand.home,
        env={**sweephand.variables, **variables},
        capture_output=True,
        text=True,
        timeout=_PAGE_PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each.body for each in inbox.wait("/first", 1)] == [b'{"hello":"world"}']
    assert "gap-shifted" in done.stdout
    assert "cancelled" in done.stdout
    assert "MAILTO" in done.stderr


def test_the_program_of_the_page_runs(sweephand: CommandLine, namespace: str) -> None:
    (program,) = blocks("python")
    done = subprocess.run(  # noqa: S603 - the page's own program
        [sys.executable, "-c", program.replace('"demo"', f'"{namespace}"')],
        cwd=sweephand.home,
        env=dict(sweephand.variables),
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("report 2")
    assert done.stdout.endswith("\n['/schedule']\n")


def blocks(language: str) -> list[str]:
    """The blocks of code of one language in the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
