"""Deploying the template on the local AWS, by what `sweephand deploy` asks of the real one.

On AWS the template alone is enough. The local AWS gets two settings more (complete()). ministack also drops a
table's time to live, recovery and encryption, which a laptop does not need.
"""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import boto3
from infra.local.places import (
    ADMIN_SECRET,
    LOCAL,
    REGION,
    STACK_NAME,
    Place,
    StackError,
    write_private,
)

from sweephand_deploy.build import Artifact
from sweephand_deploy.deploy import Order, Talk
from sweephand_deploy.deploy import deploy as deploy_order
from sweephand_deploy.errors import DeployError

#: The parameters of local stacks. They may deliver over http to the same machine. The queues are the default
#: of the template. The local AWS does not evaluate the condition that sets it.
_PARAMETERS: Final = {
    "AllowInsecureTargets": "true",
    "RequireTls": "false",
    "DeliveryConcurrency": "8",
    "MaxSweepers": "2",
    "FlowPolicies": "on",
    "Stats": "on",
    "FlowConcurrency": "5",
    "TemplateNamespaces": "*",
    "TargetQueueArns": "arn:aws:sqs:us-east-1:000000000000:sweephand-*",
    "TargetFunctionArns": "arn:aws:lambda:us-east-1:000000000000:function:my-*",
    "TargetTopicArns": "arn:aws:sns:us-east-1:000000000000:my-*",
    "TargetBusArns": "arn:aws:events:us-east-1:000000000000:event-bus/my-*",
    "TargetStateMachineArns": "arn:aws:states:us-east-1:000000000000:stateMachine:my-*",
    "TargetRoleArns": "arn:aws:iam::000000000000:role/my-*",
}

#: The local AWS takes the API's id from this tag, so a new stack has the same address.
_TAGS: Final = {"ms-custom-id": STACK_NAME}

#: AWS throttles whoever asks more often than each 2 s. The local one does not.
_POLL_S: Final = 0.1


@dataclass(frozen=True)
class Aws:
    """An account and region, or a local AWS at `endpoint_url`."""

    session: boto3.Session
    endpoint_url: str | None = None

    def client(self, service: str) -> Any:
        """A client of a service. It is untyped: the types of some services are not installed."""
        make: Any = self.session.client
        return make(service, endpoint_url=self.endpoint_url)

    @property
    def region(self) -> str:
        """The region of every client."""
        return str(self.session.region_name)

    def outputs(self, stack: str) -> dict[str, str]:
        """The outputs of a deployed stack."""
        return {each["OutputKey"]: each["OutputValue"] for each in self._described(stack)["Outputs"]}

    def parameters(self, stack: str) -> dict[str, str]:
        """The value of each parameter of a deployed stack."""
        found = self._described(stack)["Parameters"]
        return {each["ParameterKey"]: each.get("ParameterValue", "") for each in found}

    def _described(self, stack: str) -> Any:
        [found] = self.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        return found

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """What a function returns for the event. StackError, with what the function said, if it failed."""
        payload = json.dumps(event)
        answer = self.client("lambda").invoke(
            FunctionName=function, Qualifier="live", Payload=payload.encode()
        )
        said = answer["Payload"].read().decode()
        if "FunctionError" in answer:
            raise StackError(f"The function {function} failed for {payload}: {said}")
        return json.loads(said)


def session() -> boto3.Session:
    """A session with the local AWS's credentials. Pass `endpoint_url` to its clients."""
    return boto3.Session("test", "test", region_name=REGION)


def aws_of(place: Place) -> Aws:
    """The local AWS at that place."""
    return Aws(session(), place.endpoint_url)


class _LocalSession(boto3.Session):
    """A session whose clients all talk to the local AWS at `endpoint_url`."""

    def __init__(self, endpoint_url: str) -> None:
        super().__init__("test", "test", region_name=REGION)
        self._endpoint_url = endpoint_url

    def client(self, service_name: Any, **options: Any) -> Any:  # type: ignore[override]
        """A client of a service."""
        return super().client(service_name, **{"endpoint_url": self._endpoint_url, **options})


def deploy(place: Place, artifacts: Sequence[Artifact]) -> None:
    """Create or update the stack, and complete it. Raises StackError.

    The parameters of the place come before those of local stacks.
    """
    given = dict(each.split("=", 1) for each in place.parameters)
    order = Order(STACK_NAME, {**_PARAMETERS, **given}, tags=_TAGS, artifacts=artifacts)
    said = list[str]()
    talk = Talk(said.append, lambda _: True, lambda _: time.sleep(_POLL_S))
    try:
        deploy_order(_LocalSession(place.endpoint_url), order, talk)
    except DeployError as error:
        raise StackError("\n".join(["The local AWS refused the stack.", *said, str(error)])) from error
    complete(place)


def complete(place: Place) -> None:
    """Store the admin key of local stacks, and make the concurrency of event sources numbers.

    A concurrency that comes from a parameter arrives as a string. ministack's poller then fails to compare it
    with a number and delivers nothing at all. Completing again changes nothing. A stack whose callers an
    issuer of tokens knows has no function for admin keys, and keeps the keys that it has.
    """
    if "AdminKeyFunctionName" in outputs(place):
        digest = sha256(admin_secret().encode()).hexdigest()
        invoke(place, "AdminKey", {"secretSha256": digest, "description": "the key of local stacks"})
    functions = aws_of(place).client("lambda")
    for source in functions.list_event_source_mappings()["EventSourceMappings"]:
        if "ScalingConfig" in source:
            scaling = {"MaximumConcurrency": int(source["ScalingConfig"]["MaximumConcurrency"])}
            functions.update_event_source_mapping(UUID=source["UUID"], ScalingConfig=scaling)


def admin_secret() -> str:
    """The secret of the admin key of every local stack of this checkout, so that the key outlives a stack.

    It is made when it is first asked for.
    """
    LOCAL.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        write_private(ADMIN_SECRET, secrets.token_hex(32))
    return ADMIN_SECRET.read_text(encoding="utf-8")


def outputs(place: Place) -> dict[str, str]:
    """The outputs of the stack deployed at this place."""
    return aws_of(place).outputs(STACK_NAME)


def invoke(place: Place, function: str, event: Mapping[str, Any]) -> Any:
    """What a function of the stack returns for the event; `function` is its name in the stack's outputs."""
    return aws_of(place).invoke(outputs(place)[f"{function}FunctionName"], event)
