"""The commands on a stack in memory: what they do, what they print, and their exit codes."""

import datetime as dt
import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from infra.local.places import ROOT
from tests.fakes.http_server import Fault
from tests.unit.client.conftest import CommandLine
from typer.main import get_command
from typer.testing import CliRunner

from sweephand import __version__
from sweephand.model.attempt import Answer
from sweephand_client.commands import dev
from sweephand_client.commands.main import app
from sweephand_client.tasks.placing import rfc3339

URL = "https://consumer.example/hook"
NIGHTLY = ("job", "schedule", "nightly", "-s", "30 2 * * *", "-z", "Europe/Paris", "--url", URL)


def commands(group: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command below a group."""
    found: list[tuple[str, ...]] = []
    for name, each in group.commands.items():
        found += commands(each, (*path, name)) if hasattr(each, "commands") else [(*path, name)]
    return found


ALL = commands(get_command(app))


def free_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_jobs_are_listed_by_a_part_of_their_names(sweephand: CommandLine) -> None:
    for name in ("eu-report", "us-report", "eu-mail"):
        sweephand.ok("job", "schedule", name, "--due", "1h", "--url", "https://consumer.example/hook")
    found = sweephand.ok("job", "list", "--contains", "report", "--json").json
    assert [each["name"] for each in found] == ["eu-report", "us-report"]


def test_jobs_are_listed_by_their_policy(sweephand: CommandLine) -> None:
    sweephand.ok("policy", "put", "mail", "--max-concurrent", "5")
    for name, more in (("alone", ()), ("mails", ("--policy", "mail"))):
        sweephand.ok("job", "schedule", name, "--due", "1h", "--url", URL, *more)
    found = sweephand.ok("job", "list", "--policy", "mail", "--json").json
    assert [each["name"] for each in found] == ["mails"]
    assert "/policy: Give 1 to 128 of" in sweephand.run("job", "list", "--policy", "a b").err


def test_jobs_that_fail_are_listed_with_their_failures_in_a_row(sweephand: CommandLine) -> None:
    world = sweephand.server.api.world
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.trigger.key.name == "good", code=500)
    for name, every in (("bad", "10s"), ("good", "10s"), ("worse", "5s")):
        once = ("--field", 'retry={"maxAttempts": 1}')
        sweephand.ok("job", "schedule", name, "-s", f"@every {every}", "--url", URL, *once)
    world.run_until(world.clock.time + 51_000)
    _, *rows = sweephand.ok("job", "list", "--health", "failing").out.splitlines()
    assert sorted(tuple(row.split()[:4]) for row in rows) == [
        ("bad", "active", "failed", "5"),
        ("worse", "active", "failed", "10+"),
    ]
    by_name = sweephand.ok("job", "list", "--health", "failing", "--sort", "name", "--json").json
    assert [(each["name"], each["health"]["failuresInARow"]) for each in by_name] == [
        ("bad", 5),
        ("worse", 10),
    ]
    assert "FAILURES" not in sweephand.ok("job", "list").out
    refused = sweephand.run("job", "list", "--sort", "failure").err
    assert "/sort: Only failing jobs have a newest failure. Add health=failing." in refused


def test_many_runs_are_counted_redriven_and_cancelled(sweephand: CommandLine) -> None:
    world = sweephand.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    for name, retry in (("bad", '{"maxAttempts": 1}'), ("slow", '{"initialDelay": "1h"}')):
        sweephand.ok("job", "schedule", name, "--due", "10s", "--url", URL, "--field", f"retry={retry}")
    world.run_until(world.clock.time + 11_000)
    since = ("--since", "2026-11-21T12:00:00Z")
    assert sweephand.ok("run", "redrive", *since, "--dry-run").out == "1 run would be redriven.\n"
    assert sweephand.ok("run", "redrive", *since, "--reason", "500").out == "Redriven: 0 runs.\n"
    assert sweephand.ok("run", "redrive", *since, "--until", "2026-11-21T12:00:10Z", "--json").json == {
        "redriven": 0,
        "dryRun": False,
        "namespaces": {"ns": 0},
    }
    assert sweephand.ok("run", "redrive", "--reason", "503", "-A").out == "Redriven: 1 run in 1 namespace.\n"
    assert sweephand.ok("run", "cancel", "--prefix", "s", "--dry-run").out == "1 run would be cancelled.\n"
    assert sweephand.ok("run", "cancel", "--prefix", "s", "--state", "running").out == "Cancelled: 0 runs.\n"
    assert sweephand.ok("run", "cancel", "--prefix", "s").out == "Cancelled: 1 run.\n"
    # By this machine's clock, an hour ago is long after the jobs of this world.
    assert sweephand.ok("run", "cancel", "--since", "1h").out == "Cancelled: 0 runs.\n"
    for wrong in (("bad", "--since", "1h"), ()):
        assert "Name a job and a run, or select many by --since" in sweephand.run("run", "cancel", *wrong).err
    assert "is no time" in sweephand.run("run", "redrive", "--since", "long ago").err
    assert "/state: " in sweephand.run("run", "cancel", *since, "--state", "failed").err
    assert "is no time" in sweephand.run("run", "redrive", "--since", "999999999d").err
    assert sweephand.run("run", "cancel", "slow").code == 2


def test_all_namespaces_are_shown_with_trouble_first(sweephand: CommandLine) -> None:
    world = sweephand.server.api.world
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.key.namespace == "a", code=503
    )
    for namespace in ("a", "b"):
        once = ("--due", "10s", "--url", URL, "--field", 'retry={"maxAttempts": 1}')
        sweephand.ok("job", "schedule", "job", "--namespace", namespace, *once)
    world.run_until(world.clock.time + 11_000)
    head, *rows = sweephand.ok("overview", "--jobs").out.splitlines()
    assert [row.split() for row in rows] == [
        ["b", "1", "1", "0", "0", "0", "0", "0", "-", "0", "0", "0", "1"],
        ["a", "0", "0", "0", "0", "0", "0", "0", "-", "0", "0", "0", "1"],
    ]
    assert head.split()[-3:] == ["ACTIVE", "PAUSED", "COMPLETED"]
    found = sweephand.ok("overview", "--since", "2026-11-21T12:00:11Z", "--json").json
    assert [(each["namespace"], each["failed"]) for each in found] == [("a", 0), ("b", 0)]
    assert "jobs" not in found[0]
    for words in (("overview",), ("namespace", "list")):
        alone = sweephand.ok(*words, "--namespace", "a", "--json").json
        assert [each["namespace"] for each in alone] == ["a"]


def test_a_job_is_scheduled_shown_listed_and_deleted(sweephand: CommandLine) -> None:
    said = sweephand.ok(
        *NIGHTLY, "--data", '{"price": 1.10}', "--label", "team=ops", "--field", "repeats=4"
    ).out
    assert said.startswith("nightly is active, next run at 2026-11-2")

    job = sweephand.ok("job", "get", "nightly", "--json").json
    assert job["schedule"] == "30 2 * * *"
    assert job["target"] == {"type": "http", "url": URL}
    assert (job["labels"], job["repeats"], str(job["data"]["price"])) == ({"team": "ops"}, 4, "1.10")
    listed = sweephand.ok("job", "list", "--label", "team=ops").out
    assert "nightly" in listed
    assert "30 2 * * *" in listed
    assert sweephand.ok("job", "list", "--prefix", "x", "--json").json == []
    sweephand.ok("job", "delete", "nightly")
    assert sweephand.run("job", "get", "nightly").code == 4


def test_a_job_comes_from_a_file_and_options_change_it(sweephand: CommandLine) -> None:
    document = json.dumps({"schedule": "@every 1h", "target": {"type": "http", "url": URL}, "data": [1]})

    sweephand.ok("job", "schedule", "a", "--file", sweephand.file("a.json", document), "--due", "10s")
    sweephand.ok("job", "schedule", "b", "-f", "-", "-s", '{"hour": "3"}', given=document)

    assert sweephand.ok("job", "get", "a", "--json").json["dueTime"] == "10s"
    assert sweephand.ok("job", "get", "b", "--json").json["schedule"] == {"hour": "3"}
    assert sweephand.run("job", "schedule", "a", "--url", URL, "--if-absent").code == 4


def test_a_job_gets_a_batch_a_policy_and_a_priority_by_options(sweephand: CommandLine) -> None:
    sweephand.ok("policy", "put", "mail", "--max-concurrent", "5")
    sweephand.ok(*NIGHTLY, "--batch", "50000/1h", "--policy", "mail", "--priority", "low")
    job = sweephand.ok("job", "get", "nightly", "--json").json
    assert job["batch"] == {"count": 50_000, "window": "1h"}
    assert (job["policy"], job["priority"]) == ("mail", "low")
    sweephand.ok(*NIGHTLY, "--batch", "20")
    assert sweephand.ok("job", "get", "nightly", "--json").json["batch"] == {"count": 20}
    refused = sweephand.run(*NIGHTLY, "--batch", "5/soon", "--priority", "urgent")
    assert (refused.code, "/batch/window: " in refused.err, "/priority: " in refused.err) == (2, True, True)


def test_jobs_are_paused_resumed_and_deleted_by_name_or_by_label(sweephand: CommandLine) -> None:
    for name in ("a", "b"):
        sweephand.ok("job", "schedule", name, "-s", "@hourly", "--url", URL, "--label", "team=ops")

    sweephand.ok("job", "pause", "a", "--reason", "tonight")
    assert sweephand.ok("job", "get", "a", "--json").json["pauseReason"] == "tonight"
    assert sweephand.ok("job", "pause", "--label", "team=ops", "--json").json == {"paused": 1}
    assert sweephand.ok("job", "resume", "--prefix", "b").out == "Resumed 1 job.\n"
    assert sweephand.ok("job", "resume", "a", "--catchup", "none").out.startswith("a is active")
    assert sweephand.run("job", "delete", "--label", "team=ops").code == 2
    assert sweephand.ok("job", "delete", "--label", "team=ops", "--yes").out == "Deleted 2 jobs.\n"
    assert sweephand.run("job", "pause", "a", "--label", "team=ops").code == 2
    assert sweephand.run("job", "pause").code == 2


@pytest.mark.parametrize(
    ("until", "shown"),
    [
        ("2027-01-05T06:00:00Z", "2027-01-05T06:00:00.000Z"),
        ("2027-01-05T06:00", rfc3339(dt.datetime(2027, 1, 5, 6).astimezone())),
        ("2027-01-05", rfc3339(dt.datetime(2027, 1, 5).astimezone())),
        ("2h", "2026-11-21T14:00:00.000Z"),
    ],
)
def test_a_pause_ends_at_an_instant_by_the_clock_of_this_machine_or_after_a_duration(
    sweephand: CommandLine, until: str, shown: str
) -> None:
    sweephand.ok(*NIGHTLY)
    said = sweephand.ok("job", "pause", "nightly", "--until", until, "--catchup", "all").out
    assert said.startswith("nightly is paused until 202")
    job = sweephand.ok("job", "get", "nightly", "--json").json
    assert (job["pausedUntil"], job["resumeCatchup"]) == (shown, "all")
    assert sweephand.ok("job", "pause", "--prefix", "n", "--json").json == {"paused": 1}
    assert sweephand.ok("job", "pause", "--prefix", "n", "--until", until, "--json").json == {"paused": 1}
    assert sweephand.ok("job", "get", "nightly", "--json").json["pausedUntil"] == shown
    refused = sweephand.run("job", "pause", "nightly", "--until", "soon")
    assert (refused.code, "/until: " in refused.err) == (2, True)


def test_runs_are_made_listed_and_shown(sweephand: CommandLine) -> None:
    sweephand.ok(*NIGHTLY)
    run = sweephand.ok("job", "trigger", "nightly", "--data", "[1]", "--json").json["id"]

    assert sweephand.ok("run", "show", "nightly", run, "--json").json["state"] == "enqueued"
    assert run in sweephand.ok("run", "show", "nightly", run).out
    assert sweephand.run("run", "cancel", "nightly", run).code == 4
    assert sweephand.run("run", "redrive", "nightly", run).code == 4
    assert sweephand.run("run", "redrive", "nightly").code == 2
    redriven = sweephand.ok("run", "redrive", "--prefix", "n", "--json").json
    assert redriven == {"redriven": 0, "dryRun": False, "namespaces": {"ns": 0}}
    made = sweephand.ok(
        "job",
        "backfill",
        "nightly",
        "--from",
        "2026-11-19T00:00:00Z",
        "--to",
        "2026-11-21T00:00:00Z",
        "--json",
    )
    assert made.json["count"] == 2


def test_a_schedule_is_explained_with_its_clock_changes(sweephand: CommandLine) -> None:
    asked = ("schedule", "explain", "30 2 * * *", "-z", "Europe/Paris", "--after", "2027-03-27T12:00:00Z")

    shown = sweephand.ok(*asked, "--limit", "2").out
    assert shown.startswith("At 02:30\n")
    assert "2027-03-28T03:00:00.000+02:00" in shown
    assert "gap-shifted" in shown
    skipped = sweephand.ok(*asked, "--gap", "skip", "--limit", "2").out
    assert "does not fire" in skipped
    found = sweephand.ok("schedule", "explain", '["2027-12-24T14:00:00Z"]', "--json").json
    assert found["end"] == "2027-12-24T14:00:00.000Z"


def test_policies_namespaces_keys_and_secrets_are_kept(sweephand: CommandLine) -> None:
    sweephand.ok("policy", "put", "mail", "--rate", "100/1m", "--max-concurrent", "5")
    assert sweephand.ok("policy", "get", "mail", "--json").json["rate"] == {"limit": 100, "per": "1m"}
    assert "100/1m" in sweephand.ok("policy", "list").out
    assert "created" in sweephand.ok("policy", "changes", "mail").out
    refused = sweephand.run("policy", "put", "mail", "--max-concurrent", "abc")
    assert (refused.code, refused.err.strip()) == (2, "'abc' is no whole number.")
    sweephand.ok("policy", "delete", "mail")
    sweephand.ok("namespace", "set", '{"limits": {"jobs": 5}}')
    assert sweephand.ok("namespace", "show", "--json").json["limits"] == {"jobs": 5}
    assert sweephand.ok("namespace", "list", "--json").json == [{"namespace": "ns"}]
    sweephand.ok("secret", "put", "token", given="Bearer x\n")
    assert [each["name"] for each in sweephand.ok("secret", "list", "--json").json] == ["token"]
    sweephand.ok("secret", "delete", "token")
    assert sweephand.ok("secret", "signing").out.count("whsec_") == 1
    rotated = sweephand.ok("secret", "signing", "--rotate").out
    assert rotated.count("whsec_") == 2
    ended = sweephand.ok("secret", "signing", "--end-old").out
    assert (ended.count("whsec_"), ended.split("whsec_")[1].split()[0] in rotated) == (1, True)
    assert sweephand.ok("secret", "signing", "--rotate", "--end-old").out.count("whsec_") == 1


def test_changes_of_keys_secrets_and_settings_are_listed(sweephand: CommandLine) -> None:
    made = sweephand.ok("key", "make", "--role", "read", "--json").json
    sweephand.ok("secret", "put", "token", given="Bearer x\n")
    shown = sweephand.ok("changes").out
    assert made["id"] in shown
    assert "token" in shown
    assert "Bearer" not in shown
    newest = sweephand.ok("changes", "--limit", "1", "--json").json
    assert [(each["what"], each["subject"], each["name"]) for each in newest] == [
        ("created", "secret", "token")
    ]
    assert sweephand.ok("changes", "--until", "2020-01-01T00:00:00Z", "--json").json == []
    assert sweephand.run("changes", "--since", "soon").code == 2


def test_a_policy_is_written_only_at_a_revision_or_only_if_it_is_absent(sweephand: CommandLine) -> None:
    put = ("policy", "put", "mail", "--max-concurrent")
    first = sweephand.ok(*put, "5", "--if-absent", "--json").json["rev"]
    assert sweephand.run(*put, "6", "--if-absent").code == 4
    sweephand.ok(*put, "6", "--if-match", first)
    refused = sweephand.run(*put, "7", "--if-match", first)
    assert (refused.code, "revision" in refused.err) == (4, True)
    assert sweephand.ok("policy", "get", "mail", "--json").json["maxConcurrent"] == 6


def test_settings_without_limits_are_refused_and_remove_no_limit(sweephand: CommandLine) -> None:
    sweephand.ok("namespace", "set", '{"limits": {"jobs": 5}}')
    refused = sweephand.run("namespace", "set", '{"defaultRetry": {"maxAttempts": 3}}')
    assert (refused.code, "/limits: Required." in refused.err) == (2, True)
    assert sweephand.ok("namespace", "show", "--json").json["limits"] == {"jobs": 5}
    sweephand.ok("namespace", "set", '{"limits": {}}')
    assert sweephand.ok("namespace", "show", "--json").json["limits"] == {}


def test_a_key_is_made_shown_once_rotated_and_revoked(sweephand: CommandLine) -> None:
    key = sweephand.ok("key", "make", "--role", "write", "--expires-in", "90d").out
    assert key.startswith("sh_")
    (listed,) = sweephand.ok("key", "list", "--json").json
    assert (listed["namespace"], listed["role"]) == ("ns", "write")
    successor = sweephand.ok("key", "rotate", listed["id"], "--overlap", "1h", "--json").json
    assert successor["replaces"]["id"] == listed["id"]
    sweephand.ok("key", "revoke", listed["id"])


def test_the_status_says_which_stack_and_which_key(sweephand: CommandLine) -> None:
    found = sweephand.ok("status", "--json").json
    assert (found["url"], found["found"], found["role"]) == (sweephand.server.url, "SWEEPHAND_URL", "admin")
    assert found["version"] == __version__


def test_bad_input_exits_with_2_and_names_the_fields(sweephand: CommandLine) -> None:
    words = ("job", "schedule", "a", "-s", "never", "--url", URL, "--field", "retries=3")

    ran = sweephand.run(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert "/schedule: " in ran.err
    assert "/retries: " in ran.err
    problem = json.loads(sweephand.run(*words, "--json").err)
    assert (problem["exitCode"], problem["status"]) == (2, 422)
    assert {each["pointer"] for each in problem["errors"]} == {"/schedule", "/retries"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("job", "schedule", "a", "--data", "text"), '"text"'),
        (("job", "schedule", "a", "--data", "@nowhere.json"), "nowhere.json cannot be read"),
        (("job", "schedule", "a", "--target", "[]"), "no JSON object"),
        (("job", "schedule", "a", "--label", "x"), "name=value"),
        (("job", "schedule", "a", "--field", "x"), "name=value"),
        (("job", "schedule", "a", "--field", "retry={"), "--field retry is not JSON"),
        (("job", "patch", "a"), "Say which fields to write"),
        (("job", "patch", "a", "--ttl", "1h", "--without", "ttl"), "Give ttl a value or remove it"),
        (("job", "schedule", "a", "--batch", "many"), "'many' is no batch. Give a number of triggers"),
        (("job", "schedule", "a", "--batch", "5/"), "as in --batch 50000/1h"),
        (("job", "schedule", "a", "--batch", "/1h"), "as in --batch 50000/1h"),
        (("job", "schedule", "a", "--batch", "-5"), "as in --batch 50000/1h"),
        (("policy", "put", "mail", "--rate", "fast"), "as in --rate 100/1m"),
        (("policy", "put", "mail", "--rate", "100"), "as in --rate 100/1m"),
        (("policy", "put", "mail", "--rate", "100/"), "as in --rate 100/1m"),
        (("job", "schedule", "a", "--url", URL, "--queue", "q"), "Give only one of --url, --queue"),
        (("job", "get", ".."), "Give 1 to 128 of"),
        (("job", "get"), "name"),
        (("job", "list", "--limit", "0"), "limit"),
        (("nonsense",), "nonsense"),
    ],
)
def test_what_is_wrong_before_any_call_exits_with_2(
    sweephand: CommandLine, words: tuple[str, ...], said: str
) -> None:
    ran = sweephand.run(*words)
    assert (ran.code, sweephand.server.requests) == (2, [])
    assert said in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "-f", "-"),
        ("crontab", "-"),
        ("import", "-"),
        ("secret", "put", "token"),
        ("job", "schedule", "a", "--data", "-"),
    ],
)
def test_bytes_on_stdin_that_are_no_text_exit_with_2(sweephand: CommandLine, words: tuple[str, ...]) -> None:
    ran = sweephand.run(*words, given=b"jobs: \xff\n")
    assert (ran.code, sweephand.server.requests) == (2, [])
    assert "stdin is not a text in UTF-8: invalid start byte at byte 6." in ran.err


def test_a_stack_that_cannot_be_reached_exits_with_3_and_its_address(sweephand: CommandLine) -> None:
    url = free_url()
    ran = sweephand.run("job", "list", SWEEPHAND_URL=url)
    assert ran.code == 3
    assert f"{url} cannot be reached: " in ran.err
    assert json.loads(sweephand.run("job", "list", "--json", SWEEPHAND_URL=url).err)["url"] == url


def test_a_stack_that_fails_exits_with_3(sweephand: CommandLine) -> None:
    sweephand.server.faults.append(Fault(500, {"content-type": "application/json"}, b'{"detail": "broken"}'))
    ran = sweephand.run("job", "list")
    assert ran.code == 3
    assert sweephand.server.url in ran.err
    assert "broken" in ran.err


def test_a_lost_answer_of_a_trigger_says_that_it_may_have_been_made(sweephand: CommandLine) -> None:
    sweephand.ok(*NIGHTLY)
    sweephand.server.faults.append(Fault(reaches_api=True))
    ran = sweephand.run("job", "trigger", "nightly")
    assert ran.code == 3
    assert "may have done what was asked" in ran.err


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_stack_that_fails_at_a_write_may_have_done_it_all_the_same(
    sweephand: CommandLine, status: int
) -> None:
    sweephand.ok(*NIGHTLY)
    sweephand.server.faults.append(Fault(status, reaches_api=True))
    ran = sweephand.run("job", "trigger", "nightly", "--json")
    assert ran.code == 3
    assert "may have done what was asked" in json.loads(ran.err)["detail"]


@pytest.mark.parametrize("key", ["sh_reader", "sh_unknown"])
def test_what_the_key_may_not_do_exits_with_4(sweephand: CommandLine, key: str) -> None:
    ran = sweephand.run(*NIGHTLY, SWEEPHAND_KEY=key)
    assert ran.code == 4
    assert ran.err.strip()


def test_the_only_namespace_of_a_key_needs_no_option(sweephand: CommandLine) -> None:
    sweephand.ok(*NIGHTLY)
    assert "nightly" in sweephand.ok("job", "list", SWEEPHAND_NAMESPACE=None, SWEEPHAND_KEY="sh_reader").out
    ran = sweephand.run("job", "list", SWEEPHAND_NAMESPACE=None)
    assert ran.code == 2
    assert "--namespace" in ran.err
    assert sweephand.ok("job", "list", "-n", "other", "--json").json == []


#: The commands that make, run or delete a stack, or open a page, and call no stack.
WITHOUT_A_STACK = {("deploy",), ("destroy",), ("dev",), ("docs",)}


@pytest.mark.parametrize("words", [each for each in ALL if each not in WITHOUT_A_STACK], ids=" ".join)
def test_a_command_has_the_shared_options_and_takes_no_key_or_secret(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).stdout
    for option in ("--json", "--profile", "--namespace"):
        assert option in shown
    for option in ("--key", "--token", "--secret", "--value", "--password"):
        assert f"{option} " not in shown


def test_a_stack_does_not_run_where_the_engine_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "_ENGINE", "no_such_engine")
    ran = CliRunner().invoke(app, ["dev"])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "`sweephand dev` needs packages that are not installed, such as no_such_engine. "
        "Install them: pip install 'sweephand[dev]'\n"
    )


def test_the_page_has_an_example_of_every_command() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    lacking = [words for words in ALL if not re.search(rf"sweephand {' '.join(words)}\b", page)]
    assert lacking == []


@pytest.mark.parametrize("words", [(), ("job",), ("job", "get"), ("dev",)])
def test_the_help_names_no_types_of_python(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"])
    assert ("--help" in done.stdout, "<bool>" in done.stdout) == (True, False)


def test_the_contents_of_the_page_name_each_section() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    contents = re.findall(r"^- \[(.+)\]\(#.+\)$", page.partition("\n## ")[0], re.MULTILINE)
    assert contents == re.findall(r"^## (.+)$", page, re.MULTILINE)


def test_a_shell_completes_commands(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sweephand_client.commands.main"],
        env={
            "PYTHONPATH": ":".join(sys.path),
            "_SWEEPHAND_COMPLETE": "complete_bash",
            "COMP_WORDS": "sweephand job re",
            "COMP_CWORD": "2",
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["resume"], done.stderr


def test_a_clone_that_is_not_installed_says_so_for_its_version() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, "sweephand of a clone, which is not installed\n")
