"""`sweephand destroy`: deletes a stack after a person knows what that means."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import boto3

from sweephand_deploy.changes import described
from sweephand_deploy.deploy import EMPTY, Talk, at_rest, client_of
from sweephand_deploy.errors import InputError, errors_of_aws
from sweephand_deploy.events import Follower

_RETAINED: Final = ("Retain", "RetainExceptOnCreate")

#: The types of resources that are nothing by themselves, so that nothing of them stays.
_WITHOUT_CONTENT: Final = ("Custom::", "AWS::S3::BucketPolicy")


def destroy(session: boto3.Session, stack: str, role_arn: str | None, talk: Talk) -> bool:
    """Delete the stack. Returns False if the person does not want that. Raises DeployError."""
    with errors_of_aws():
        cloudformation = client_of(session, "cloudformation")
        if described(cloudformation, stack) is None:
            raise InputError(f"There is no stack {stack} in {session.region_name}.")
        found = at_rest(cloudformation, stack, talk)
        if found is None:  # it was being deleted
            return True
        resources, retained = _contents(cloudformation, found)
        for line in _consequences(resources, retained):
            talk.say(line)
        if not talk.ask(f"Delete the stack {stack} in {session.region_name}?"):
            return False
        follower = Follower(cloudformation, found["StackId"], talk.say, talk.pause)
        options = {"RoleARN": role_arn} if role_arn else {}
        cloudformation.delete_stack(StackName=found["StackId"], **options)
        follower.follow("DELETE_COMPLETE", set(resources))
        return True


def _contents(
    cloudformation: Any, stack: Mapping[str, Any]
) -> tuple[Mapping[str, Mapping[str, Any]], set[str]]:
    """The resources of a stack by their logical ids, and those that stay when the stack is deleted."""
    if stack["StackStatus"] == EMPTY:
        return {}, set()
    name = stack["StackName"]
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    resources = {
        each["LogicalResourceId"]: each
        for page in pages
        for each in page["StackResourceSummaries"]
        if not each["ResourceStatus"].startswith("DELETE_")
    }
    body = cloudformation.get_template(StackName=name, TemplateStage="Processed")["TemplateBody"]
    declared = (json.loads(body) if isinstance(body, str) else body)["Resources"]
    return resources, {
        each
        for each, resource in declared.items()
        if resource.get("DeletionPolicy") in _RETAINED and not resource["Type"].startswith(_WITHOUT_CONTENT)
    }


def _consequences(resources: Mapping[str, Mapping[str, Any]], retained: set[str]) -> Sequence[str]:
    """What a person has to know before the stack is deleted."""
    kept = sorted(retained & resources.keys())
    lost = resources.keys() - retained
    queues = sorted(name for name in lost if resources[name]["ResourceType"] == "AWS::SQS::Queue")
    names = (f"  {name:<16} {resources[name].get('PhysicalResourceId', '')}" for name in kept)
    return [
        f"{len(lost)} resources are deleted. Lost for good are:",
        f"  the messages in {', '.join(queues)}: triggers on their way, and dead letters",
        "  the logs of all functions, and the address of the API",
        "These stay with all that is in them, and go on to cost what they store:",
        *names,
    ]
