"""`sweephand destroy`: what a person reads before the stack is deleted, and what is asked of AWS."""

import pytest
from tests.unit.deploy.conftest import ARN, Account, Step, event

from sweephand_deploy.destroy import destroy
from sweephand_deploy.errors import InputError, RefusedError


def destroyed(account: Account, role_arn: str | None = None) -> bool:
    return destroy(account.session, "sweephand", role_arn, account.talk)


def resource(name: str, kind: str, status: str = "CREATE_COMPLETE") -> dict[str, str]:
    return {
        "LogicalResourceId": name,
        "PhysicalResourceId": f"sweephand-{name}",
        "ResourceType": kind,
        "ResourceStatus": status,
    }


@pytest.fixture
def standing(account: Account) -> Account:
    """An account with a stack of a table, a queue and two resources more."""
    cloud = account.cloudformation
    cloud.has("UPDATE_COMPLETE")
    cloud.resources = [
        resource("FlowQueue", "AWS::SQS::Queue"),
        resource("JobsTable", "AWS::DynamoDB::Table"),
        resource("Lists", "Custom::Lists"),
        resource("TickLogGroup", "AWS::Logs::LogGroup"),
        resource("OldQueue", "AWS::SQS::Queue", "DELETE_COMPLETE"),
    ]
    cloud.processed = {
        "Resources": {
            "FlowQueue": {"Type": "AWS::SQS::Queue"},
            "JobsTable": {"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "RetainExceptOnCreate"},
            "Lists": {"Type": "Custom::Lists", "DeletionPolicy": "Retain"},
            "Absent": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Condition": "Never"},
        }
    }
    return account


def test_it_says_what_stays_and_what_would_be_lost_before_it_asks(standing: Account) -> None:
    standing.answer = False
    assert not destroyed(standing)
    assert standing.said == [
        "3 resources are deleted. Lost for good are:",
        "  the messages in FlowQueue: triggers on their way, and dead letters",
        "  the logs of all functions, and the address of the API",
        "These stay with all that is in them, and go on to cost what they store:",
        "  JobsTable        sweephand-JobsTable",
    ]
    assert standing.questions == ["Delete the stack sweephand in eu-west-1?"]
    assert standing.cloudformation.calls == []


def test_it_deletes_the_stack_and_follows(standing: Account) -> None:
    standing.cloudformation.steps = [
        Step("DELETE_IN_PROGRESS", [event("JobsTable", "DELETE_SKIPPED")]),
        Step("DELETE_COMPLETE", [event("FlowQueue", "DELETE_COMPLETE")]),
    ]
    assert destroyed(standing, "arn:role")
    assert standing.cloudformation.asked("delete_stack") == {"StackName": ARN, "RoleARN": "arn:role"}
    assert standing.said[-1] == "[  2 of 4] DELETE_COMPLETE             FlowQueue"


def test_what_could_not_be_deleted_is_told_with_the_reason(standing: Account) -> None:
    failed = event("FlowQueue", "DELETE_FAILED", "Access denied")
    standing.cloudformation.steps = [Step("DELETE_FAILED", [failed])]
    with pytest.raises(
        RefusedError, match=r"DELETE_FAILED\.\n  FlowQueue \(AWS::SQS::Queue\): Access denied"
    ):
        destroyed(standing)


def test_a_stack_that_is_not_there_is_told(account: Account) -> None:
    with pytest.raises(InputError, match=r"There is no stack sweephand in eu-west-1\."):
        destroyed(account)


def test_a_deletion_that_was_interrupted_is_followed_to_its_end(account: Account) -> None:
    account.cloudformation.has("DELETE_IN_PROGRESS")
    account.cloudformation.steps = [
        Step("DELETE_IN_PROGRESS"),
        Step("DELETE_IN_PROGRESS"),
        Step("DELETE_COMPLETE"),
    ]
    assert destroyed(account)
    assert account.questions == []


def test_a_stack_that_was_never_made_is_deleted(account: Account) -> None:
    account.cloudformation.has("REVIEW_IN_PROGRESS")
    account.cloudformation.steps = [Step("DELETE_COMPLETE")]
    assert destroyed(account)
