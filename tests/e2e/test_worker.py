"""A crontab moves to Sweephand, and a worker runs its commands.

One worker is killed in the middle. Another one takes over, and every run succeeds.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.deploy import session
from infra.local.places import SOURCES, free_port
from tests.e2e.schedule import Schedule, eventually

#: The twenty lines. A command writes its name, its variable and its input to a file of the test. The commands
#: that wait do so until the file `go` is there, so that a worker can be killed meanwhile.
_LINES: Final = 20
_WAITING: Final = 6

_PATIENCE_S: Final = 120


def crontab_in(home: Path) -> str:
    lines = ["CRON_TZ=Europe/Paris", "TOKEN=hunter2", f"HOME={home}", ""]
    for number in range(_LINES):
        wait = "while ! test -e go; do sleep 0.1; done; " if number < _WAITING else ""
        name = f"line{number:02}"
        command = f"{wait}{home}/bin/{name}.sh {number} >> {name}.ran"
        lines += [f"# The line {number}", f"{number} 3 * * *  {command} %in{number}%"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Running:
    """A worker as a process, with its log and its health file."""

    process: subprocess.Popen[bytes]
    home: Path

    def log(self) -> str:
        return (self.home / "log").read_text("utf-8")

    def commands(self) -> int:
        """How many commands run."""
        health = json.loads((self.home / "health.json").read_text("utf-8"))
        return sum(each["beganAt"] is not None for each in health["runs"])


@dataclass
class Moved:
    """A crontab that has become jobs of the namespace and a file of commands."""

    home: Path
    stack: Mapping[str, Any]
    schedule: Schedule
    workers: list[Running] = field(default_factory=list)

    def sweephand(self, *words: str) -> Any:
        return [sys.executable, "-m", "sweephand_client.commands.main", *words]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SWEEPHAND")}
        return kept | {
            "PYTHONPATH": SOURCES,
            "SWEEPHAND_URL": self.stack["apiUrl"],
            "SWEEPHAND_KEY": self.stack["apiKey"],
            "SWEEPHAND_NAMESPACE": self.schedule.namespace,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def run(self, *words: str, given: str = "") -> str:
        done = subprocess.run(  # noqa: S603 - our own program
            self.sweephand(*words),
            cwd=self.home,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def move(self, *target: str) -> list[str]:
        """Move the crontab, and return the names of its jobs."""
        (self.home / "bin").mkdir()
        for number in range(_LINES):
            script = self.home / "bin" / f"line{number:02}.sh"
            script.write_text('#!/bin/sh\necho "$1 $TOKEN $(cat) $SWEEPHAND_ATTEMPT"\n', encoding="utf-8")
            script.chmod(0o755)
        (self.home / "crontab").write_text(crontab_in(self.home), encoding="utf-8")
        made = self.run(
            *("crontab", "crontab", "--cron", "cronie", "--commands", "commands.yaml", "--strict", *target)
        )
        assert "hunter2" not in made
        # A worker that has died is to be noticed within the patience of a test.
        quick = "heartbeatTimeout: 2s\n    retry: {initialDelay: 0s}"
        sooner = re.sub("heartbeatTimeout: 1?[02]m", quick, made)
        assert self.run("apply", "-f", "-", given=sooner).endswith(f"{_LINES} created, 0 unchanged\n")
        return [f"line{number:02}" for number in range(_LINES)]

    def start(self, *source: str) -> "Running":
        """A worker that takes deliveries."""
        home = self.home / f"worker{len(self.workers)}"
        home.mkdir()
        words = ("worker", "--commands", str(self.home / "commands.yaml"), "--health", "health.json")
        with (home / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                self.sweephand(*words, *source), cwd=home, env=self.environment, stdout=log, stderr=log
            )
        worker = Running(process, home)
        self.workers.append(worker)
        eventually(lambda: [worker.log()], lambda text: "takes deliveries" in text)
        return worker

    def finished(self, jobs: list[str]) -> Mapping[str, Any]:
        """The one run of each job, when all have ended."""
        # One job after the other: a stack that is asked for all of them each time has no time for triggers.
        return {job: self.schedule.state_of(job, "succeeded") for job in jobs}


@pytest.fixture
def moved(stack: Mapping[str, Any], schedule: Schedule, tmp_path: Path) -> Iterator[Moved]:
    found = Moved(tmp_path, stack, schedule)
    yield found
    (tmp_path / "go").touch()
    for each in found.workers:
        each.process.kill()
        each.process.wait(_PATIENCE_S)


def kill_in_the_middle(moved: Moved, jobs: list[str], *source: str, is_shared: bool) -> Running:
    """Kill the first worker while it runs the commands that wait. Returns the other one."""
    first = moved.start(*source)
    for job in jobs[:_WAITING]:
        moved.schedule.do(job, "trigger")
    eventually(lambda: [first.commands()], lambda count: count == _WAITING)
    second = moved.start(*source) if is_shared else None
    for job in jobs[_WAITING:]:
        moved.schedule.do(job, "trigger")
    # What has ended, and is not reported yet, would be tried again too.
    moved.finished(jobs[_WAITING:])
    first.process.kill()
    first.process.wait(_PATIENCE_S)
    (moved.home / "go").touch()
    return second or moved.start(*source)


def assert_each_ran(moved: Moved, jobs: list[str]) -> None:
    runs = moved.finished(jobs)
    assert {job: run["result"]["end"] for job, run in runs.items()} == dict.fromkeys(jobs, "exit code 0")
    attempts = [runs[job]["attempts"] for job in jobs]
    assert min(attempts[:_WAITING]) > 1, "what the killed worker ran is tried again"
    for number, job in enumerate(jobs):
        ran = (moved.home / f"{job}.ran").read_text("utf-8").splitlines()
        assert f"{number} hunter2 in{number} {attempts[number]}" in ran
        # An attempt whose answer is lost on a busy machine counts as failed. No attempt runs a command twice.
        assert len(set(ran)) == len(ran), job
        assert number < _WAITING or len(ran) <= attempts[number], job
    assert not any("shr_" in each.log() for each in moved.workers)


def test_a_crontab_moves_and_outlives_a_worker_that_is_killed(moved: Moved) -> None:
    address = f"127.0.0.1:{free_port()}"
    jobs = moved.move("--url", f"http://{address}/run")

    worker = kill_in_the_middle(moved, jobs, "--listen", address, is_shared=False)

    assert_each_ran(moved, jobs)
    worker.process.terminate()
    assert worker.process.wait(_PATIENCE_S) == 0


def test_a_crontab_moves_to_a_queue_that_workers_share(moved: Moved) -> None:
    sqs = session().client("sqs", endpoint_url=moved.stack["awsEndpointUrl"])
    url: str = sqs.create_queue(QueueName=f"sweephand-{moved.schedule.namespace}-cron")["QueueUrl"]
    jobs = moved.move("--queue", url)

    kill_in_the_middle(moved, jobs, "--queue", url, is_shared=True)

    assert_each_ran(moved, jobs)
    # A message that was on its way to the killed worker is hidden for two minutes.
    asked: Any = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert asked["ApproximateNumberOfMessages"] == "0"
