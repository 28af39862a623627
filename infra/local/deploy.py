"""Deploying the built template on the local AWS: by `sam deploy`, as on the real one."""

import json
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from infra.local.places import ARTIFACTS_BUCKET, REGION, ROOT, SAM, STACK_NAME, Place, aws_environment


class CannotDeployError(Exception):
    """`sam deploy` failed. The message is its output."""


class FunctionFailedError(Exception):
    """A function of the stack failed. The message is what it said."""


def session() -> boto3.Session:
    """A session with the local AWS's credentials. Pass `endpoint_url` to its clients."""
    return boto3.Session("test", "test", region_name=REGION)


def deploy(place: Place, template: Path) -> None:
    """Create or update the stack.

    The section `local` of samconfig.toml has its parameters, and those of the place replace them.
    """
    # SAM would put its managed bucket into a stack of its own, which takes seconds.
    session().client("s3", endpoint_url=place.endpoint_url).create_bucket(Bucket=ARTIFACTS_BUCKET)
    done = subprocess.run(
        [
            SAM,
            "deploy",
            "--config-env",
            "local",
            "--config-file",
            ROOT / "samconfig.toml",
            "--template-file",
            template,
            *_overrides(place),
        ],
        cwd=ROOT,
        env=aws_environment(place),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotDeployError(done.stdout + done.stderr)


def _overrides(place: Place) -> list[str]:
    """The option with the parameters, if the place has any. SAM would leave out those of samconfig.toml."""
    if not place.parameters:
        return []
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    usual: list[str] = config["local"]["deploy"]["parameters"]["parameter_overrides"]
    named = dict(each.split("=", 1) for each in (*usual, *place.parameters))
    return ["--parameter-overrides", *(f"{name}={value}" for name, value in named.items())]


def outputs(place: Place) -> dict[str, str]:
    """The outputs of the stack deployed at this place."""
    client = session().client("cloudformation", endpoint_url=place.endpoint_url)
    [stack] = client.describe_stacks(StackName=STACK_NAME)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def invoke(place: Place, function: str, event: Mapping[str, Any]) -> Any:
    """What a function of the stack returns for the event; `function` is its name in the stack's outputs."""
    client: Any = session().client("lambda", endpoint_url=place.endpoint_url)
    answer = client.invoke(
        FunctionName=outputs(place)[f"{function}FunctionName"],
        Qualifier="live",
        Payload=json.dumps(event).encode(),
    )
    said = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        raise FunctionFailedError(f"The function {function} failed: {said}")
    return json.loads(said)
