"""The command `import eventbridge`: its report, its files, and its exit codes."""

import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from tests.unit.client.conftest import CommandLine
from tests.unit.client.eventbridge.conftest import FUNCTION, QUEUE, REGION, ROLE, Account

from sweephand_client.commands import eventbridge
from sweephand_client.tasks.eventbridge.source import Source, scheduler
from sweephand_client.tasks.jobs_file import read_jobs_file

NIGHTLY = "cron(30 2 * * ? *)"
IMPORT = ("import", "eventbridge", "--region", REGION)


@pytest.fixture
def full(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account with a schedule of each outcome, and nobody who waits."""
    monkeypatch.setattr(eventbridge, "sleep", lambda _: None)
    account.group("orders")
    account.put("plain", NIGHTLY)
    key = f"arn:aws:kms:{REGION}:123456789012:key/1"
    account.put("changed", NIGHTLY, GroupName="orders", Target={"Arn": FUNCTION}, KmsKeyArn=key)
    account.put("again", NIGHTLY, GroupName="orders", Target={"Arn": FUNCTION}, KmsKeyArn=key)
    account.put("lost", NIGHTLY, Target={"Arn": f"arn:aws:ecs:{REGION}:123456789012:cluster/a"})
    account.put("moved", NIGHTLY, State="DISABLED", Description="[moved to Sweephand]")
    return account


def test_a_dry_run_reports_and_changes_nothing(full: Account, sweephand: CommandLine) -> None:
    before = full.states()
    said = sweephand.ok(*IMPORT, "--dry-run", "--disable-source", "--to", str(sweephand.home / "jobs")).out
    assert said == (
        "5 schedules of eu-west-1\n"
        "Moves as it is: 1\n"
        "    default/plain\n"
        "Moves with changes: 2\n"
        "  The stack's own key (KmsKeyArn) encrypts the job, and not that of the schedule. (2)\n"
        "    orders/again, orders/changed\n"
        "Cannot be moved: 1\n"
        "  Sweephand has no target for ECS. Let a Lambda function or a state machine make the call, and "
        "schedule that. (1)\n"
        "    default/lost\n"
        "Was moved before: 1\n"
        "  An earlier import moved it. Enable it in EventBridge Scheduler to move it again. (1)\n"
        "    default/moved\n"
        "The stack has to allow (docs/reach.md):\n"
        f"  TargetRoleArns: {ROLE}\n"
        "Each role has to trust the stack's DeliverRoleArn, with the external id:\n"
        f"  {ROLE}: sweephand/default, sweephand/orders\n"
    )
    assert (full.states(), sweephand.server.requests) == (before, [])
    assert [*sweephand.home.iterdir()] == []


def test_each_namespace_gets_a_file_that_apply_takes(full: Account, sweephand: CommandLine) -> None:
    folder = sweephand.home / "jobs"
    said = sweephand.ok(*IMPORT, "--to", str(folder)).out
    assert said.endswith(
        "Write the jobs with:\n"
        f"  sweephand apply --file {folder}/default.yaml\n"
        f"  sweephand apply --file {folder}/orders.yaml\n"
    )
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "default.yaml": 0o600,
        "orders.yaml": 0o600,
    }
    text = (folder / "orders.yaml").read_text("utf-8")
    assert "# The stack's own key" in text
    assert "eventbridge" not in text, "the file owns these jobs now"
    assert read_jobs_file(text).namespace == "orders"
    bare: dict[str, Any] = {"SWEEPHAND_NAMESPACE": None}
    for name, counts in (("default", "1 created, 0 unchanged\n"), ("orders", "2 created, 0 unchanged\n")):
        file = str(folder / f"{name}.yaml")
        assert sweephand.ok("apply", "--file", file, **bare).out.endswith(counts)
    for name in ("default", "orders"):
        plan = ("apply", "--file", str(folder / f"{name}.yaml"), "--dry-run", "--exit-code")
        sweephand.ok(*plan, **bare)

    assert full.states()["default/plain"] == "ENABLED"
    sweephand.ok(*IMPORT, "--to", str(folder))
    (folder / "orders.yaml").write_text("jobs: []\n", encoding="utf-8")
    edited = sweephand.run(*IMPORT, "--to", str(folder))
    assert (edited.code, "orders.yaml exists and differs. It may have been edited" in edited.err) == (2, True)
    assert (folder / "orders.yaml").read_text("utf-8") == "jobs: []\n"


def test_one_command_moves_and_disables(full: Account, sweephand: CommandLine) -> None:
    said = sweephand.ok(*IMPORT, "--disable-source").out
    assert said.endswith("3 created, 3 schedules disabled\n")
    assert {name for name, state in full.states().items() if state == "ENABLED"} == {"default/lost"}
    assert [each["name"] for each in sweephand.ok("job", "list", "-n", "orders", "--json").json] == [
        "again",
        "changed",
    ]
    again = sweephand.run(*IMPORT, "--disable-source", "--strict")
    assert (again.code, again.out.endswith("\n0 schedules disabled\n")) == (1, True)


@pytest.mark.usefixtures("full")
def test_one_schedule_is_told_in_the_singular(sweephand: CommandLine) -> None:
    said = sweephand.ok(*IMPORT, "--disable-source", "--prefix", "plain").out
    assert said.startswith("1 schedule of eu-west-1\n")
    assert said.endswith("1 created, 1 schedule disabled\n")


def test_a_person_is_told_of_a_wait(sweephand: CommandLine, full: Account) -> None:
    full.put("due-at-noon", "cron(0 12 * * ? *)")
    ran = sweephand.ok(*IMPORT, "--disable-source")
    assert "Waiting 75 s, until EventBridge has begun each fire" in ran.err
    assert full.states()["default/due-at-noon"] == "DISABLED"


@pytest.mark.usefixtures("full")
def test_a_program_reads_the_report_as_json(sweephand: CommandLine) -> None:
    value = sweephand.ok(*IMPORT, "--disable-source", "--without-roles", "--json").json
    assert [(each["name"], each["outcome"]) for each in value["schedules"]] == [
        ("lost", "not-moved"),
        ("moved", "moved-before"),
        ("plain", "as-it-is"),
        ("again", "changed"),
        ("changed", "changed"),
    ]
    assert value["needs"] == {
        "parameters": {"TargetFunctionArns": [FUNCTION], "TargetQueueArns": [QUEUE]},
        "roles": {},
    }
    assert value["moved"][0] == {"group": "default", "name": "plain", "did": "created", "source": "disabled"}


def test_one_namespace_takes_some_groups(full: Account, sweephand: CommandLine) -> None:
    full.put("plain", NIGHTLY, GroupName="orders")
    report = sweephand.ok(*IMPORT, "--dry-run", "--json", "-n", "all").json["schedules"]
    assert [each["name"] for each in report if each["outcome"] == "not-moved"] == ["lost", "plain", "plain"]
    chosen = sweephand.ok(*IMPORT, "--dry-run", "--json", "-n", "all", "--group", "orders", "--prefix", "p")
    assert [(each["group"], each["namespace"]) for each in chosen.json["schedules"]] == [("orders", "all")]
    missing = sweephand.run(*IMPORT, "--dry-run", "--group", "order")
    assert (missing.code, "There are: default, orders." in missing.err) == (2, True)
    slash = sweephand.run(*IMPORT, "--to", str(sweephand.home / "jobs"), "-n", "a/b", "--group", "orders")
    assert (slash.code, "is no namespace" in slash.err, [*sweephand.home.iterdir()]) == (2, True, [])


def test_a_refused_job_and_what_stays_enabled_are_told(full: Account, sweephand: CommandLine) -> None:
    other = {"schedule": "@daily", "target": {"type": "http", "url": "https://example.com/"}}
    sweephand.ok("job", "schedule", "plain", "-n", "default", "--file", "-", given=json.dumps(other))
    ran = sweephand.run(*IMPORT, "--disable-source", "--group", "default")
    assert (ran.code, "default/plain refused: The job exists and differs in data" in ran.out) == (4, True)
    assert full.states()["default/plain"] == "ENABLED"
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 60}
    full.put("late", "rate(1 minute)", FlexibleTimeWindow=window)
    ran = sweephand.run(*IMPORT, "--disable-source", "--prefix", "late")
    assert (ran.code, "default/late created, but enabled: EventBridge may" in ran.out) == (1, True)
    found = sweephand.run(*IMPORT, "--disable-source", "--prefix", "late", "--json").json["moved"]
    assert [(each["source"], "Run the command" in each["enabledBecause"]) for each in found] == [
        ("enabled", True)
    ]


def test_the_command_says_what_it_lacks(
    account: Account, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = sweephand.run(*IMPORT)
    assert (ran.code, "Say what to do: --dry-run to report" in ran.err) == (2, True)
    ran = sweephand.run(*IMPORT, "--dry-run", "--endpoint-url", "nowhere")
    assert (ran.code, "EventBridge Scheduler cannot be called: Invalid endpoint" in ran.err) == (2, True)
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    ran = sweephand.run("import", "eventbridge", "--dry-run")
    assert (ran.code, "Say whose schedules to read: --region eu-west-1" in ran.err) == (2, True)

    find = importlib.import_module

    def without_boto3(name: str, *rest: Any) -> Any:
        if name == "boto3":
            raise ImportError(name)
        return find(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without_boto3)
    ran = sweephand.run(*IMPORT, "--dry-run")
    assert (ran.code, ran.err) == (
        2,
        "EventBridge Scheduler is read by boto3. Install it: pip install 'sweephand[eventbridge]'\n",
    )
    assert (account.calls, len(sweephand.server.requests)) == ({}, 0)


@pytest.mark.usefixtures("account")
def test_a_refusal_of_aws_exits_with_4(sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    client = scheduler(REGION, None)
    monkeypatch.setattr(eventbridge, "scheduler", lambda *_: client)
    body = b'{"Message": "You may not."}'
    denied = answer(403, "AccessDeniedException", body)
    client.meta.events.register_first("before-send.scheduler.ListSchedules", lambda **_: denied)
    ran = sweephand.run(*IMPORT, "--dry-run")
    assert ran.code == 4
    assert "EventBridge Scheduler refused ListSchedules: " in ran.err
    assert "You may not." in ran.err


def answer(status: int, error: str, body: bytes) -> AWSResponse:
    """An answer of AWS."""
    headers: Any = {"x-amzn-errortype": error}
    return AWSResponse("", status, headers, Body(body))


class Body:
    """The body of an answer, as botocore reads it."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def stream(self) -> list[bytes]:
        return [self._text]


def test_a_call_that_is_throttled_is_made_again(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    account.put("a", NIGHTLY)
    client, left = scheduler(REGION, None), [6]

    def throttle(**_: Any) -> AWSResponse | None:
        left[0] -= 1
        if left[0] < 0:
            return None
        return answer(429, "ThrottlingException", b'{"Message": "Rate exceeded"}')

    client.meta.events.register_first("before-send.scheduler.GetSchedule", throttle)
    assert [each.name for each in Source(client).read()] == ["a"]
    assert len(waits) == 6


def test_a_file_named_like_a_command_can_be_imported(sweephand: CommandLine, monkeypatch: Any) -> None:
    monkeypatch.chdir(sweephand.home)
    sweephand.ok("job", "schedule", "a", "-s", "@daily", "--url", "https://example.com/")
    lines = sweephand.ok("export").out
    Path("eventbridge").write_text(lines, encoding="utf-8")
    for words in (("file", "eventbridge"), ("eventbridge.jsonl",), ("--replace", "eventbridge.jsonl")):
        Path("eventbridge.jsonl").write_text(lines, encoding="utf-8")
        assert sweephand.ok("import", *words, "-n", "copy").out
    assert [each["name"] for each in sweephand.ok("job", "list", "-n", "copy", "--json").json] == ["a"]
