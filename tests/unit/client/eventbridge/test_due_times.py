"""Jobs that were moved fire when EventBridge Scheduler would have fired their schedules."""

import datetime as dt
from itertools import islice
from typing import Any, Final

import pytest
import time_machine
from tests.unit.client.eventbridge.conftest import (
    BUS,
    FUNCTION,
    MACHINE,
    NOW,
    QUEUE,
    TOPIC,
    Account,
)
from tests.unit.client.eventbridge.oracle import due_times

from sweephand_client.api.client import Client
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.eventbridge.translation import jobs_files
from sweephand_engine.testing import Stack

#: Each target type, with the parameters that are its own.
TARGETS: Final[tuple[dict[str, Any], ...]] = (
    {"Arn": QUEUE},
    {"Arn": f"{QUEUE}.fifo", "SqsParameters": {"MessageGroupId": "customer-7"}},
    {"Arn": FUNCTION},
    {"Arn": TOPIC, "DeadLetterConfig": {"Arn": QUEUE}},
    {"Arn": BUS, "EventBridgeParameters": {"DetailType": "Order due", "Source": "orders"}},
    {"Arn": MACHINE, "RetryPolicy": {"MaximumEventAgeInSeconds": 3_600, "MaximumRetryAttempts": 0}},
)

CRONS: Final = (
    "0 9 * * ? *",
    "*/15 8-18 ? * MON-FRI *",
    "30 2 1 * ? *",
    "0 10 ? * 6L *",
    "0 0 L * ? *",
    "15 12 15W * ? *",
    "0 8 ? * 2#1 *",
    "0 6 ? * 2,4,6 2027",
    "5/20 3 ? JAN-MAR SUN *",
    "59 23 29 2 ? *",
    "0 0,12 1,15 * ? 2027-2029",
    "45 1 ? * L *",
    "10 4-22/6 * * ? *",
)
ZONES: Final = ("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata")
RATES: Final = ("rate(1 minute)", "rate(5 minutes)", "rate(1 hour)", "rate(7 hours)", "rate(1 day)")
ONCE: Final = ("at(2027-03-01T09:00:00)", "at(2026-11-21T13:00:01)")

#: The night in which the clock springs forward, and the one in which it falls back.
CLOCK_CHANGES: Final = (
    ("cron(30 2 * * ? *)", "Europe/Paris", dt.datetime(2027, 3, 25, tzinfo=dt.UTC)),
    ("cron(0 3 * * ? *)", "Europe/Paris", dt.datetime(2027, 3, 25, tzinfo=dt.UTC)),
    ("cron(30 2 * * ? *)", "America/New_York", dt.datetime(2027, 3, 11, tzinfo=dt.UTC)),
    ("cron(30 2 * * ? *)", "Europe/Paris", dt.datetime(2027, 10, 28, tzinfo=dt.UTC)),
    ("cron(15 1,2 ? * SUN *)", "America/New_York", dt.datetime(2027, 11, 1, tzinfo=dt.UTC)),
)


def schedules() -> list[dict[str, Any]]:
    """Sixty and more schedules: every expression, with zones, windows, bounds and targets in turn."""
    found: list[dict[str, Any]] = [
        {"ScheduleExpression": f"cron({cron})", "ScheduleExpressionTimezone": ZONES[(at + turn) % 4]}
        for turn in range(3)
        for at, cron in enumerate(CRONS)
    ]
    found += [{"ScheduleExpression": rate} for rate in RATES for _ in range(3)]
    found += [
        {"ScheduleExpression": once, "ScheduleExpressionTimezone": zone}
        for once in ONCE
        for zone in ZONES[:3]
    ]
    found += [
        {"ScheduleExpression": cron, "ScheduleExpressionTimezone": zone, "StartDate": start}
        for cron, zone, start in CLOCK_CHANGES
    ]
    for at, each in enumerate(found):
        recurs = not each["ScheduleExpression"].startswith("at(")
        if recurs and at % 5 == 1:
            each.setdefault("StartDate", NOW + dt.timedelta(days=at, hours=1))
        if recurs and at % 7 == 1:
            each["EndDate"] = each.get("StartDate", NOW) + dt.timedelta(days=40, minutes=at)
        if at % 6 == 4 and "EndDate" not in each and "StartDate" not in each:
            each["FlexibleTimeWindow"] = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": at}
        each["State"] = "DISABLED" if at % 4 == 3 else "ENABLED"
        each["GroupName"] = ("default", "orders", "mail")[at % 3]
        each["Target"] = TARGETS[at % len(TARGETS)]
    return found


def test_sixty_schedules_of_each_kind_fire_as_aws_says(account: Account, client: Client) -> None:
    account.group("orders")
    account.group("mail")
    given = {f"s{at:02}": fields for at, fields in enumerate(schedules())}
    assert len(given) >= 60
    created = {}
    for at, (name, fields) in enumerate(given.items()):
        created[name] = NOW - dt.timedelta(hours=7 * at, minutes=at, seconds=37)
        with time_machine.travel(created[name], tick=False):
            account.put(name, fields["ScheduleExpression"], **_without(fields, "ScheduleExpression"))

    moves = {each.schedule.name: each for each in account.moves()}
    refused = set()
    for namespace, (file, _) in jobs_files(moves.values()).items():
        for done in carry_out(client, namespace, plan(client, namespace, file)):
            refused |= {done.step.name} if done.problem else set()

    windows = 0
    for name, fields in given.items():
        expected = next_ten(fields, created[name])
        if not expected:
            # Its EndDate comes before its first due time. The API says so.
            refused.remove(name)
            continue
        job = client.jobs.get(moves[name].namespace, name)
        state = "paused" if fields["State"] == "DISABLED" else "active"
        assert (moves[name].namespace, job["state"]) == (fields["GroupName"], state)
        shown = client.jobs.occurrences(moves[name].namespace, name, limit=11)["occurrences"]
        found = [dt.datetime.fromisoformat(each["utc"]) for each in shown]
        if minutes := fields.get("FlexibleTimeWindow", {}).get("MaximumWindowInMinutes", 0):
            windows += 1
            assert is_moved_by_one_offset(found, expected, dt.timedelta(minutes=minutes)), (name, fields)
        else:
            assert found[:10] == expected, (name, fields)
    assert (windows >= 5, refused) == (True, set())


@pytest.mark.parametrize("arn", [QUEUE, f"{QUEUE}.fifo", TOPIC, "https://example.com/hook"])
@pytest.mark.parametrize(
    "text", ['{"order":1.10,"long":12345678901234567890}', '["Größe",null,"\\"\\\\"]', '"text"', "0", "{}"]
)
def test_an_input_that_moves_as_it_is_arrives_byte_for_byte(account: Account, arn: str, text: str) -> None:
    account.put("once", "at(2026-11-21T13:00:00)", Target={"Arn": arn, "Input": text})
    move = account.move()
    assert (move.changes, move.job is None) == ((), False)
    assert move.job is not None
    with Stack(NOW) as stack:
        stack.deliver_to(lambda _: 204)
        stack.client.jobs.put("default", "once", move.job.definition)
        stack.travel("2h")
        (delivery,) = stack.deliveries
        assert (delivery.body.decode(), delivery.at) == (text, NOW + dt.timedelta(hours=1))


def next_ten(fields: dict[str, Any], created: dt.datetime) -> list[dt.datetime]:
    """The next ten due times by the oracle."""
    found = due_times(
        fields["ScheduleExpression"],
        zone=fields.get("ScheduleExpressionTimezone", "UTC"),
        start=fields.get("StartDate"),
        end=fields.get("EndDate"),
        created=created,
        after=NOW,
    )
    return [*islice(found, 10)]


def is_moved_by_one_offset(
    found: list[dt.datetime], expected: list[dt.datetime], window: dt.timedelta
) -> bool:
    """Whether one offset in the window moves the due times. It may have moved an earlier one after noon."""
    ways = (found[skipped : skipped + len(expected)] for skipped in range(len(found) - len(expected) + 1))
    offsets = [{at - due for at, due in zip(way, expected, strict=True)} for way in ways]
    return any(len(each) == 1 and dt.timedelta() <= min(each) < window for each in offsets)


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in fields.items() if each != name}
