"""Fields of many jobs are written by one command."""

from typing import Any

import pytest
import typer
from tests.unit.client.conftest import CommandLine

from sweephand_client.commands import inputs

URL = "https://consumer.example/hook"


@pytest.fixture
def reminders(sweephand: CommandLine) -> CommandLine:
    """A stack with three reminders, two of which are of the campaign `spring`."""
    for name, campaign in (("r1", "spring"), ("r2", "spring"), ("other", "fall")):
        when = ("--due", "2027-03-01T09:00:00Z", "--url", URL)
        sweephand.ok("job", "schedule", name, *when, "--label", f"campaign={campaign}")
    return sweephand


def due_times(command_line: CommandLine) -> dict[str, str]:
    return {each["name"]: each["nextRun"] for each in command_line.ok("job", "list", "--json").json}


def test_the_jobs_with_a_label_are_patched(reminders: CommandLine) -> None:
    words = ("job", "patch", "--where", "campaign=spring", "--due", "2027-03-02T09:00:00Z")
    assert reminders.ok(*words).out == "Patched 2 jobs.\n"
    assert due_times(reminders) == {
        "r1": "2027-03-02T09:00:00.000Z",
        "r2": "2027-03-02T09:00:00.000Z",
        "other": "2027-03-01T09:00:00.000Z",
    }


def test_the_jobs_of_a_prefix_are_patched_and_their_labels_stay(reminders: CommandLine) -> None:
    words = ("job", "patch", "--prefix", "r", "--label", "site=eu", "--json")
    assert reminders.ok(*words).json == {"patched": 2, "refused": {}}
    labels = reminders.ok("job", "get", "r1", "--json").json["labels"]
    assert labels == {"campaign": "spring", "site": "eu"}


def test_a_job_that_is_refused_stops_no_other_one(reminders: CommandLine) -> None:
    # A schedule of instants repeats nothing, and so `repeats` is refused where there is only a due time.
    done = reminders.run("job", "patch", "--prefix", "r", "--field", "retry=5", "--json")
    assert (done.code, done.json["patched"], sorted(done.json["refused"])) == (2, 0, ["r1", "r2"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("r1", "--where", "campaign=spring", "--jitter", "1s"), "not both"),
        (("--jitter", "1s"), "--where"),
        (("--prefix", "r", "--jitter", "1s", "--if-match", "7"), "one job"),
        (("--prefix", "r"), "Say which fields"),
    ],
)
def test_a_patch_names_one_job_or_selects_many(
    reminders: CommandLine, words: tuple[str, ...], said: str
) -> None:
    refused = reminders.run("job", "patch", *words)
    assert (refused.code, said in refused.err) == (2, True), refused


def test_a_person_is_told_what_is_written_to_how_many_jobs(
    reminders: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(text: str, **_: Any) -> None:
        asked.append(text)
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", refuse)
    monkeypatch.setattr(inputs, "is_terminal", lambda: True)
    words = ("job", "patch", "--where", "campaign=spring", "--due", "2027-03-02T09:00:00Z")
    before = due_times(reminders)
    assert reminders.run(*words).code == 1
    assert asked == ["Write dueTime of 2 jobs?"]
    assert due_times(reminders) == before
    assert reminders.ok(*words, "--yes").out == "Patched 2 jobs.\n"
