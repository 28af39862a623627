"""Deploying the built template on the local AWS: by `sam deploy`, as on the real one.

On AWS the template alone is enough. The local AWS gets two settings more (complete()). ministack also drops a
table's time to live, recovery and encryption, which a laptop does not need.
"""

import json
import secrets
import tomllib
from collections.abc import Mapping
from contextlib import suppress
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


def session() -> boto3.Session:
    """A session with the local AWS's credentials. Pass `endpoint_url` to its clients."""
    return boto3.Session("test", "test", region_name=REGION)


def aws_client(place: Place, service: str) -> Any:
    """A client of a service of the local AWS. It is untyped: the types of some services are not installed."""
    make: Any = session().client
    return make(service, endpoint_url=place.endpoint_url)


def deploy(place: Place, template: Path) -> None:
    """Create or update the stack, and complete it. Raises StackError.

    The section `local` of samconfig.toml has its parameters, and those of the place replace them.
    """
    # SAM would put its managed bucket into a stack of its own, which takes seconds.
    aws_client(place, "s3").create_bucket(Bucket=ARTIFACTS_BUCKET)
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
    functions = aws_client(place, "lambda")
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
    [stack] = aws_client(place, "cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def invoke(place: Place, function: str, event: Mapping[str, Any]) -> Any:
    """What a function of the stack returns for the event; `function` is its name in the stack's outputs."""
    return call(aws_client(place, "lambda"), outputs(place)[f"{function}FunctionName"], event)


def call(functions: Any, name: str, event: Mapping[str, Any]) -> Any:
    """What a function returns for the event. `functions` is boto3's client of Lambda.

    StackError, with what the function said, if it failed.
    """
    answer = functions.invoke(FunctionName=name, Qualifier="live", Payload=json.dumps(event).encode())
    said = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        raise StackError(f"The function {name} failed for {json.dumps(event)}: {said}")
    return json.loads(said)
