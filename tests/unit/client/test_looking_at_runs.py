"""What an operator sees of runs: those that are selected, the attempts of one, and the health of a job."""

import datetime as dt

import pytest
from tests.fakes.world import NOON
from tests.unit.client.conftest import CommandLine

from sweephand.model.attempt import Answer, Attempt
from sweephand_client.commands.figures import overview_table
from sweephand_client.commands.tables import lasting

URL = "https://consumer.example/hook"


@pytest.fixture
def failing(sweephand: CommandLine) -> CommandLine:
    """A stack whose jobs `a-mail`, `a-sync` and `b-sync` failed at 12:00:10, 12:01:10 and 12:02:10."""

    def refusing(attempt: Attempt) -> Answer:
        is_mail = attempt.trigger.key.name == "a-mail"
        return Answer(succeeded=False, code=503, text="mailbox full" if is_mail else "timed out")

    world = sweephand.server.api.world
    world.consumers.answering = refusing
    for number, name in enumerate(("a-mail", "a-sync", "b-sync")):
        due = ("--due", f"2026-11-21T12:0{number}:10Z", "--url", URL)
        sweephand.ok("job", "schedule", name, *due, "--field", 'retry={"maxAttempts": 1}')
    world.run_until(NOON + 180_000)
    return sweephand


@pytest.mark.parametrize(
    ("options", "jobs"),
    [
        ((), ["b-sync", "a-sync", "a-mail"]),
        (("--prefix", "a-"), ["a-sync", "a-mail"]),
        (("--reason", "timed out"), ["b-sync", "a-sync"]),
        (("--until", "2026-11-21T12:02:00Z"), ["a-sync", "a-mail"]),
        (("--since", "2026-11-21T12:01:00Z", "--until", "2026-11-21T12:02:00Z"), ["a-sync"]),
        (("--prefix", "a-", "--reason", "mailbox"), ["a-mail"]),
    ],
    ids=["all", "prefix", "reason", "until", "span", "both"],
)
def test_runs_are_listed_by_the_options_that_redrive_them(
    failing: CommandLine, options: tuple[str, ...], jobs: list[str]
) -> None:
    listed = failing.ok("run", "list", *options, "--json").json
    assert [each["job"] for each in listed] == jobs
    if options:
        said = failing.ok("run", "redrive", *options, "--dry-run").out
        assert said.startswith(f"{len(jobs)} run")


def test_a_run_is_shown_with_its_attempts_their_answers_and_the_waits_between_them(
    sweephand: CommandLine,
) -> None:
    world = sweephand.server.api.world

    def answer(_: Attempt) -> Answer:
        world.clock.time += 250
        return Answer(succeeded=False, code=503, text="busy")

    world.consumers.answering = answer
    retry = '{"maxAttempts": 3, "initialDelay": "1m"}'
    sweephand.ok("job", "schedule", "sync", "--due", "10s", "--url", URL, "--field", f"retry={retry}")
    world.run_until(NOON + 100_000)
    (run,) = sweephand.ok("job", "runs", "sync", "-o", "name").out.split()

    whole = sweephand.ok("run", "show", "sync", run, "--json").json
    first, second = whole["attemptHistory"]
    out = sweephand.ok("run", "show", "sync", run, "--zone", "UTC").out
    fields, table = out.split("\n\n")
    assert ("attemptHistory" in fields, "retrying" in fields) == (False, True)
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["ATTEMPT", "BEGAN", "ANSWER", "TOOK", "WAITED"]
    assert lines[1] == ["1", "2026-11-21", first["startedAt"][11:19], "503", "busy", "250", "ms", "-"]
    assert lines[2][:5] == ["2", "2026-11-21", second["startedAt"][11:19], "503", "busy"]
    assert lines[3][:4] == ["3", "2026-11-21", whole["nextAttemptAt"][11:19], "follows"]
    at = [dt.datetime.fromisoformat(each) for each in (first["startedAt"], second["startedAt"])]
    waited_ms = (at[1] - at[0]) // dt.timedelta(milliseconds=1) - 250
    assert " ".join(lines[2][5:]) == f"250 ms {lasting(waited_ms)}"


def test_the_last_failure_of_a_run_without_an_answer_shows_its_reason(sweephand: CommandLine) -> None:
    world = sweephand.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, error="connection refused")
    once = ("--due", "10s", "--url", URL, "--field", 'retry={"maxAttempts": 1}')
    sweephand.ok("job", "schedule", "sync", *once)
    world.run_until(NOON + 20_000)
    (run,) = sweephand.ok("job", "runs", "sync", "-o", "name").out.split()
    table = sweephand.ok("run", "show", "sync", run).out.split("\n\n")[1]
    assert "connection refused" in table


def test_a_job_is_shown_with_how_its_newest_runs_ended(failing: CommandLine) -> None:
    shown = failing.ok("job", "get", "a-mail").out
    assert "failing, 1 run in a row: failed" in shown
    assert f"{NOON + 10_000}-0 failed, due at " in shown
    assert "health" not in failing.ok("job", "get", "a-mail", "--json").json
    health = failing.ok("job", "get", "a-mail", "--health", "--json").json["health"]
    assert (health["failing"], health["failuresInARow"]) == (True, 1)
    failing.ok("job", "schedule", "later", "-s", "@daily", "--url", URL)
    assert "no run yet" in failing.ok("job", "get", "later").out


def test_a_list_shows_how_the_last_run_of_each_job_ended(failing: CommandLine) -> None:
    failing.ok("job", "schedule", "later", "-s", "@daily", "--url", URL)
    lines = [line.split() for line in failing.ok("job", "list").out.splitlines()]
    assert lines[0][:3] == ["NAME", "STATE", "LAST"]
    assert [line[:3] for line in lines[1:]] == [
        ["a-mail", "completed", "failed"],
        ["a-sync", "completed", "failed"],
        ["b-sync", "completed", "failed"],
        ["later", "active", "-"],
    ]
    assert "health" not in failing.ok("job", "list", "--json").json[0]


def test_a_list_asks_for_no_more_jobs_than_it_shows(failing: CommandLine) -> None:
    before = len(failing.server.requests)
    failing.ok("job", "list", "--limit", "1")
    (asked,) = failing.server.requests[before:]
    assert "limit=2" in str(asked)


@pytest.mark.parametrize(
    ("length_ms", "words"),
    [
        (None, "-"),
        (0, "0 ms"),
        (9_999, "9999 ms"),
        (10_000, "10 s"),
        (119_999, "119 s"),
        (120_000, "2m"),
        (200_000, "3m 20s"),
        (3_600_000, "1h"),
        (93_784_000, "1d 2h"),
    ],
)
def test_a_length_of_time_is_shown_in_its_two_greatest_units(length_ms: int | None, words: str) -> None:
    assert lasting(length_ms) == words


QUIET = {
    "namespace": "demo",
    "failed": 0,
    "retrying": 0,
    "skipped": 2,
    "running": 0,
    "failingJobs": 0,
    "newestFailureAt": None,
    "pausedPolicies": 0,
    "partial": False,
    "waiting": 0,
    "waitingIsExact": True,
    "waitingSince": None,
}


def test_an_overview_shows_what_waits_and_what_is_late_where_the_stack_counts_deliveries() -> None:
    since = "2026-11-21T12:00:00.000Z"
    counted = {"waiting": 7, "waitingIsExact": False, "waitingSince": since, "lastHour": {"late": 3}}
    columns, (row, other) = overview_table([{**QUIET, **counted, "partial": True}, {**QUIET, **counted}])
    found = dict(zip(columns, row, strict=True))
    assert (found["WAITING"], found["SINCE"], found["LATE IN THE LAST HOUR"]) == ("7+", since, 3)
    assert (found["SKIPPED"], other[columns.index("SKIPPED")]) == ("2+", "2")
    columns, (row,) = overview_table([QUIET])
    assert columns[-1] == "SINCE"
    assert row == ["demo", "0", "0", "0", "2", "0", 0, "0", None]


def test_an_overview_shows_the_states_of_jobs_if_they_were_counted() -> None:
    jobs = {"active": 1, "paused": 2, "completed": 3}
    columns, (row,) = overview_table([{**QUIET, "jobs": jobs}])
    assert dict(zip(columns[-3:], row[-3:], strict=True)) == {"ACTIVE": 1, "PAUSED": 2, "COMPLETED": 3}
