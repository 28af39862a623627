"""A new value of a parameter publishes a version of each function that it changes."""

import re
from typing import Any

import pytest
from tests.template.limits.resolved import Resolved
from tests.template.stack import FUNCTIONS, LISTS, Stack, told

from sweephand.runtime.lists import attributes_of


def version_of(stack: Stack, function: str) -> str:
    """The logical id of the version of a function."""
    versions = stack.named("AWS::Lambda::Version").items()
    [name] = [name for name, each in versions if told(each["FunctionName"]) == f"{function}Function"]
    return name


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_description_of_a_version_has_the_parameters_of_its_function_and_no_other(
    stack: Stack, function: str
) -> None:
    described = stack.properties(version_of(stack, function))["Description"]
    published = stack.properties(f"{function}Function") | {"ReservedConcurrentExecutions": None}
    # The path of a role is part of its ARN.
    assert stack.parameters_in(described) == stack.parameters_in(published) | {"RolePath"}


#: Stacks whose parameters are changed one by one: without anything, on the way out of a VPC, and inside one.
BASES: tuple[dict[str, str], ...] = (
    {},
    {"VpcSecurityGroupIds": "sg-1"},
    {"VpcSecurityGroupIds": "sg-1", "VpcSubnetIds": "subnet-1", "PayloadTable": "payloads"},
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("base", BASES, ids=lambda base: " ".join(base) or "defaults")
def test_a_version_is_replaced_if_and_only_if_a_parameter_changes_its_function(
    stack: Stack, base: dict[str, str]
) -> None:
    """CloudFormation fails to replace a version whose function has not changed."""
    before = published(stack, base)
    for parameter in stack.template["Parameters"]:
        after = published(stack, {**base, parameter: another(stack, parameter)})
        for function in before.keys() & after.keys():
            is_replaced = before[function][0] != after[function][0]
            assert is_replaced == (before[function][1] != after[function][1]), (parameter, function)


def published(stack: Stack, parameters: dict[str, str]) -> dict[str, tuple[str, Any]]:
    """The description of each function's version, and all that a version has of the function.

    The lists function itself makes the digests.
    """
    resolved = Resolved(stack, parameters, attributes_of)
    found = {}
    for name in resolved.named("AWS::Lambda::Function"):
        version = version_of(stack, name.removesuffix("Function"))
        properties = {**resolved.resources[name][1], "ReservedConcurrentExecutions": None}
        found[name] = (str(resolved.resources[version][1]["Description"]), properties)
    return found


def another(stack: Stack, parameter: str) -> str:
    """A lawful value of a parameter that is not its default."""
    declared = stack.parameter(parameter)
    if parameter == "RolePath":
        return "/other/"
    if parameter.endswith("Cidrs"):
        return "10.0.0.0/8"
    if parameter.endswith("Arns"):
        return "arn:aws:sqs:eu-west-1:123456789012:other"
    if declared["Type"] == "Number" and "AllowedValues" not in declared:
        return str(declared["Default"] + 1)
    others = [each for each in declared.get("AllowedValues", ["other"]) if each != declared["Default"]]
    return str(others[0])


def test_the_functions_get_every_list_packed_and_the_digest_of_all_of_them(stack: Stack) -> None:
    assert tuple(stack.properties("Lists")["Targets"]) == LISTS
    for function in ("Api", "Deliver", "Flow"):
        variables = stack.properties(f"{function}Function")["Environment"]["Variables"]
        assert variables["TARGETS"] == {"Fn::GetAtt": ["Lists", "Targets"]}
        [text] = stack.properties(version_of(stack, function))["Description"].values()
        assert re.search(r"targets \$\{Lists\.TargetsDigest}", text)


def test_the_lists_are_packed_before_any_function_that_reads_them_changes(stack: Stack) -> None:
    """The lists function needs nothing of theirs: there would be a circle."""
    dependencies, waiting, seen = stack.dependencies(), ["Lists"], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += dependencies[name] - seen
    assert not seen & {f"{each}Function" for each in FUNCTIONS if each != "Lists"}


@pytest.mark.parametrize(
    ("parameter", "text", "is_taken"),
    [
        ("DeniedTargetHosts", "", True),
        ("AllowedTargetHosts", "example.com,*.example.com,203.0.113.7,2001:db8::1", True),
        ("AllowedTargetHosts", "example.com, example.org", False),
        ("DeniedTargetHosts", "https://example.com", False),
        ("DeniedTargetHosts", "münchen.example", False),
        ("DeniedTargetHosts", "*", False),
        ("DeniedTargetHosts", "a.*.example.com", False),
        ("DeniedTargetCidrs", "203.0.113.0/24,2001:db8::/32", True),
        ("AllowedTargetCidrs", "example.com", False),
    ],
)
def test_a_list_in_another_form_is_refused_before_it_is_deployed(
    stack: Stack, parameter: str, text: str, *, is_taken: bool
) -> None:
    pattern = stack.parameter(parameter)["AllowedPattern"]
    assert (re.fullmatch(pattern, text) is not None) == is_taken
