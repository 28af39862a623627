"""The commands of recovery.md about lost tables, in their order, make the tables that a stack needs."""

import re
from collections.abc import Iterator
from typing import Any, Final

import boto3
import pytest
from moto import mock_aws
from tests.fakes.tables import template
from tests.unit.docs.aws_commands import Shell
from tests.unit.docs.blocks import ROOT, blocks, commands

OUTPUTS: Final = {"JobsTableName": "stack-jobs", "TimersTableName": "stack-timers"}
TABLES: Final = {"JobsTableName": "JobsTable", "TimersTableName": "TimersTable"}

CREATED_WITH: Final = ("AttributeDefinitions", "KeySchema", "BillingMode")

PAGE: Final = ROOT / "docs" / "recovery.md"


def of_section(title: str) -> list[str]:
    """The commands of a section, in their order."""
    text = PAGE.read_text("utf-8")
    [section] = re.findall(rf"^### {title}\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    of_page = [block.text for block in blocks(PAGE, "sh")]
    indented = re.sub(r"^ +", "", section, flags=re.MULTILINE)
    shown = [each for each in of_page if re.sub(r"^ +", "", each, flags=re.MULTILINE) in indented]
    return [command for block in shown for command in commands(block)]


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The two tables of a stack as the template makes them, with an item in each."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        client = boto3.client("dynamodb")
        for output, name in OUTPUTS.items():
            wanted = template()["Resources"][TABLES[output]]["Properties"]
            client.create_table(TableName=name, **{each: wanted[each] for each in CREATED_WITH})
            client.update_time_to_live(
                TableName=name, TimeToLiveSpecification=wanted["TimeToLiveSpecification"]
            )
            client.update_continuous_backups(
                TableName=name, PointInTimeRecoverySpecification=wanted["PointInTimeRecoverySpecification"]
            )
            client.put_item(TableName=name, Item=ITEM)
        yield client


ITEM: Final = {"pk": {"S": "jobs#ns#3"}, "sk": {"S": "backup"}, "rev": {"S": "1-a"}, "until": {"N": "7"}}


def assert_as_in_the_template(client: Any, output: str) -> None:
    wanted, name = template()["Resources"][TABLES[output]]["Properties"], OUTPUTS[output]
    table = client.describe_table(TableName=name)["Table"]
    assert table["KeySchema"] == wanted["KeySchema"]
    assert table["AttributeDefinitions"] == wanted["AttributeDefinitions"]
    # DynamoDB keeps the billing mode of the source at a restore. moto does not.
    assert table["BillingModeSummary"].get("BillingMode", "PAY_PER_REQUEST") == wanted["BillingMode"]
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert ttl == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": wanted["TimeToLiveSpecification"]["AttributeName"],
    }
    recovery = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def test_the_commands_for_an_empty_timers_table_make_the_table_of_the_template(dynamodb: Any) -> None:
    dynamodb.delete_table(TableName=OUTPUTS["TimersTableName"])
    shell = Shell(OUTPUTS)
    for command in of_section("An empty Timers table"):
        shell.run(command)
    assert_as_in_the_template(dynamodb, "TimersTableName")
    assert dynamodb.scan(TableName=OUTPUTS["TimersTableName"])["Count"] == 0


def test_the_commands_of_a_restore_bring_the_jobs_back_into_a_table_as_the_template_has_it(
    dynamodb: Any,
) -> None:
    shell, looked = Shell(OUTPUTS), []
    for command in of_section("Restoring the Jobs table"):
        answer = shell.run(command)
        if "wait table-exists --table-name jobs-restored" in command:
            # The damage goes on until the table is deleted.
            dynamodb.put_item(TableName=OUTPUTS["JobsTableName"], Item={**ITEM, "sk": {"S": "damage"}})
            looked.append(dynamodb.scan(TableName="jobs-restored")["Items"])
        if "BackupStatus" in command:
            assert answer == "AVAILABLE"
    assert looked == [[ITEM]]
    assert dynamodb.scan(TableName=OUTPUTS["JobsTableName"])["Items"] == [ITEM]
    assert_as_in_the_template(dynamodb, "JobsTableName")


@pytest.mark.parametrize("left_out", ["update-time-to-live", "update-continuous-backups"])
def test_a_restored_table_lacks_what_the_last_commands_set(dynamodb: Any, left_out: str) -> None:
    shell = Shell(OUTPUTS)
    for command in of_section("Restoring the Jobs table"):
        if left_out not in command:
            shell.run(command)
    with pytest.raises(AssertionError):
        assert_as_in_the_template(dynamodb, "JobsTableName")
