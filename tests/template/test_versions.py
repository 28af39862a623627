"""A new value of a parameter publishes a version of each function that it changes."""

import re

import pytest
from tests.template.stack import DESTINATIONS, FUNCTIONS, LISTS, Stack, told

POLICIES = ("TargetQueuesPolicy", "TargetsPolicy")

#: The characters of a version's description (AWS, PublishVersion), and of the end of a generated name.
DESCRIPTION_LENGTH_MAX = 256
GENERATED_LENGTH = 13


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_new_value_of_a_parameter_publishes_a_version_of_the_functions_that_it_changes(
    stack: Stack, function: str
) -> None:
    versions = stack.named("AWS::Lambda::Version")
    [version] = [each for each in versions.values() if told(each["FunctionName"]) == f"{function}Function"]
    named = re.findall(r"\$\{(\w+)}", told(version["Description"]))
    # The policy gets another name with another list of what jobs may reach.
    described = (*POLICIES, "DestinationsPolicy")
    lists = stack.parameters_in([stack.properties(each)["Description"] for each in described])
    network = stack.parameters_in(stack.properties("NetworkPolicy")["Description"])
    data = stack.parameters_in(stack.properties("PayloadTablesPolicy")["Description"])
    stands_for = {"TargetQueues": lists, "NetworkPolicy": network, "PayloadTables": data}
    meant = [each for name in named for each in stands_for.get(name, [name])]
    published = stack.properties(f"{function}Function") | {"ReservedConcurrentExecutions": None}
    assert sorted(meant) == sorted(stack.parameters_in(published))


def test_the_description_of_a_version_fits_into_what_lambda_takes(stack: Stack) -> None:
    for version in stack.named("AWS::Lambda::Version").values():
        longest = re.sub(
            r"\$\{(\w+)}", lambda name: "x" * _length_max(stack, name[1]), told(version["Description"])
        )
        assert len(longest) <= DESCRIPTION_LENGTH_MAX


def _length_max(stack: Stack, name: str) -> int:
    """The length of the longest value of a parameter, or of the end of a policy's name."""
    if not stack.has_parameter(name):
        return GENERATED_LENGTH
    declared = stack.parameter(name)
    if "MaxLength" in declared:
        return int(declared["MaxLength"])
    values = declared.get("AllowedValues") or [declared["MaxValue"]]
    return max(len(str(value)) for value in values)


def test_a_new_list_replaces_the_policies_and_publishes_a_version_of_the_functions(stack: Stack) -> None:
    queues, others = (stack.properties(each) for each in POLICIES)
    assert not {"ManagedPolicyName"} & {*queues, *others}, "a policy with a name could not be replaced"
    # A policy's description cannot be changed, so that CloudFormation replaces the policy.
    [separator, [list_of_queues, name_of_others]] = queues["Description"]["Fn::Join"]
    assert (separator, told(list_of_queues)) == (" ", stack.variables("Deliver")["TARGET_QUEUE_ARNS"])
    end = {"Fn::Select": [1, {"Fn::Split": ["TargetsPolicy-", {"Ref": "TargetsPolicy"}]}]}
    assert name_of_others == end
    [_, [_, *lists, name_of_hosts]] = others["Description"]["Fn::Join"]
    variables = stack.variables("Deliver")
    assert {told(each) for each in lists} == {variables[each] for each in LISTS - {"TARGET_QUEUE_ARNS"}}
    end = {"Fn::Select": [1, {"Fn::Split": ["DestinationsPolicy-", {"Ref": "DestinationsPolicy"}]}]}
    assert name_of_hosts == end
    hosts = stack.properties("DestinationsPolicy")
    assert "ManagedPolicyName" not in hosts
    [_, [_, *lists]] = hosts["Description"]["Fn::Join"]
    assert [told(each) for each in lists] == [variables[each] for each in DESTINATIONS]


def test_the_lists_of_hosts_and_networks_fit_into_the_description_of_their_policy(stack: Stack) -> None:
    [_, [title, *lists]] = stack.properties("DestinationsPolicy")["Description"]["Fn::Join"]
    longest = [stack.parameter(told(each))["MaxLength"] for each in lists]
    assert len(title) + len(lists) + sum(longest) <= 1_000
    assert {stack.parameter(told(each))["Default"] for each in lists} == {""}


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
