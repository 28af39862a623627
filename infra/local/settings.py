"""What ministack's CloudFormation leaves out of the template and Sweephand relies on, set by API.

On AWS the template alone does it. Each of these was found by deploying and reading back:
- a table's time to live is dropped (recovery and encryption too, which mean nothing on a laptop);
- the concurrency of an event source, where it comes from a parameter, arrives as a string, and the poller
  fails to compare it with a number: it delivers nothing at all.

The admin key is set here as well. The template generates a secret for each stack; a local stack gets the
secret of the one before it, so that a key that was copied from one stack opens the next.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from infra.local.deploy import outputs, session
from infra.local.places import ADMIN_SECRET, LOCAL, STACK_NAME, Place
from infra.local.private import write_private


def complete(place: Place) -> None:
    """Sets all of it on the stack deployed at this place; harmless if it is set."""
    _keep_admin_key(place)
    for table, specification in _resources(place, "AWS::DynamoDB::Table", "TimeToLiveSpecification"):
        dynamodb = session().client("dynamodb", endpoint_url=place.endpoint_url)
        is_now = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        # To enable it twice is an error, on AWS too.
        if is_now.get("TimeToLiveStatus") != "ENABLED":
            dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    for mapping, _ in _resources(place, "AWS::Lambda::EventSourceMapping", "ScalingConfig"):
        functions = session().client("lambda", endpoint_url=place.endpoint_url)
        at_once_max = functions.get_event_source_mapping(UUID=mapping)["ScalingConfig"]["MaximumConcurrency"]
        functions.update_event_source_mapping(
            UUID=mapping, ScalingConfig={"MaximumConcurrency": int(at_once_max)}
        )


def _keep_admin_key(place: Place) -> None:
    """Give the stack the admin key's secret that is kept for local stacks, or keep the one it has."""
    secrets = session().client("secretsmanager", endpoint_url=place.endpoint_url)
    name = outputs(place)["AdminKeySecretName"]
    generated = secrets.get_secret_value(SecretId=name)["SecretString"]
    LOCAL.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        write_private(ADMIN_SECRET, generated)
    kept = ADMIN_SECRET.read_text(encoding="utf-8")
    if kept != generated:
        secrets.put_secret_value(SecretId=name, SecretString=kept)


def _resources(place: Place, kind: str, prop: str) -> Iterator[tuple[str, Any]]:
    """The physical id, and the property, of each deployed resource of this kind that has the property."""
    cloudformation = session().client("cloudformation", endpoint_url=place.endpoint_url)
    template: dict[str, Any] = cloudformation.get_template(StackName=STACK_NAME, TemplateStage="Processed")[
        "TemplateBody"
    ]
    for logical_id, resource in template["Resources"].items():
        value = resource.get("Properties", {}).get(prop)
        if resource["Type"] == kind and value is not None:
            detail = cloudformation.describe_stack_resource(
                StackName=STACK_NAME, LogicalResourceId=logical_id
            )
            yield detail["StackResourceDetail"]["PhysicalResourceId"], value
