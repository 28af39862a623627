"""The progress of batches and the failed runs of a namespace, by the command."""

from typing import Final

import pytest
from tests.fakes.world import NOON
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.base.instants import HOUR_MS
from sweephand.model.attempt import Answer
from sweephand_client import Client
from sweephand_client.openapi.requests import JobRequest

MAILS: Final[JobRequest] = {
    "target": TARGET,
    "schedule": "0 * * * *",
    "timezone": "UTC",
    "batch": {"count": 5, "window": "10m"},
    "retry": {"maxAttempts": 1},
}


@pytest.fixture
def mails(sweephand: CommandLine, client: Client) -> CommandLine:
    """A stack with a job whose batches are due at 13:00 and 14:00."""
    client.jobs.put("ns", "mails", MAILS)
    return sweephand


def pass_minutes(command_line: CommandLine, minutes: float) -> None:
    command_line.server.api.world.run_until(NOON + int(minutes * 60_000))


def test_the_newest_batch_is_shown_with_its_progress(mails: CommandLine) -> None:
    pass_minutes(mails, 123)
    shown = mails.ok("batch", "show", "mails").out.splitlines()
    assert shown[0] == "2 of 5 runs are over (40%)."
    found = mails.ok("batch", "show", "mails", "--json").json
    assert (found["dueAt"], found["succeeded"]) == ("2026-11-21T14:00:00.000Z", 2)


@pytest.mark.parametrize(("count", "said"), [(1, "1 of 1 run is over"), (2, "1 of 2 runs is over")])
def test_one_run_that_is_over_is_told_in_the_singular(
    mails: CommandLine, client: Client, count: int, said: str
) -> None:
    client.jobs.put("ns", "few", {**MAILS, "batch": {"count": count, "window": "10m"}})
    pass_minutes(mails, 61)
    assert mails.ok("batch", "show", "few").out.startswith(f"{said} ({100 // count}%).")


def test_another_batch_is_shown_by_its_id_or_its_due_time(mails: CommandLine) -> None:
    world = mails.server.api.world
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.trigger.index > 0, code=500)
    pass_minutes(mails, 123)
    named = mails.ok("batch", "show", "mails", str(NOON + HOUR_MS), "--json").json
    assert (named["state"], named["succeeded"], named["failed"]) == ("failed", 4, 1)
    assert mails.ok("batch", "show", "mails", "--due", "2026-11-21T14:00:00+01:00", "--json").json == named


def test_batches_are_listed_newest_first(mails: CommandLine) -> None:
    pass_minutes(mails, 123)
    listed = mails.ok("batch", "list", "mails").out.splitlines()
    assert [line.split()[0] for line in listed] == ["BATCH", str(NOON + 2 * HOUR_MS), str(NOON + HOUR_MS)]
    assert "There are more than 1" in mails.ok("batch", "list", "mails", "--limit", "1").err
    assert mails.ok("batch", "list", "mails", "--json").json[1]["overran"] is False


def test_a_listed_batch_that_has_ended_shows_how(mails: CommandLine) -> None:
    world = mails.server.api.world
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.trigger.index > 0, code=500)
    pass_minutes(mails, 123)
    _, goes_on, ended = [line.split() for line in mails.ok("batch", "list", "mails").out.splitlines()]
    assert goes_on[3:] == ["5", "-", "-", "-", "-", "no"]
    assert ended[-4:] == ["failed", "1", "0", "no"]


def test_before_the_first_run_is_over_a_batch_has_to_be_named(mails: CommandLine) -> None:
    refused = mails.run("batch", "show", "mails")
    assert (refused.code, "Give the batch that you mean, as in --due" in refused.err) == (2, True)
    coming = mails.ok("batch", "show", "mails", "--due", "2026-11-21T13:00:00Z").out
    assert coming.startswith("0 of 5 runs are over (0%).")
    assert "scheduled" in coming


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--due", "noon"), "'noon' is no time. Give one such as 1h, 02:30"),
        (("1795262400000", "--due", "2026-11-21T13:00:00Z"), "not both"),
    ],
)
def test_bad_input_says_what_would_be_right(mails: CommandLine, words: tuple[str, ...], says: str) -> None:
    refused = mails.run("batch", "show", "mails", *words)
    assert (refused.code, says in refused.err) == (2, True)


def test_a_job_without_a_batch_is_named(mails: CommandLine) -> None:
    mails.ok("job", "schedule", "plain", "--due", "1h", "--url", TARGET["url"])
    refused = mails.run("batch", "show", "plain")
    assert (refused.code, "plain has no batch." in refused.err) == (2, True)


def test_what_does_not_exist_is_refused(mails: CommandLine) -> None:
    assert mails.run("batch", "show", "mails", "1").code == 4
    assert mails.run("batch", "list", "nobody").code == 4


def test_a_batch_by_hand_is_the_newest_one_when_it_has_ended(mails: CommandLine) -> None:
    pass_minutes(mails, 90)
    said = mails.ok("job", "trigger", "mails").out
    pass_minutes(mails, 105)
    found = mails.ok("batch", "show", "mails", "--json").json
    assert said == f"Triggered mails. Its batch of 5 runs is {found['id']}.\n"
    assert found["id"].startswith("manual-")
    assert (found["state"], found["total"], found["overran"]) == ("succeeded", 5, False)


def test_the_failed_runs_of_all_jobs_are_listed(sweephand: CommandLine, client: Client) -> None:
    for name, team in (("a", "ops"), ("b", "web")):
        once: JobRequest = {
            "target": TARGET,
            "dueTime": "10s",
            "retry": {"maxAttempts": 1},
            "labels": {"team": team},
        }
        client.jobs.put("ns", name, once)
    world = sweephand.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.run_until(NOON + 11_000)

    shown = sweephand.ok("run", "list", "--state", "failed").out.splitlines()
    assert {line.split()[0] for line in shown[1:]} == {"a", "b"}
    asked = ("run", "list", "--label", "team=ops", "--since", "2026-11-21T12:00:10Z", "--json")
    assert [each["job"] for each in sweephand.ok(*asked).json] == ["a"]
    assert sweephand.ok("run", "list", "--since", "2026-11-21T12:00:11Z", "--json").json == []
    assert sweephand.ok("run", "list", "--limit", "1", "--json").json[0]["state"] == "failed"
    assert sweephand.run("run", "list", "--state", "succeeded").code == 2
