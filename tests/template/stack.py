"""Reads a CloudFormation template for a test. A reference becomes the name of the resource that it names."""

import re
from collections.abc import Iterator
from typing import Any

FUNCTIONS = ("Api", "Authorizer", "AdminKey", "Lists", "Resources", "Tick", "Sweep", "Deliver", "Flow")

#: Functions that have the role of another one. Owners of queues allow one role for all deliveries.
ROLES = {"Flow": "Deliver"}

#: The lists of what jobs may reach, which the functions get packed.
LISTS = (
    "TARGET_QUEUE_ARNS",
    "TARGET_FUNCTION_ARNS",
    "TARGET_TOPIC_ARNS",
    "TARGET_BUS_ARNS",
    "TARGET_STATE_MACHINE_ARNS",
    "TARGET_ROLE_ARNS",
    "PRIVATE_TARGET_CIDRS",
    "ALLOWED_TARGET_HOSTS",
    "DENIED_TARGET_HOSTS",
    "ALLOWED_TARGET_CIDRS",
    "DENIED_TARGET_CIDRS",
)


class Stack:
    """A template without SAM's shorthands."""

    def __init__(self, template: dict[str, Any]) -> None:
        self.template = template
        self._resources: dict[str, dict[str, Any]] = template["Resources"]

    def resource(self, name: str) -> dict[str, Any]:
        """A whole resource, attributes such as DeletionPolicy included."""
        return self._resources[name]

    def properties(self, name: str) -> dict[str, Any]:
        """The properties of a resource."""
        properties: dict[str, Any] = self._resources[name]["Properties"]
        return properties

    def named(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of every resource of a type (`AWS::SQS::Queue`), by name."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self._resources.items()
            if resource["Type"] == kind
        }

    def whole(self, kind: str) -> list[dict[str, Any]]:
        """Every resource of a type, attributes included."""
        return [resource for resource in self._resources.values() if resource["Type"] == kind]

    def parameter(self, name: str) -> dict[str, Any]:
        """How a parameter is declared."""
        parameter: dict[str, Any] = self.template["Parameters"][name]
        return parameter

    def parameters_in(self, value: Any) -> set[str]:
        """The names of the parameters on which a value depends, by Ref, Sub or an attribute of Lists."""
        match value:
            case {"Ref": str(name)}:
                return {name} & set(self.template["Parameters"])
            case {"Fn::GetAtt": ["Lists", str(attribute)]}:
                return self.parameters_in(self.properties("Lists")[attribute.removesuffix("Digest")])
            case {"Fn::Sub": str(text)}:
                named = re.findall(r"\$\{([\w.]+)}", text)
                lists = [{"Fn::GetAtt": name.split(".")} for name in named if name.startswith("Lists.")]
                return set(named) & set(self.template["Parameters"]) | self.parameters_in(lists)
            case dict():
                return {name for each in value.values() for name in self.parameters_in(each)}
            case list():
                return {name for each in value for name in self.parameters_in(each)}
        return set()

    def dependencies(self) -> dict[str, set[str]]:
        """The resources on which each resource depends, whatever the conditions of the template are."""
        return {
            name: self._named_in(resource) | set(listed(resource.get("DependsOn", [])))
            for name, resource in self._resources.items()
        }

    def _named_in(self, value: Any) -> set[str]:
        return set(references(value)) & set(self._resources)

    def condition(self, name: str) -> Any:
        """What a condition says."""
        return self.template["Conditions"][name]

    def outputs(self) -> set[str]:
        """The names of what the stack tells."""
        return set(self.template["Outputs"])

    def variables(self, function: str) -> dict[str, Any]:
        """The environment of a function, given as `Api`, `Tick` and so on."""
        variables: dict[str, Any] = self.properties(f"{function}Function")["Environment"]["Variables"]
        return {name: told(value) for name, value in variables.items()}

    def grants(self, role: str) -> dict[str, set[str]]:
        """What a role may do: for each resource, as `told` writes it, the actions."""
        granted: dict[str, set[str]] = {}
        for statement in self._statements(role):
            for resource in listed(statement["Resource"]):
                granted.setdefault(told(resource), set()).update(listed(statement["Action"]))
        return granted

    def denials(self, role: str) -> dict[str, set[str]]:
        """What a role may not do whatever else is granted, in the same form."""
        denied: dict[str, set[str]] = {}
        for statement in self._all_statements(role):
            if statement["Effect"] == "Deny":
                for resource in listed(statement["Resource"]):
                    denied.setdefault(told(resource), set()).update(listed(statement["Action"]))
        return denied

    def partitions(self, role: str, table: str) -> dict[str, set[str] | None]:
        """The partitions of a table that a role may reach with each action; None where it is all of them."""
        reached: dict[str, set[str] | None] = {}
        for statement in self._statements(role):
            if table in map(told, listed(statement["Resource"])):
                condition = statement.get("Condition")
                keys = None
                if condition:
                    [operator] = condition
                    assert operator in {"ForAllValues:StringEquals", "ForAllValues:StringLike"}
                    keys = set(condition[operator]["dynamodb:LeadingKeys"])
                for action in listed(statement["Action"]):
                    before = reached.get(action, set())
                    reached[action] = None if keys is None or before is None else before | keys
        return reached

    def _statements(self, role: str) -> Iterator[dict[str, Any]]:
        """The statements that grant something, also those that do so under a condition of the template."""
        return (each for each in self._all_statements(role) if each["Effect"] == "Allow")

    def _all_statements(self, role: str) -> Iterator[dict[str, Any]]:
        policies = [policy["PolicyDocument"] for policy in self.properties(role)["Policies"]]
        policies += [
            policy["PolicyDocument"]
            for kind in ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy")
            for policy in self.named(kind).values()
            if role in map(_present, policy["Roles"])
        ]
        for policy in policies:
            yield from _granting(policy["Statement"])


def _granting(statements: Any) -> Iterator[dict[str, Any]]:
    """The statements that grant or deny something. The resources say under which condition."""
    match statements:
        case list():
            for each in statements:
                yield from _granting(each)
        case {"Fn::If": [str(condition), then, otherwise]}:
            for each in _granting(then):
                named = [{"Fn::If": [condition, name, "nothing"]} for name in listed(each["Resource"])]
                yield each | {"Resource": named}
            for each in _granting(otherwise):
                named = [{"Fn::If": [condition, "nothing", name]} for name in listed(each["Resource"])]
                yield each | {"Resource": named}
        case {"Ref": "AWS::NoValue"} | {"Action": "sts:GetCallerIdentity"}:
            return
        case _:
            yield statements


def references(value: Any) -> Iterator[str]:
    """The names of what a value refers to: resources and parameters."""
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            yield name
        case {"Fn::Sub": str(text)}:
            yield from re.findall(r"\$\{(\w+)", text)
        case {"Fn::Sub": [str(text), dict(values)]}:
            yield from set(re.findall(r"\$\{(\w+)", text)) - values.keys()
            yield from references(values)
        case dict():
            for each in value.values():
                yield from references(each)
        case list():
            for each in value:
                yield from references(each)


def _present(value: Any) -> str:
    """The name of the resource that a reference names where the resource is there."""
    match value:
        case {"Fn::If": [str(), {"Ref": str(name)}, {"Ref": "AWS::NoValue"}]} | {"Ref": str(name)}:
            return name
    raise AssertionError(f"no reference: {value}")


def told(value: Any) -> str:
    """A value as a person would say it: `JobsTable.Arn` for Fn::GetAtt, the name for Ref, Fn::Sub's text."""
    match value:
        case {"Ref": text} | {"Fn::Sub": [text, _]} | {"Fn::Sub": text}:
            said = text
        case {"Fn::GetAtt": [name, attribute]}:
            said = f"{name}.{attribute}"
        case {"Fn::Join": [separator, values]}:
            said = f"{told(values)} joined by {separator!r}"
        case {"Fn::If": [condition, then, otherwise]}:
            said = f"if {condition}: {told(then)} else {told(otherwise)}"
        case _:
            said = value
    return str(said)


def listed(value: Any) -> list[Any]:
    """The value itself if it is a list, else a list of it."""
    return value if isinstance(value, list) else [value]
