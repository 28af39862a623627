"""An account of AWS in memory, as far as deploying asks for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from sweephand_deploy import deploy as deploying
from sweephand_deploy.build import Artifact
from sweephand_deploy.deploy import Talk
from sweephand_deploy.template import Template, code_folders

ARN = "arn:aws:cloudformation:eu-west-1:123456789012:stack/sweephand/1"


def refusal(code: str, message: str, status: int = 400, operation: str = "DescribeStacks") -> ClientError:
    """An answer of AWS that is an error."""
    answer: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(answer, operation)


class Step(NamedTuple):
    """What CloudFormation does between two looks: a status of the stack, and events, oldest first."""

    status: str
    events: Sequence[Mapping[str, Any]] = ()
    is_lost: bool = False


def event(name: str, status: str, reason: str = "", kind: str = "AWS::SQS::Queue") -> Mapping[str, Any]:
    """An event of a resource."""
    shown = {"ResourceStatusReason": reason} if reason else {}
    return {"LogicalResourceId": name, "ResourceStatus": status, "ResourceType": kind, **shown}


def change(action: str, name: str, kind: str, replacement: str = "") -> Mapping[str, Any]:
    """A change of a change set."""
    told = {"Action": action, "LogicalResourceId": name, "ResourceType": kind}
    return {"ResourceChange": told | ({"Replacement": replacement} if replacement else {})}


class FakeCloudFormation:
    """One stack. What is asked of it in `calls` happens step by step when somebody looks."""

    def __init__(self) -> None:
        self.stack: dict[str, Any] | None = None
        self.change_set: dict[str, Any] = {"Status": "CREATE_COMPLETE", "Changes": []}
        self.pages: list[dict[str, Any]] = []
        self.steps: list[Step] = []
        self.events: list[Mapping[str, Any]] = []
        self.resources: list[Mapping[str, Any]] = []
        self.processed: Mapping[str, Any] = {"Resources": {}}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._is_at_work = False

    def has(self, status: str, parameters: Sequence[str] = ()) -> None:
        """The stack is there."""
        values = [{"ParameterKey": name, "ParameterValue": "x"} for name in parameters]
        self.stack = {
            "StackName": "sweephand",
            "StackId": ARN,
            "StackStatus": status,
            "Parameters": values,
            "Outputs": [{"OutputKey": "ApiUrl", "OutputValue": "https://api"}],
        }
        self._is_at_work = status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS"

    def asked(self, name: str) -> dict[str, Any]:
        """The arguments of the only call of this name."""
        [found] = [arguments for called, arguments in self.calls if called == name]
        return found

    def describe_stacks(self, *, StackName: str) -> Any:  # noqa: N803 - boto3's name
        if self._is_at_work and self.steps:
            step = self.steps.pop(0)
            if step.is_lost:
                raise EndpointConnectionError(endpoint_url="https://cloudformation")
            self._take(step)
        if self.stack is None or (StackName != ARN and self.stack["StackStatus"] == "DELETE_COMPLETE"):
            raise refusal("ValidationError", f"Stack with id {StackName} does not exist")
        return {"Stacks": [dict(self.stack)]}

    def _take(self, step: Step) -> None:
        assert self.stack is not None
        self.stack["StackStatus"] = step.status
        for each in step.events:
            self.events.insert(0, {"EventId": str(len(self.events)), **each})
        self._is_at_work = step.status.endswith("_IN_PROGRESS")

    def create_change_set(self, **arguments: Any) -> Any:
        self.calls.append(("create_change_set", arguments))
        if self.stack is None:
            self.has("REVIEW_IN_PROGRESS")
        return {"Id": "arn:change-set", "StackId": ARN}

    def describe_change_set(self, *, ChangeSetName: str, NextToken: str = "") -> Any:  # noqa: N803 - boto3's names
        assert ChangeSetName == "arn:change-set"
        return self.pages[int(NextToken)] if NextToken else self.change_set

    def delete_change_set(self, **arguments: Any) -> None:
        self.calls.append(("delete_change_set", arguments))

    def execute_change_set(self, **arguments: Any) -> None:
        self.calls.append(("execute_change_set", arguments))
        self._is_at_work = True

    def delete_stack(self, **arguments: Any) -> None:
        self.calls.append(("delete_stack", arguments))
        self._is_at_work = True

    def get_template(self, **_: Any) -> Any:
        return {"TemplateBody": self.processed}

    def get_paginator(self, name: str) -> Any:
        # Two pages, so that nobody takes the first one for all.
        found = {
            "describe_stack_events": lambda: {"StackEvents": self.events},
            "list_stack_resources": lambda: {"StackResourceSummaries": self.resources},
        }[name]()
        [(key, items)] = found.items()
        half = len(items) // 2
        return SimpleNamespace(paginate=lambda **_: [{key: items[:half]}, {key: items[half:]}])


class FakeS3:
    """Buckets of one account."""

    meta = SimpleNamespace(endpoint_url="https://s3.eu-west-1.amazonaws.com")

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def head_bucket(self, **_: Any) -> None:
        """The bucket is there."""

    def head_object(self, *, Key: str, **_: Any) -> None:  # noqa: N803 - boto3's name
        if Key not in self.objects:
            raise refusal("404", "Not Found", 404)

    def put_object(self, *, Key: str, Body: bytes, **_: Any) -> None:  # noqa: N803 - boto3's names
        self.objects[Key] = Body


class Account:
    """An account, and a person at the terminal who answers `answer`."""

    region_name = "eu-west-1"

    def __init__(self) -> None:
        self.cloudformation = FakeCloudFormation()
        self.s3 = FakeS3()
        self.said: list[str] = []
        self.questions: list[str] = []
        self.answer = True
        self.waited_s = 0.0

    def client(self, service: str, **_: Any) -> Any:
        """A client, as a session makes it."""
        identity = SimpleNamespace(get_caller_identity=lambda: {"Account": "123456789012"})
        return {"cloudformation": self.cloudformation, "s3": self.s3, "sts": identity}[service]

    @property
    def session(self) -> Any:
        """Itself, as boto3's session."""
        return self

    @property
    def talk(self) -> Talk:
        return Talk(self.said.append, self._ask, self._wait)

    def _ask(self, question: str) -> bool:
        self.questions.append(question)
        return self.answer

    def _wait(self, duration_s: float) -> None:
        self.waited_s += duration_s

    def template(self) -> Any:
        """The template that was uploaded."""
        [content] = [content for key, content in self.s3.objects.items() if key.startswith("template-")]
        return json.loads(content)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account without a stack. Building writes the names of the code instead of the code."""
    monkeypatch.setattr(deploying, "build", _built)
    return Account()


def _built(template: Template, folder: Path) -> list[Artifact]:
    return [Artifact(name, path) for name, path in _written(code_folders(template), folder)]


def _written(folders: Mapping[str, str], folder: Path) -> Iterator[tuple[str, Path]]:
    for name, named in folders.items():
        path = folder / f"{name}-1.zip"
        path.write_text(named, encoding="utf-8")
        yield name, path
