"""What becomes of each field of a schedule, and which schedules cannot be moved."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from tests.unit.client.eventbridge.conftest import (
    BUS,
    FUNCTION,
    MACHINE,
    NOW,
    QUEUE,
    ROLE,
    TOPIC,
    Account,
)

from sweephand.jobs.eventbridge.targets import queue_url
from sweephand_client.http import exact_json
from sweephand_client.tasks.eventbridge.report import needed
from sweephand_client.tasks.eventbridge.source import MOVED, Source
from sweephand_client.tasks.eventbridge.translation import translate

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-orders"
LATER = NOW + dt.timedelta(days=30)
RETRY = {"maxAttempts": 186, "maxAge": "86400s"}


def definition(account: Account, *, with_roles: bool = True) -> dict[str, Any]:
    """The definition of the job of the only schedule, without what it was written as."""
    job = account.move(with_roles=with_roles).job
    assert job is not None
    return {name: value for name, value in job.definition.items() if name != "eventbridge"}


def raw(account: Account) -> dict[str, str]:
    """The fields that every target of AWS gets."""
    return {"format": "raw", "scheduleArn": account.show("a")["Arn"]}


def changes(account: Account) -> str:
    """What changes for the only schedule."""
    return " ".join(account.move().changes)


def test_a_plain_schedule_moves_as_it_is(account: Account) -> None:
    account.put("a", Description="The report.", ScheduleExpressionTimezone="Asia/Tokyo")
    move = account.move()
    assert (move.outcome, move.namespace, move.changes, move.job and move.job.paused) == (
        "as-it-is",
        "default",
        (),
        None,
    )
    assert definition(account) == {
        "description": "The report.",
        "schedule": "cron(0 9 * * ? *)",
        "timezone": "Asia/Tokyo",
        "target": {"type": "sqs", "queueUrl": URL, "roleArn": ROLE, **raw(account)},
        "data": {"order": 1},
        "retry": RETRY,
    }


@pytest.mark.parametrize(
    ("target", "made", "parameter"),
    [
        (
            {"Arn": f"{QUEUE}.fifo", "SqsParameters": {"MessageGroupId": "customer-7"}},
            {"type": "sqs", "queueUrl": f"{URL}.fifo", "messageGroupId": "customer-7"},
            "TargetQueueArns",
        ),
        ({"Arn": FUNCTION}, {"type": "lambda", "functionArn": FUNCTION}, "TargetFunctionArns"),
        ({"Arn": TOPIC}, {"type": "sns", "topicArn": TOPIC}, "TargetTopicArns"),
        (
            {"Arn": BUS, "EventBridgeParameters": {"DetailType": "Order due", "Source": "orders"}},
            {"type": "eventbridge", "busArn": BUS, "detailType": "Order due", "source": "orders"},
            "TargetBusArns",
        ),
        (
            {"Arn": MACHINE},
            {"type": "stepfunctions", "stateMachineArn": MACHINE},
            "TargetStateMachineArns",
        ),
    ],
)
def test_a_target_keeps_its_role_or_asks_to_be_listed(
    account: Account, target: dict[str, Any], made: dict[str, Any], parameter: str
) -> None:
    account.put("a", Target=target)
    made |= raw(account)
    assert definition(account)["target"] == {**made, "roleArn": ROLE}
    assert needed([account.move()]) == {
        "parameters": {"TargetRoleArns": [ROLE]},
        "roles": {ROLE: ["sweephand/default"]},
    }
    assert definition(account, with_roles=False)["target"] == made
    found = needed([account.move(with_roles=False)])
    assert found == {"parameters": {parameter: [target["Arn"]]}, "roles": {}}


def test_an_address_becomes_an_http_target_without_a_role(account: Account) -> None:
    account.put("a", Target={"Arn": "https://example.com/hook"})
    assert definition(account)["target"] == {"type": "http", "url": "https://example.com/hook"}
    assert needed([account.move()]) == {"parameters": {}, "roles": {}}


@pytest.mark.parametrize("arn", [FUNCTION, BUS, MACHINE, QUEUE, TOPIC])
def test_a_consumer_gets_what_it_got_before(account: Account, arn: str) -> None:
    account.put("a", Target={"Arn": arn, "Input": '{"order": 1}'})
    move = account.move()
    assert (move.outcome, definition(account)["data"]) == ("as-it-is", '{"order": 1}')
    target = definition(account)["target"]
    assert (target["format"], target["scheduleArn"]) == ("raw", account.show("a")["Arn"])


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"order":1.10}', {"order": Decimal("1.10")}),
        ("Good morning", "Good morning"),
        ('"quoted"', '"quoted"'),
        ('{"a":1,"a":2}', '{"a":1,"a":2}'),
        ("<aws.scheduler.scheduled-time>", "<aws.scheduler.scheduled-time>"),
    ],
)
def test_any_input_is_moved(account: Account, text: str, data: object) -> None:
    account.put("a", Target={"Input": text})
    assert simplejson.loads(exact_json.write(definition(account)["data"]), use_decimal=True) == data


def test_without_an_input_the_notification_of_eventbridge_is_sent(account: Account) -> None:
    account.put("a", Target={"Input": None})
    assert definition(account)["data"]["detail-type"] == "Scheduled Event"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"Arn": "arn:aws:ecs:eu-west-1:123456789012:cluster/main"}, "Sweephand has no target for ECS"),
        (
            {"Arn": "arn:aws:kinesis:eu-west-1:123456789012:stream/main"},
            "Sweephand has no target for Kinesis",
        ),
        (
            {"Arn": "arn:aws:states:eu-west-1:123456789012:activity:main"},
            "Sweephand has no target for states",
        ),
        (
            {"Arn": BUS, "EventBridgePutEventsV2Parameters": {"DetailType": "a", "Source": "b"}},
            "Its target has EventBridgePutEventsV2Parameters, which no target of Sweephand has.",
        ),
        ({"Arn": "arn:aws:xray"}, "Sweephand has no target for arn:aws:xray"),
        (
            {"Arn": "arn:aws:scheduler:::aws-sdk:ec2:stopInstances"},
            "Its target is the call ec2:stopInstances of AWS's API",
        ),
        (
            {"Arn": "arn:aws:events:eu-west-1:123456789012:api-destination/main/1"},
            "Its target is an API destination.",
        ),
    ],
)
def test_what_a_job_cannot_say_is_not_moved(account: Account, target: dict[str, Any], said: str) -> None:
    account.put("a", Target=target)
    move = account.move()
    assert (move.outcome, move.job, move.needs) == ("not-moved", None, frozenset())
    assert move.reason.startswith(said)


@pytest.mark.parametrize(
    ("expression", "fields", "said"),
    [
        ("at(2026-11-21T12:00:00)", {}, "Its time has passed."),
        ("at(2026-11-21T12:59:00)", {"ScheduleExpressionTimezone": "Europe/Paris"}, "Its time has passed."),
        ("rate(1 hour)", {"EndDate": NOW}, "Its EndDate has passed"),
    ],
)
def test_what_would_not_fire_any_more_is_not_moved(
    account: Account, expression: str, fields: dict[str, Any], said: str
) -> None:
    account.put("a", expression, **fields)
    assert account.move().reason.startswith(said)


def test_a_one_time_schedule_ignores_start_and_end(account: Account) -> None:
    account.put("a", "at(2026-11-21T12:00:01)", StartDate=LATER, EndDate=NOW)
    found = definition(account)
    assert (found["schedule"], "dueTime" in found, "ttl" in found) == (
        "at(2026-11-21T12:00:01)",
        False,
        False,
    )


def test_a_rate_keeps_its_phase_from_its_start_or_its_creation_on(account: Account) -> None:
    account.put("a", "rate(2 days)")
    assert definition(account)["schedule"] == "R/2026-11-21T12:00:00Z/PT48H"
    account.client.delete_schedule(Name="a")
    account.put("a", "rate(90 minutes)", StartDate=LATER, EndDate=LATER + dt.timedelta(days=1))
    found = definition(account)
    assert (found["schedule"], found["ttl"]) == ("R/2026-12-21T12:00:00Z/PT90M", "2026-12-22T12:00:00Z")
    assert "which keeps its phase" in changes(account)


def test_a_start_bounds_a_cron_until_it_has_passed(account: Account) -> None:
    account.put("a", "cron(0 9 1 1 ? 2030)", StartDate=NOW - dt.timedelta(minutes=1))
    assert "dueTime" not in definition(account)
    account.client.delete_schedule(Name="a")
    account.put("a", StartDate=LATER)
    assert definition(account)["dueTime"] == "2026-12-21T12:00:00Z"


def test_a_missing_local_time_is_skipped_as_in_eventbridge(account: Account) -> None:
    account.put("a", "cron(*/10 * * * ? *)", ScheduleExpressionTimezone="Europe/Paris")
    assert definition(account)["dst"] == {"gap": "skip"}
    assert "In the hour that a clock change repeats" in changes(account)


def test_a_flexible_window_is_jitter(account: Account) -> None:
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1_440}
    account.put("a", FlexibleTimeWindow=window, EndDate=LATER)
    assert definition(account)["jitter"] == "PT1440M"
    assert "The job fires at one offset in it" in changes(account)
    assert "one more or one less can fire at each end" in changes(account)


def test_the_other_fields_of_a_schedule(account: Account) -> None:
    account.put(
        "a",
        State="DISABLED",
        ActionAfterCompletion="DELETE",
        KmsKeyArn="arn:aws:kms:eu-west-1:123456789012:key/1",
        Target={
            "DeadLetterConfig": {"Arn": f"{QUEUE}-dead"},
            "RetryPolicy": {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0},
        },
    )
    move, found = account.move(), definition(account)
    assert move.job is not None
    assert move.job.paused == "It was disabled in EventBridge Scheduler."
    assert found["retry"] == {"maxAttempts": 1, "maxAge": "60s"}
    assert (found["deleteAfterCompletion"], found["deadLetterQueue"]) == (True, f"{URL}-dead")
    assert "A dead letter says what happened" in changes(account)
    assert "encrypts the job, and not that of the schedule" in changes(account)
    assert needed([move])["parameters"]["TargetQueueArns"] == [f"{QUEUE}-dead"]


def test_a_field_that_nobody_knows_yet_is_told(account: Account) -> None:
    account.put("a")
    (schedule,) = Source(account.client).read()
    newer = replace(schedule, shown={**schedule.shown, "Calendar": "FR"})
    (move,) = translate([newer], namespace=None, now=NOW, with_roles=True)
    assert move.changes == ("No field of a job is like Calendar. It is left out.",)


def test_a_group_with_many_tags_leaves_room_for_the_label_of_its_file(account: Account) -> None:
    account.group("orders", **{f"tag-{number:02d}": "x" for number in range(25)})
    account.put("a", GroupName="orders")
    assert len(definition(account)["labels"]) == 19


def test_tags_of_a_group_become_labels_of_its_jobs(account: Account) -> None:
    account.group("orders", team="shop", **{"aws:stack": "x", "long": "x" * 129})
    account.put("a", GroupName="orders")
    assert definition(account)["labels"] == {"team": "shop"}
    assert "Some tags of the group cannot be labels" in changes(account)


def test_a_schedule_that_was_moved_before_is_not_moved_again_until_it_is_enabled(account: Account) -> None:
    account.put("a", State="DISABLED", Description=f"The report. {MOVED}")
    assert account.move().outcome == "moved-before"
    account.client.delete_schedule(Name="a")
    account.put("a", Description=f"The report. {MOVED}")
    assert (account.move().outcome, definition(account)["description"]) == ("as-it-is", "The report.")


def test_equal_names_of_two_groups_do_not_share_a_namespace(account: Account) -> None:
    for group in ("orders", "mail"):
        account.group(group)
        for name in ("report", group):
            account.put(name, GroupName=group)
    moves = {f"{each.schedule.group}/{each.schedule.name}": each for each in account.moves("all")}
    assert {name for name, each in moves.items() if each.job is None} == {"mail/report", "orders/report"}
    assert moves["mail/report"].reason.startswith("The groups mail, orders have a schedule of this name")
    assert moves["mail/mail"].namespace == "all"
    assert [each.outcome for each in account.moves()] == ["as-it-is"] * 4


def test_a_name_of_dots_alone_is_no_name_of_a_job(account: Account) -> None:
    account.put("..")
    assert account.move().reason.startswith("No job can have this name.")


@pytest.mark.parametrize(
    ("partition", "region", "domain"),
    [
        ("aws", "eu-west-1", "amazonaws.com"),
        ("aws-cn", "cn-north-1", "amazonaws.com.cn"),
        ("aws-us-gov", "us-gov-west-1", "amazonaws.com"),
        ("aws-eusc", "eusc-de-east-1", "amazonaws.eu"),
    ],
)
def test_a_queue_has_the_address_of_its_partition(partition: str, region: str, domain: str) -> None:
    url = queue_url(f"arn:{partition}:sqs:{region}:123456789012:orders.fifo")
    assert url == f"https://sqs.{region}.{domain}/123456789012/orders.fifo"
