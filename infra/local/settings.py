"""Settings that Sweephand needs and that ministack's CloudFormation drops from the template.

On AWS the template alone is enough. Each setting was found by deploying and reading it back:

- ministack drops a table's time to live. It also drops recovery and encryption, which a laptop does not need.
- The concurrency of an event source arrives as a string if it comes from a parameter. The poller then fails
  to compare it with a number and delivers nothing at all.

The admin key is made here as well. All local stacks of this checkout get the same key, so that it stays valid
from one stack to the next.
"""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any

from infra.local.deploy import aws_client, invoke, outputs
from infra.local.places import ADMIN_SECRET, LOCAL, STACK_NAME, Place, write_private


def complete(place: Place) -> None:
    """Apply all settings to the stack deployed at this place. Applying them again changes nothing."""
    _store_admin_key(place)
    dynamodb, functions = aws_client(place, "dynamodb"), aws_client(place, "lambda")
    for table, specification in _resources(place, "AWS::DynamoDB::Table", "TimeToLiveSpecification"):
        is_now = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        # Enabling it twice is an error, on AWS too.
        if is_now.get("TimeToLiveStatus") != "ENABLED":
            dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    for source, _ in _resources(place, "AWS::Lambda::EventSourceMapping", "ScalingConfig"):
        scaling = functions.get_event_source_mapping(UUID=source)["ScalingConfig"]
        scaling["MaximumConcurrency"] = int(scaling["MaximumConcurrency"])
        functions.update_event_source_mapping(UUID=source, ScalingConfig=scaling)


def at_once_max(place: Place, queue: str) -> int:
    """How many functions the event source of a queue runs at once; `queue` is the name of an output."""
    return int(_event_source(place, queue)["ScalingConfig"]["MaximumConcurrency"])


def run_at_once(place: Place, queue: str, functions: int) -> None:
    """Let the event source of a queue run so many functions at once, from now on."""
    source, scaling = _event_source(place, queue)["UUID"], {"MaximumConcurrency": functions}
    aws_client(place, "lambda").update_event_source_mapping(UUID=source, ScalingConfig=scaling)


def _event_source(place: Place, queue: str) -> Any:
    name = outputs(place)[queue].rsplit("/", 1)[1]
    sources = aws_client(place, "lambda").list_event_source_mappings()["EventSourceMappings"]
    [source] = [each for each in sources if each["EventSourceArn"].endswith(f":{name}")]
    return source


def admin_secret() -> str:
    """The secret of the admin key of every local stack. It is made when it is first asked for."""
    LOCAL.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        write_private(ADMIN_SECRET, secrets.token_hex(32))
    return ADMIN_SECRET.read_text(encoding="utf-8")


def _store_admin_key(place: Place) -> None:
    """Have the stack store the digest of the local admin key, as an operator would.

    A stack whose callers an issuer of tokens knows has no such function, and keeps the keys that it has.
    """
    if "AdminKeyFunctionName" not in outputs(place):
        return
    digest = sha256(admin_secret().encode()).hexdigest()
    invoke(place, "AdminKey", {"secretSha256": digest, "description": "the key of local stacks"})


def _resources(place: Place, kind: str, prop: str) -> Iterator[tuple[str, Any]]:
    """The physical id and the property of each deployed resource of this type that has the property."""
    stacks = aws_client(place, "cloudformation")
    template = stacks.get_template(StackName=STACK_NAME, TemplateStage="Processed")["TemplateBody"]
    found = stacks.describe_stack_resources(StackName=STACK_NAME)["StackResources"]
    deployed = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}
    for logical_id, resource in template["Resources"].items():
        value = resource.get("Properties", {}).get(prop)
        # A resource whose condition does not hold is in the template and not in the stack.
        if resource["Type"] == kind and value is not None and logical_id in deployed:
            yield deployed[logical_id], value
