"""Schedules by EventBridge Scheduler's client: what was written comes back, and each one is a job."""

import datetime as dt
from typing import Any

import pytest
from botocore.config import Config
from tests.fakes.http_events import JOB, Client
from tests.fakes.scheduler_calls import (
    BUS,
    FUNCTION,
    PLACE,
    QUEUE,
    ROLE,
    refused,
    schedule,
    scheduler_of,
    shown,
)

from sweephand.base.instants import MINUTE_MS
from sweephand.web.scheduler import schedules

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
ARN = f"arn:aws:scheduler:{PLACE}:schedule/default/nightly"
RETRY = {"MaximumEventAgeInSeconds": 86_400, "MaximumRetryAttempts": 185}


def job_of(api: Client, name: str = "nightly", namespace: str = "default") -> dict[str, Any]:
    found: dict[str, Any] = api.send("GET", f"/v1/namespaces/{namespace}/jobs/{name}").json
    return found


def test_a_schedule_is_a_job(scheduler: Any, api: Client) -> None:
    assert scheduler.create_schedule(**schedule())["ScheduleArn"] == ARN
    job = job_of(api)
    assert (job["schedule"], job["data"], job["state"]) == ("cron(0 9 * * ? *)", '{"order": 1}', "active")
    assert job["target"] == {
        "type": "lambda",
        "functionArn": FUNCTION,
        "format": "raw",
        "scheduleArn": ARN,
        "roleArn": ROLE,
    }
    assert job["retry"] == {"maxAttempts": 186, "maxAge": "86400s"}
    assert job["nextRun"] == "2026-11-22T09:00:00.000Z"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"Description": "The report.", "ScheduleExpressionTimezone": "Europe/Paris"},
        {"ScheduleExpression": "rate(5 minutes)", "StartDate": NOW, "EndDate": NOW + dt.timedelta(days=9)},
        {"ScheduleExpression": "rate(1 hour)", "StartDate": NOW - dt.timedelta(minutes=4)},
        {"StartDate": NOW + dt.timedelta(days=3, milliseconds=250)},
        {"ScheduleExpression": "at(2027-01-01T00:00:00)", "ActionAfterCompletion": "DELETE"},
        {"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}},
        {"FlexibleTimeWindow": {"Mode": "OFF", "MaximumWindowInMinutes": 4}},
        {"State": "DISABLED"},
        {"Target": {"RetryPolicy": {"MaximumRetryAttempts": 3}}},
        {"Target": {"RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}}},
        {"Target": {"DeadLetterConfig": {"Arn": f"{QUEUE}-dead"}}},
        {"Target": {"Arn": f"{QUEUE}.fifo", "SqsParameters": {"MessageGroupId": "a"}}},
        {"Target": {"Arn": BUS, "EventBridgeParameters": {"DetailType": "due", "Source": "orders"}}},
        {"Target": {"Arn": f"arn:aws:sns:{PLACE}:orders"}},
        {"Target": {"Arn": f"arn:aws:states:{PLACE}:stateMachine:orders"}},
        {"Target": {"Arn": "https://consumer.example/hook", "Input": '{ "order": 1 }'}},
    ],
    ids=str,
)
def test_what_was_written_comes_back_as_it_was_written(scheduler: Any, fields: dict[str, Any]) -> None:
    written = schedule(**fields)
    scheduler.create_schedule(**written)
    defaults = {
        "ActionAfterCompletion": "NONE",
        "ScheduleExpressionTimezone": "UTC",
        "State": "ENABLED",
        "GroupName": "default",
        "Arn": ARN,
        "CreationDate": NOW,
        "LastModificationDate": NOW,
    }
    target = {**written["Target"], "RetryPolicy": RETRY | written["Target"].get("RetryPolicy", {})}
    assert shown(scheduler.get_schedule(Name="nightly")) == {**defaults, **written, "Target": target}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"n":1.10,"big":123456789012345678901234567890}', None),
        ('{"order": 1}', '{"order": 1}'),
        ('"a text of JSON"', '"a text of JSON"'),
        ("plain text\nü", "plain text\nü"),
        ('{"a":1,"a":2}', '{"a":1,"a":2}'),
        ("<aws.scheduler.scheduled-time>", "<aws.scheduler.scheduled-time>"),
        ("null", None),
    ],
)
def test_an_input_comes_back_and_leaves_as_it_was_written(
    scheduler: Any, api: Client, text: str, data: str | None
) -> None:
    scheduler.create_schedule(**schedule(Target={"Arn": QUEUE, "Input": text}))
    assert scheduler.get_schedule(Name="nightly")["Target"]["Input"] == text
    if data is not None:
        assert job_of(api)["data"] == data


def test_without_an_input_the_consumer_gets_the_notification_of_eventbridge(
    scheduler: Any, api: Client
) -> None:
    scheduler.create_schedule(**schedule(Target={"Input": None}))
    assert "Input" not in scheduler.get_schedule(Name="nightly")["Target"]
    assert job_of(api)["data"] == {
        "version": "0",
        "id": "<aws.scheduler.execution-id>",
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": "123456789012",
        "time": "<aws.scheduler.scheduled-time>",
        "region": "eu-west-1",
        "resources": ["<aws.scheduler.schedule-arn>"],
        "detail": "{}",
    }


def test_a_creation_that_the_sdk_sends_again_changes_nothing_and_another_one_is_refused(
    scheduler: Any, api: Client
) -> None:
    scheduler.create_schedule(**schedule(ClientToken="t"))
    before = job_of(api)
    assert scheduler.create_schedule(**schedule(ClientToken="t"))["ScheduleArn"] == ARN
    taken = ("ConflictException", "Schedule nightly already exists.")
    assert refused(scheduler.create_schedule, **schedule(ClientToken="t", Description="x")) == taken
    assert refused(scheduler.create_schedule, **schedule(ClientToken="u")) == taken
    assert job_of(api) == before


def test_a_creation_that_overtakes_itself_succeeds(
    scheduler: Any, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.create_schedule(**schedule(ClientToken="t"))
    before, read = job_of(api), schedules._stored
    seen: list[object] = []

    def stored(*arguments: Any) -> Any:
        seen.append(arguments)
        return None if len(seen) % 2 else read(*arguments)

    monkeypatch.setattr(schedules, "_stored", stored)
    assert scheduler.create_schedule(**schedule(ClientToken="t"))["ScheduleArn"] == ARN
    assert refused(scheduler.create_schedule, **schedule(ClientToken="u"))[0] == "ConflictException"
    assert (len(seen), job_of(api)) == (4, before)


def test_an_update_resets_what_it_leaves_out_and_keeps_the_creation(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule(**schedule(Description="old", ScheduleExpression="rate(5 minutes)"))
    api.world.clock.time += MINUTE_MS
    scheduler.update_schedule(**schedule(ScheduleExpression="rate(10 minutes)", Target={"Input": "{}"}))
    found = shown(scheduler.get_schedule(Name="nightly"))
    assert "Description" not in found
    assert (found["CreationDate"], found["LastModificationDate"]) == (NOW, NOW + dt.timedelta(minutes=1))
    assert found["Target"]["Input"] == "{}"
    assert job_of(api)["schedule"] == "R/2026-11-21T12:00:00Z/PT10M"


def test_a_disabled_schedule_never_fires_and_one_that_is_enabled_fires_what_comes(
    scheduler: Any, api: Client
) -> None:
    every = schedule(ScheduleExpression="rate(1 minute)")
    scheduler.create_schedule(**every, State="DISABLED")
    assert job_of(api)["state"] == "paused"
    api.world.clock.time += 10 * MINUTE_MS
    scheduler.update_schedule(**every)
    assert job_of(api)["state"] == "active"
    assert job_of(api)["nextRun"] == "2026-11-21T12:10:00.000Z"
    scheduler.update_schedule(**every, State="DISABLED")
    assert scheduler.get_schedule(Name="nightly")["State"] == "DISABLED"
    assert job_of(api)["state"] == "paused"


def test_a_schedule_is_deleted_with_its_job(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule(**schedule())
    scheduler.delete_schedule(Name="nightly")
    assert api.send("GET", "/v1/namespaces/default/jobs/nightly").status == 404
    gone = ("ResourceNotFoundException", "Schedule nightly does not exist.")
    for call in (scheduler.get_schedule, scheduler.delete_schedule):
        assert refused(call, Name="nightly") == gone
    assert refused(scheduler.update_schedule, **schedule()) == gone


def test_a_job_that_was_not_written_as_a_schedule_is_none(scheduler: Any, api: Client) -> None:
    url = "/v1/namespaces/default/jobs/nightly"
    assert api.send("PUT", url, JOB).status == 201
    before = job_of(api)
    assert scheduler.list_schedules()["Schedules"] == []
    code, said = refused(scheduler.create_schedule, **schedule())
    assert (code, "was not written as a schedule" in said) == ("ConflictException", True)
    for call, arguments in (
        (scheduler.get_schedule, {"Name": "nightly"}),
        (scheduler.delete_schedule, {"Name": "nightly"}),
        (scheduler.update_schedule, schedule()),
    ):
        code, said = refused(call, **arguments)
        assert (code, "was not written as a schedule" in said) == ("ResourceNotFoundException", True)
    assert job_of(api) == before


def test_a_job_that_another_api_has_changed_says_so_until_it_is_updated(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule(**schedule())
    api.send("PATCH", "/v1/namespaces/default/jobs/nightly", {"description": "mine"})
    code, said = refused(scheduler.get_schedule, Name="nightly")
    assert (code, "was changed by Sweephand's own API" in said) == ("ConflictException", True)
    assert [each["Name"] for each in scheduler.list_schedules()["Schedules"]] == ["nightly"]
    scheduler.update_schedule(**schedule())
    assert "Description" not in scheduler.get_schedule(Name="nightly")


def test_a_pause_by_another_api_shows_as_disabled(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule(**schedule())
    api.send("POST", "/v1/namespaces/default/jobs/nightly/pause", {})
    assert scheduler.get_schedule(Name="nightly")["State"] == "DISABLED"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ScheduleExpression": "some cron"}, "Invalid Schedule Expression some cron."),
        ({"ScheduleExpression": "@every 1h"}, "Invalid Schedule Expression @every 1h."),
        ({"ScheduleExpression": "cron(0 9 * * * *)"}, "ScheduleExpression: "),
        ({"ScheduleExpression": "rate(0 minutes)"}, "ScheduleExpression: "),
        ({"ScheduleExpression": "rate(1 year)"}, "ScheduleExpression: "),
        ({"ScheduleExpression": "at(2020-01-01T00:00:00)"}, "ScheduleExpression: Its time has passed."),
        ({"ScheduleExpression": "at(soon)"}, "ScheduleExpression: "),
        ({"ScheduleExpression": "x" * 257}, "ScheduleExpression: Must have at most 256 characters."),
        ({"ScheduleExpressionTimezone": "Mars/Base"}, "ScheduleExpressionTimezone: "),
        ({"EndDate": NOW - dt.timedelta(hours=1)}, "ScheduleExpression: Its EndDate has passed"),
        (
            {"StartDate": NOW - dt.timedelta(minutes=6)},
            "The StartDate you specify cannot be earlier than 5 minutes ago.",
        ),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE"}}, "FlexibleTimeWindow.MaximumWindowInMinutes: "),
        (
            {"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1_441}},
            "FlexibleTimeWindow.MaximumWindowInMinutes: Must be at most 1440.",
        ),
        ({"FlexibleTimeWindow": {"Mode": "SOME"}}, "FlexibleTimeWindow.Mode: "),
        ({"KmsKeyArn": f"arn:aws:kms:{PLACE}:key/a"}, "KmsKeyArn: A stack has one key"),
        ({"State": "OFF"}, "State: "),
        ({"ActionAfterCompletion": "KEEP"}, "ActionAfterCompletion: "),
        ({"Name": "a" * 65}, "Name: "),
        ({"Name": "a~b"}, "Name: "),
        ({"GroupName": "a b"}, "GroupName: "),
        ({"Target": {"Arn": "arn1"}}, "Target.Arn: "),
        (
            {"Target": {"Arn": "arn:aws:scheduler:::aws-sdk:ec2:stopInstances"}},
            "Target.Arn: Its target is the call",
        ),
        (
            {"Target": {"Arn": f"arn:aws:ecs:{PLACE}:cluster/a"}},
            "Target.Arn: Sweephand has no target for ECS.",
        ),
        (
            {"Target": {"KinesisParameters": {"PartitionKey": "a"}}},
            "Target.Arn: Its target has KinesisParameters",
        ),
        ({"Target": {"RoleArn": "n/a"}}, "Target.RoleArn: Give the ARN of an IAM role"),
        (
            {"Target": {"Input": "text"}},
            "Target.Input: This target gets the text alone, and takes only JSON.",
        ),
        ({"Target": {"Arn": BUS, "Input": "[]"}}, "Target.Input: "),
        ({"Target": {"Arn": QUEUE, "Input": "a \ufffe"}}, "no U+FFFE, which is no character of XML 1.0."),
        ({"Target": {"Arn": QUEUE, "Input": '{"a":"\ufffe"}'}}, "Target.Input: "),
        ({"Target": {"Arn": "https://a.example", "Input": "text"}}, "Target.Arn: An https address gets JSON"),
        (
            {"Target": {"Arn": "https://a.example", "Input": '"<aws.scheduler.execution-id>"'}},
            "Target.Arn: An https address gets its Input as it is",
        ),
        (
            {"Target": {"Arn": "https://a.example", "Input": '{"a":1,"a":2}'}},
            "Target.Input: An https address gets its Input as the body. The name 'a' stands twice",
        ),
        ({"Target": {"Arn": "https://a.example", "Input": "[" * 65 + "]" * 65}}, "at most 64 levels."),
        ({"Target": {"Arn": "https://a.example", "Input": '"\\ud800"'}}, "half of a surrogate pair."),
        ({"Target": {"Arn": "https://a.example", "Input": "NaN"}}, "NaN is not JSON."),
        ({"Target": {"Input": "1" * 270_000}}, "bytes of compact JSON; give at most"),
        (
            {"Target": {"RetryPolicy": {"MaximumRetryAttempts": 186}}},
            "Target.RetryPolicy.MaximumRetryAttempts: ",
        ),
        (
            {"Target": {"RetryPolicy": {"MaximumEventAgeInSeconds": 59}}},
            "Target.RetryPolicy.MaximumEventAgeInSeconds: ",
        ),
        ({"Target": {"DeadLetterConfig": {"Arn": FUNCTION}}}, "Target.DeadLetterConfig.Arn: "),
    ],
    ids=lambda each: str(each)[:60],
)
def test_bad_input_is_refused_as_aws_refuses_it_and_leaves_nothing(
    api: Client, fields: dict[str, Any], said: str
) -> None:
    # boto3 would check some bounds itself.
    scheduler = scheduler_of(api, config=Config(parameter_validation=False))
    wanted = schedule(**fields) if "Name" not in fields else schedule(fields["Name"])
    code, message = refused(scheduler.create_schedule, **wanted)
    assert (code, said in message) == ("ValidationException", True), message
    assert scheduler.list_schedules()["Schedules"] == []


@pytest.mark.parametrize(
    "text",
    ["", "x", "{}", "[]", '{"schedule":1}', '{"schedule":{},"call":"","asked":"","digest":"","has_input":1}'],
)
def test_no_other_text_takes_the_place_of_what_was_written(api: Client, text: str) -> None:
    answer = api.send("PUT", "/v1/namespaces/default/jobs/nightly", JOB | {"eventbridge": text})
    assert (answer.status, answer.pointers) == (422, ["/eventbridge"])


def test_a_job_moves_to_another_stack_as_the_schedule_that_it_is(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule(**schedule(Description="The report."))
    job = job_of(api)
    written = ("schedule", "target", "data", "retry", "retention", "description", "eventbridge")
    copy = {name: job[name] for name in written}
    assert api.send("PUT", "/v1/namespaces/other/jobs/nightly", copy).status == 201
    found = shown(scheduler.get_schedule(Name="nightly", GroupName="other"))
    assert found["Description"] == "The report."
