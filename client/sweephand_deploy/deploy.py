"""`sweephand deploy`: what it asks of AWS, in which order."""

import json
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import boto3

from sweephand_deploy.bucket import Bucket
from sweephand_deploy.build import Artifact, build, source
from sweephand_deploy.changes import ChangeSet, described, lines_of, make_change_set
from sweephand_deploy.errors import InputError, RefusedError, errors_of_aws
from sweephand_deploy.events import Follower
from sweephand_deploy.template import Template, read_template, with_code

#: CloudFormation has made the stack for a change set that was never executed.
EMPTY: Final = "REVIEW_IN_PROGRESS"

#: Statuses of a stack that can be updated.
_READY: Final = (EMPTY, "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")


class Talk(NamedTuple):
    """How a command talks with a person: it prints a line, asks for a decision, and waits for AWS."""

    say: Callable[[str], None]
    ask: Callable[[str], bool]
    pause: Callable[[float], None]


@dataclass(frozen=True)
class Order:
    """What is to be deployed.

    `parameters` are values of the template's. The others keep theirs. `bucket` is one of yours for the code.
    `tags` are put on every resource. `artifacts` are the code, if it is built already.
    """

    stack: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    role_arn: str | None = None
    bucket: str | None = None
    executes: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    artifacts: Sequence[Artifact] = ()


def deploy(session: boto3.Session, order: Order, talk: Talk) -> bool:
    """Create or update the stack. Returns False if the person does not want the changes. Raises DeployError.

    If CloudFormation is at work on the stack, its work is followed first: so a command that was interrupted
    can be given again.
    """
    template = read_template(source() / "template.yaml")
    _check_names(order.parameters, template)
    with errors_of_aws():
        cloudformation = client_of(session, "cloudformation")
        stack = at_rest(cloudformation, order.stack, talk)
        if stack is not None and stack["StackStatus"] not in _READY:
            raise RefusedError(
                f"The stack {order.stack} is {stack['StackStatus']} and cannot be changed. "
                "The events in CloudFormation's console say why. `sweephand destroy` deletes the stack."
            )
        creates = stack is None or stack["StackStatus"] == EMPTY
        changes = make_change_set(
            cloudformation,
            stack=order.stack,
            name=f"sweephand-{secrets.token_hex(4)}",
            template_url=_upload(session, template, order, talk),
            parameters=_values(order.parameters, template, None if creates else stack),
            role_arn=order.role_arn,
            tags=order.tags,
            creates=creates,
            pause=talk.pause,
        )
        if changes is None:
            talk.say("Nothing changes: the stack is what would be deployed.")
            _print_outputs(cloudformation, order.stack, talk)
            return True
        for line in lines_of(changes.changes):
            talk.say(line)
        if not order.executes:
            talk.say(f"aws cloudformation execute-change-set --change-set-name {changes.arn}")
            return True
        verb = "Create" if creates else "Change"
        if not talk.ask(f"{verb} the stack {order.stack} in {session.region_name}?"):
            cloudformation.delete_change_set(ChangeSetName=changes.arn)
            if stack is None:
                cloudformation.delete_stack(StackName=changes.stack_id)
            return False
        _execute(cloudformation, changes, talk, creates=creates)
        _print_outputs(cloudformation, order.stack, talk)
        return True


def _execute(cloudformation: Any, changes: ChangeSet, talk: Talk, *, creates: bool) -> None:
    follower = Follower(cloudformation, changes.stack_id, talk.say, talk.pause)
    cloudformation.execute_change_set(ChangeSetName=changes.arn)
    names = {each.logical_id for each in changes.changes}
    follower.follow("CREATE_COMPLETE" if creates else "UPDATE_COMPLETE", names)


def package(folder: Path) -> None:
    """Write the template and the zips that it names into an empty folder. Raises InputError.

    The template has two parameters more: the bucket of the zips, and what their keys begin with.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not an empty folder. Name one that is empty or does not exist.")
    template = read_template(source() / "template.yaml")
    with tempfile.TemporaryDirectory() as built:
        artifacts = build(template, Path(built))
        folder.mkdir(parents=True, exist_ok=True)
        for each in artifacts:
            shutil.move(each.path, folder)
    bucket = {"Ref": "CodeBucket"}
    keys = {each.logical_id: {"Fn::Sub": f"${{CodePrefix}}{each.path.name}"} for each in artifacts}
    written = with_code(template, {name: {"Bucket": bucket, "Key": key} for name, key in keys.items()})
    about_bucket, about_prefix = "The bucket of this region that has the zips", "The beginning of their keys"
    written["Parameters"] |= {
        "CodeBucket": {"Type": "String", "Description": about_bucket},
        "CodePrefix": {"Type": "String", "Default": "", "Description": about_prefix},
    }
    key, content = _uploadable(written)
    (folder / key).write_bytes(content)


def session_of(region: str) -> boto3.Session:
    """A session by the settings of AWS on this machine, in a region unless it is empty. Raises InputError."""
    with errors_of_aws():
        session = boto3.Session(region_name=region or None)
    if not session.region_name:
        raise InputError("Name the region: --region eu-west-1, or AWS_DEFAULT_REGION.")
    return session


def client_of(session: boto3.Session, service: str) -> Any:
    """A client of a service. It is untyped: the types of some services are not installed."""
    make: Any = session.client
    return make(service)


def _check_names(parameters: Mapping[str, str], template: Template) -> None:
    known = template["Parameters"]
    for name in parameters:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f" Is it {close[0]}?" if close else " docs/parameters.md lists them."
            raise InputError(f"The template has no parameter {name}.{hint}")


def at_rest(cloudformation: Any, stack: str, talk: Talk) -> Mapping[str, Any] | None:
    """The stack when CloudFormation does nothing to it. None if there is none."""
    found = described(cloudformation, stack)
    if found is not None and found["StackStatus"].endswith("_IN_PROGRESS") and found["StackStatus"] != EMPTY:
        talk.say(f"CloudFormation is at work on the stack {stack}. These are its events from now on:")
        Follower(cloudformation, found["StackId"], talk.say, talk.pause).follow(None)
        found = described(cloudformation, stack)
    return found


def _upload(session: boto3.Session, template: Template, order: Order, talk: Talk) -> str:
    """Build the code, put it into the bucket with the template, and return the template's address."""
    account = client_of(session, "sts").get_caller_identity()["Account"]
    region = str(session.region_name)
    bucket = Bucket(client_of(session, "s3"), order.bucket or f"sweephand-code-{account}-{region}", account)
    if order.bucket is None and bucket.make(region):
        talk.say(f"Made the bucket {bucket.name} for code.")
    with tempfile.TemporaryDirectory() as folder:
        artifacts = order.artifacts
        if not artifacts:
            talk.say("Building the functions and layers …")
            artifacts = build(template, Path(folder))
        written = sum(bucket.put(each.path.name, each.path.read_bytes()) for each in artifacts)
    locations = {each.logical_id: f"s3://{bucket.name}/{each.path.name}" for each in artifacts}
    key, content = _uploadable(with_code(template, locations))
    bucket.put(key, content)
    talk.say(f"Uploaded {written} of {len(artifacts)} zips to {bucket.name}. The others were there.")
    return bucket.url(key)


def _uploadable(template: Template) -> tuple[str, bytes]:
    """The key and the content of a template in a bucket. The key has a digest, as those of the zips."""
    content = json.dumps(template, indent=1, ensure_ascii=False).encode()
    return f"template-{sha256(content).hexdigest()[:32]}.json", content


def _values(
    given: Mapping[str, str], template: Template, stack: Mapping[str, Any] | None
) -> Sequence[Mapping[str, Any]]:
    """The values of parameters for a change set. Those of a stack that are not given stay as they are."""
    present = {each["ParameterKey"] for each in (stack or {}).get("Parameters", [])}
    kept = [name for name in template["Parameters"] if name in present and name not in given]
    return [
        *({"ParameterKey": name, "ParameterValue": value} for name, value in given.items()),
        *({"ParameterKey": name, "UsePreviousValue": True} for name in kept),
    ]


def _print_outputs(cloudformation: Any, stack: str, talk: Talk) -> None:
    found = described(cloudformation, stack)
    outputs = {each["OutputKey"]: each["OutputValue"] for each in (found or {}).get("Outputs", [])}
    for name, value in outputs.items():
        talk.say(f"{name:<22} {value}")
    if "AdminKeyFunctionName" in outputs:
        talk.say("\nThis makes an admin key. Only the file will show it:")
        talk.say(f"aws lambda invoke --function-name {outputs['AdminKeyFunctionName']}:live admin-key.json")
