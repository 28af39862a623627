"""`apply --from` writes the jobs that a program declares beside its code."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.receivers_page import text_of
from tests.unit.client.conftest import CommandLine

PROGRAM = """
from sweephand_client.receive import Receiver

receiver = Receiver(
    "ns",
    labels={"app": "billing"},
    defaults={"target": {"type": "http", "url": "https://consumer.example/hook"}},
)

@receiver.scheduled("0 2 * * *", timezone="Europe/Paris")
def nightly_backup(run): ...

@receiver.scheduled("@every 1h", name="poll", data={"price": 1.5})
async def poll(run): ...

@receiver.on("other")
def other(run): ...
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, with a package `myapp`. What a test imports is forgotten after it."""
    (tmp_path / "myapp").mkdir()
    (tmp_path / "myapp" / "jobs.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [each for each in sys.modules if each.partition(".")[0] == "myapp"]:
        del sys.modules[name]


@pytest.mark.usefixtures("folder")
def test_declared_jobs_are_written_once(sweephand: CommandLine) -> None:
    source = ("apply", "--from", "myapp.jobs:receiver")
    assert sweephand.ok(*source).out == "nightly-backup created\npoll created\n2 created, 0 unchanged\n"
    assert sweephand.ok(*source).out == "2 unchanged\n"
    job = sweephand.ok("job", "get", "nightly-backup", "--json").json
    assert (job["schedule"], job["timezone"]) == ("0 2 * * *", "Europe/Paris")
    assert job["labels"].keys() == {"app", "sweephand-file"}
    assert (job["labels"]["app"], job["labels"]["sweephand-file"][:12]) == ("billing", "app=billing ")


def test_a_job_that_is_declared_no_longer_is_deleted(sweephand: CommandLine, folder: Path) -> None:
    source = ("apply", "--from", "myapp.jobs:receiver", "--prune")
    sweephand.ok(*source)
    (folder / "myapp" / "jobs.py").write_text(PROGRAM.replace('@receiver.scheduled("@every', "#("), "utf-8")
    del sys.modules["myapp.jobs"]
    assert sweephand.ok(*source).out == "poll deleted\n1 deleted, 1 unchanged\n"


def test_the_program_of_the_page_declares_its_job(sweephand: CommandLine, folder: Path) -> None:
    (folder / "myapp" / "page.py").write_text(text_of(".scheduled("), "utf-8")
    said = sweephand.ok("apply", "--from", "myapp.page:receiver", "--prune", SWEEPHAND_NAMESPACE=None).out
    assert said == "nightly-backup created\n1 created, 0 unchanged\n"
    assert (
        sweephand.ok("job", "get", "nightly-backup", "-n", "billing", "--json").json["timezone"]
        == "Europe/Paris"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("myapp.jobs", "Give module and name, as in --from myapp.jobs:receiver."),
        ("myapp.jobs:", "Give module and name"),
        ("myapp.job:receiver", "ModuleNotFoundError: No module named 'myapp.job'"),
        ("myapp.jobs:reciever", "AttributeError: module 'myapp.jobs' has no attribute 'reciever'"),
        ("myapp.jobs:other", "Name a Receiver, or an object with a method jobs_file()"),
    ],
)
def test_what_declares_no_jobs_is_refused(sweephand: CommandLine, source: str, said: str) -> None:
    ran = sweephand.run("apply", "--from", source)
    assert ran.code == 2
    assert said in ran.err.replace("\n", " ")
    assert sweephand.server.requests == []


@pytest.mark.parametrize("words", [(), ("--file", "jobs.yaml", "--from", "myapp.jobs:receiver")])
def test_jobs_come_from_a_file_or_a_program(sweephand: CommandLine, words: tuple[str, ...]) -> None:
    ran = sweephand.run("apply", *words)
    assert (ran.code, ran.err.strip()) == (2, "Say which jobs: --file FILE, or --from MODULE:NAME.")


def test_a_field_that_the_api_refuses_is_named(sweephand: CommandLine, folder: Path) -> None:
    (folder / "myapp" / "jobs.py").write_text(PROGRAM.replace("0 2 * * *", "0 2 * *"), "utf-8")
    ran = sweephand.run("apply", "--from", "myapp.jobs:receiver")
    assert ran.code == 2
    assert "/schedule" in ran.out
