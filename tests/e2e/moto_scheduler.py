"""moto's own tests of EventBridge Scheduler, run against a stack (pytest -p tests.e2e.moto_scheduler).

The stack stands in the place of moto. Values that AWS refuses, and so does the stack, are replaced by valid
ones in a copy of the tests.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from sweephand_client import eventbridge
from sweephand_client.profiles import Stack

#: What moto takes and AWS refuses, and what stands in its place.
REPLACED: Final = {
    '"not supported yet"': '"https://consumer.example/hook"',
    '"different arn"': '"https://consumer.example/other"',
    '"arn1"': '"https://consumer.example/hook"',
    '"n/a"': '"arn:aws:iam::123456789012:role/deliveries"',
    '"arn2"': '"arn:aws:iam::123456789012:role/deliveries"',
    '"some cron"': '"cron(0 9 * * ? *)"',
    '"some cron *"': '"cron(0 9 * * ? *)"',
    '"new cron"': '"cron(0 10 * * ? *)"',
    "at(2022-12-12T00:00:00)": "at(2092-12-12T00:00:00)",
}

#: The tests that cannot pass, and why.
REFUSED: Final = {
    "test_schedule_tags": "it tags a schedule, and AWS takes tags of groups alone",
}


def stack_of(environment: Any = os.environ) -> Stack:
    return Stack(environment["MOTO_STACK_URL"], "the test", key=environment["MOTO_STACK_KEY"])


def copy_of_the_tests(there: Path, here: Path, arn: str) -> None:
    """Copy moto's tests, for the account and the region in the ARN of a group of the stack."""
    _, _, _, region, account, _ = arn.split(":", 5)
    replaced = {
        **dict.fromkeys(("eu-west-1", "us-east-1", "ap-southeast-1"), region),
        "123456789012": account,
        "from moto.core import DEFAULT_ACCOUNT_ID": f'DEFAULT_ACCOUNT_ID = "{account}"',
        "from moto import mock_aws": f"from {__name__} import mock_aws",
        "import boto3": f"import {__name__} as boto3",
        "from tests.test_scheduler": "from motos_tests",
        **REPLACED,
    }
    target = here / "motos_tests"
    target.mkdir()
    for file in there.glob("*.py"):
        if file.name == "test_server.py":  # it tests moto's web server
            continue
        text = file.read_text(encoding="utf-8")
        for old, new in replaced.items():
            text = text.replace(old, new)
        (target / file.name).write_text(text, encoding="utf-8")


def client(*_: object, **__: object) -> Any:
    """Stands in the place of `boto3.client`."""
    return eventbridge.client(stack_of())


def mock_aws(function: Callable[..., None]) -> Callable[..., None]:
    """Stands in the place of moto's decorator."""
    return function


@pytest.fixture(autouse=True)
def _empty() -> None:
    """Each test of moto begins with an empty service."""
    scheduler = client()
    for page in scheduler.get_paginator("list_schedule_groups").paginate():
        for group in page["ScheduleGroups"]:
            if group["Name"] != "default":
                scheduler.delete_schedule_group(Name=group["Name"])
    for page in scheduler.get_paginator("list_schedules").paginate():
        for each in page["Schedules"]:
            scheduler.delete_schedule(Name=each["Name"], GroupName=each["GroupName"])
