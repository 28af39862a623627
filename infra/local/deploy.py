"""Deploying the built template on the local AWS: by `sam deploy`, as on the real one.

On AWS the template alone is enough. The local AWS gets two settings more (complete()). ministack also drops a
table's time to live, recovery and encryption, which a laptop does not need.
"""

import json
import secrets
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import boto3
from infra.local.build import sam
from infra.local.places import (
    ADMIN_SECRET,
    ARTIFACTS_BUCKET,
    LOCAL,
    REGION,
    ROOT,
    STACK_NAME,
    Place,
    StackError,
    aws_environment,
    write_private,
)


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


def deploy(place: Place, template: Path) -> None:
    """Create or update the stack, and complete it. Raises StackError.

    The section `local` of samconfig.toml has its parameters, and those of the place replace them.
    """
    # SAM would put its managed bucket into a stack of its own, which takes seconds.
    aws_of(place).client("s3").create_bucket(Bucket=ARTIFACTS_BUCKET)
    words = ["deploy", "--config-env", "local", "--config-file", str(ROOT / "samconfig.toml")]
    sam([*words, "--template-file", str(template), *_overrides(place)], aws_environment(place))
    complete(place)


def _overrides(place: Place) -> list[str]:
    """The option with the parameters, if the place has any. SAM would leave out those of samconfig.toml."""
    if not place.parameters:
        return []
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    usual: list[str] = config["local"]["deploy"]["parameters"]["parameter_overrides"]
    named = dict(each.split("=", 1) for each in (*usual, *place.parameters))
    return ["--parameter-overrides", *(f"{name}={value}" for name, value in named.items())]


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
