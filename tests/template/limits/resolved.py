"""The values that CloudFormation gives to the services, with the longest names that a stack can have."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.template.deployed import Deployed
from tests.template.stack import Stack

from sweephand.runtime.lists import DIGEST_LENGTH, PACKED_LENGTH_MAX

ACCOUNT: Final = "123456789012"
REGION: Final = "ap-southeast-1"  # no region of the partition has a longer name
STACK_NAME: Final = "s" * 128  # AWS CloudFormation User Guide, "CreateStack"
_ARN: Final = f"arn:aws:{{}}:{REGION}:{ACCOUNT}:"

_PSEUDO: Final = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackId": _ARN.format("cloudformation") + f"stack/{STACK_NAME}/" + "0" * 36,
    "AWS::StackName": STACK_NAME,
    "AWS::URLSuffix": "amazonaws.com",
}

#: How long a name can be that CloudFormation makes for a resource of a type.
_NAME_LENGTHS: Final = {
    "AWS::CloudWatch::Alarm": 255,
    "AWS::CodeDeploy::Application": 100,
    "AWS::CodeDeploy::DeploymentGroup": 100,
    "AWS::DynamoDB::Table": 255,
    "AWS::IAM::ManagedPolicy": 128,
    "AWS::IAM::Role": 64,
    "AWS::Lambda::Function": 64,
    "AWS::Lambda::LayerVersion": 140,
    "AWS::S3::Bucket": 63,
    "AWS::SQS::Queue": 80,
}


_DIGESTED: Final = ("Targets", "Network", "PayloadTables", "RolePath")
_LONGEST_LISTS: Final = {
    "Targets": "x" * PACKED_LENGTH_MAX,
    **dict.fromkeys((f"{each}Digest" for each in _DIGESTED), "x" * DIGEST_LENGTH),
}


class Resolved:
    """The resources of a stack that is deployed with these parameters, as their services receive them."""

    def __init__(
        self,
        stack: Stack,
        parameters: Mapping[str, str],
        lists: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda _: _LONGEST_LISTS,
    ) -> None:
        """`lists` gives the attributes of the resource Lists by its properties."""
        self._lists = lists
        self.deployed = Deployed(stack, **parameters)
        self.template = stack.template
        self._declared = stack.template["Parameters"]
        self.resources: dict[str, tuple[str, dict[str, Any]]] = {
            name: (kind, self._resolved(properties))
            for name, (kind, properties) in self.deployed.resources().items()
        }

    def named(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of the resources of a type, by name."""
        return {name: properties for name, (each, properties) in self.resources.items() if each == kind}

    def policies_of(self, role: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The policies of a role: the kind of each (`inline` or `managed`), and its document."""
        properties = self.named("AWS::IAM::Role")[role]
        yield from (("inline", each["PolicyDocument"]) for each in properties.get("Policies", []))
        name = self.reference(role)
        for kind, said in (("AWS::IAM::Policy", "inline"), ("AWS::IAM::ManagedPolicy", "managed")):
            for policy in self.named(kind).values():
                if name in policy["Roles"]:
                    yield said, policy["PolicyDocument"]

    def _resolved(self, value: Any) -> Any:
        match value:
            case {"Ref": str(name)}:
                found = self.reference(name)
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                found = self._attribute(name, attribute)
            case {"Fn::Sub": str(text)}:
                found = self._substituted(text, {})
            case {"Fn::Sub": [str(text), dict(values)]}:
                found = self._substituted(text, self._resolved(values))
            case {"Fn::Join": [str(separator), listed]}:
                found = separator.join(self._resolved(listed))
            case {"Fn::Split": [str(separator), text]}:
                found = self._resolved(text).split(separator)
            case {**others} if any(str(name).startswith("Fn::") for name in others):
                raise AssertionError(f"an unknown function: {value}")
            case dict():
                found = {name: self._resolved(each) for name, each in value.items()}
            case list():
                found = [self._resolved(each) for each in value]
            case _:
                found = value
        return found

    def _substituted(self, text: str, values: dict[str, Any]) -> str:
        def named(found: re.Match[str]) -> str:
            name, _, attribute = found[1].partition(".")
            if name in values:
                return str(values[name])
            return str(self._attribute(name, attribute) if attribute else self.reference(name))

        return re.sub(r"\$\{([\w:.]+)}", named, text)

    def reference(self, name: str) -> Any:
        """What `Ref` gives for a parameter or a resource, whether the resource is deployed or not."""
        if name in _PSEUDO:
            return _PSEUDO[name]
        if name in self._declared:
            value = self.deployed.parameter(name)
            if self._declared[name]["Type"] == "CommaDelimitedList":
                return [each.strip() for each in str(value).split(",")]
            return int(value) if self._declared[name]["Type"] == "Number" else str(value)
        kind, physical = self.template["Resources"][name]["Type"], self._name(name)
        references = {
            "AWS::SQS::Queue": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{physical}",
            "AWS::Lambda::Alias": f"{_ARN.format('lambda')}function:{physical}:live",
            "AWS::Lambda::Version": f"{_ARN.format('lambda')}function:{physical}:1",
            "AWS::Lambda::LayerVersion": f"{_ARN.format('lambda')}layer:{physical}:1",
            "AWS::IAM::ManagedPolicy": f"arn:aws:iam::{ACCOUNT}:policy/{physical}",
        }
        return references.get(kind, physical)

    def _attribute(self, name: str, attribute: str) -> str:
        resource = self.template["Resources"][name]
        kind, physical, properties = resource["Type"], self._name(name), resource.get("Properties", {})
        if kind == "Custom::Lists":
            return self._lists(self._resolved(self.deployed.resources()[name][1]))[attribute]
        attributes: dict[tuple[str, str], str] = {
            ("AWS::SQS::Queue", "Arn"): f"{_ARN.format('sqs')}{physical}",
            ("AWS::SQS::Queue", "QueueName"): physical,
            ("AWS::DynamoDB::Table", "Arn"): f"{_ARN.format('dynamodb')}table/{physical}",
            ("AWS::S3::Bucket", "Arn"): f"arn:aws:s3:::{physical}",
            (
                "AWS::IAM::Role",
                "Arn",
            ): f"arn:aws:iam::{ACCOUNT}:role{self.deployed.parameter('RolePath')}{physical}",
            ("AWS::Lambda::Function", "Arn"): f"{_ARN.format('lambda')}function:{physical}",
            ("AWS::Lambda::Version", "Version"): "1",
            ("AWS::Logs::LogGroup", "Arn"): (
                f"{_ARN.format('logs')}log-group:{self._resolved(properties.get('LogGroupName'))}:*"
            ),
        }
        return attributes[kind, attribute]

    def _name(self, logical_id: str) -> str:
        kind = self.template["Resources"][logical_id]["Type"]
        if kind in ("AWS::Lambda::Alias", "AWS::Lambda::Version"):
            return "f" * 64
        if kind.startswith("AWS::ApiGatewayV2::"):
            return "a1b2c3d4e5"
        end = f"-{logical_id}-{'X' * 13}"
        made = STACK_NAME[: _NAME_LENGTHS.get(kind, 255) - len(end)] + end
        return made.lower() if kind == "AWS::S3::Bucket" else made
