"""A new value of a parameter publishes a version of each function that it changes."""

import re

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
    assert stack.parameters_in(described) == stack.parameters_in(published)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_new_value_of_a_parameter_gives_a_version_another_description(stack: Stack, function: str) -> None:
    """CloudFormation replaces a version whose description changes."""
    name = version_of(stack, function)
    before = described(stack, name)
    for parameter in stack.parameters_in(stack.properties(name)["Description"]):
        assert described(stack, name, **{parameter: another(stack, parameter)}) != before, parameter


def another(stack: Stack, parameter: str) -> str:
    """A lawful value of a parameter that is not its default."""
    declared = stack.parameter(parameter)
    if parameter.endswith("Cidrs"):
        return "10.0.0.0/8"
    if parameter.endswith("Arns"):
        return "arn:aws:sqs:eu-west-1:123456789012:other"
    if declared["Type"] == "Number" and "AllowedValues" not in declared:
        return str(declared["Default"] + 1)
    others = [each for each in declared.get("AllowedValues", ["other"]) if each != declared["Default"]]
    return str(others[0])


def described(stack: Stack, version: str, **parameters: str) -> str:
    """The description of a version, with the digests that the lists function would return."""
    resolved = Resolved(stack, parameters, attributes_of)
    text: str = resolved.resources[version][1]["Description"]
    return text


def test_the_functions_get_every_list_packed_and_the_digest_of_all_of_them(stack: Stack) -> None:
    assert tuple(stack.properties("Lists")["Targets"]) == LISTS
    for function in ("Api", "Deliver", "Flow"):
        variables = stack.properties(f"{function}Function")["Environment"]["Variables"]
        assert variables["TARGETS"] == {"Fn::GetAtt": ["Lists", "Targets"]}
        [text] = stack.properties(version_of(stack, function))["Description"].values()
        assert re.search(r"targets \$\{Lists\.TargetsDigest}$", text)


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
