"""Tests of EventBridge Scheduler that moto and ministack have, run against a stack of Sweephand.

The stack stands in their place (pytest -p tests.e2e.foreign_scheduler). In a copy of the tests, valid values
replace those that AWS refuses, and so does the stack.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from infra.local.places import ROOT

from sweephand_client import eventbridge
from sweephand_client.profiles import Stack

_ROLE: Final = '"arn:aws:iam::123456789012:role/my-deliveries"'


class Suite(NamedTuple):
    """The tests of one project.

    `replaced` are texts of them and what stands in their place. `ends` begins what looks into the project
    itself. `cases` is their number, and `refused` the tests that cannot pass, each with its reason.
    """

    name: str
    replaced: Mapping[str, str]
    cases: int
    refused: Mapping[str, str]
    ends: str = r"\Z"


_TAGS: Final = "it tags a schedule, and AWS takes tags of groups alone"

SUITES: Final = (
    Suite(
        "moto",
        {
            '"not supported yet"': '"https://consumer.example/hook"',
            '"different arn"': '"https://consumer.example/other"',
            '"arn1"': '"https://consumer.example/hook"',
            '"n/a"': _ROLE,
            '"arn2"': _ROLE,
            '"some cron"': '"cron(0 9 * * ? *)"',
            '"some cron *"': '"cron(0 9 * * ? *)"',
            '"new cron"': '"cron(0 10 * * ? *)"',
            "at(2022-12-12T00:00:00)": "at(2092-12-12T00:00:00)",
            "from moto.core import DEFAULT_ACCOUNT_ID": 'DEFAULT_ACCOUNT_ID = "123456789012"',
            "from moto import mock_aws": f"from {__name__} import mock_aws",
            "from moto import server as server": "",
            "from tests.test_scheduler": "from foreign_tests",
        },
        26,
        {"test_schedule_tags": _TAGS, "test_list_tags": "it asks moto's web server"},
    ),
    Suite(
        "ministack",
        {
            "import ministack.services.scheduler as scheduler_mod": "",
            "arn:aws:iam::000000000000:role/test": _ROLE.strip('"'),
        },
        21,
        {
            "test_scheduler_groups_schedules_and_tags_are_region_scoped": "a stack is in one region",
            "test_scheduler_tag_schedule": _TAGS,
        },
        "def test_scheduler_cfn_creates_schedule",
    ),
)


def client(*_: object, **__: object) -> Any:
    """Stands in the place of `boto3.client`."""
    return eventbridge.client(Stack(os.environ["ASKED_URL"], "the test", key=os.environ["ASKED_KEY"]))


def mock_aws(function: Callable[..., None]) -> Callable[..., None]:
    """Stands in the place of moto's decorator."""
    return function


def copy_of(suite: Suite, target: Path, arn: str) -> None:
    """Copy the tests, for the account and the region in the ARN of a group of the stack."""
    _, _, _, region, account, _ = arn.split(":", 5)
    replaced = {
        "import boto3": f"import {__name__} as boto3",
        **suite.replaced,
        **dict.fromkeys(("eu-west-1", "us-east-1", "ap-southeast-1"), region),
        **dict.fromkeys(("123456789012", "000000000000"), account),
    }
    target.mkdir()
    for file in (ROOT / ".local" / f"{suite.name}-tests").glob("*.py"):
        text = re.split(suite.ends, file.read_text(encoding="utf-8"))[0]
        text = re.sub(r"from ministack\S+ import \([^)]*\)", "", text)
        for old, new in replaced.items():
            text = text.replace(old, new)
        (target / file.name).write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def _empty() -> None:
    """Each of the tests begins with an empty service."""
    scheduler = client()
    for page in scheduler.get_paginator("list_schedule_groups").paginate():
        for group in page["ScheduleGroups"]:
            if group["Name"] != "default":
                scheduler.delete_schedule_group(Name=group["Name"])
    for page in scheduler.get_paginator("list_schedules").paginate():
        for each in page["Schedules"]:
            scheduler.delete_schedule(Name=each["Name"], GroupName=each["GroupName"])
