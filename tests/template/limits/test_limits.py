"""What AWS would refuse of the template, under the longest names and values that its parameters permit."""

import re
from itertools import permutations
from typing import Any, Final

import pytest
from tests.template.limits import access, compute, storage
from tests.template.limits.models import OPERATIONS, WITHOUT_MODEL, violations
from tests.template.limits.parameters import STACKS
from tests.template.limits.resolved import Resolved
from tests.template.limits.rule import Rule
from tests.template.stack import Stack

RULES: Final = [*access.RULES, *compute.RULES, *storage.RULES]


@pytest.fixture(scope="module")
def stacks(stack: Stack, gradual: Stack) -> dict[str, Resolved]:
    """The deployed stacks, by the names of STACKS."""
    return {
        name: Resolved(gradual if "GradualDeployments" in parameters else stack, parameters)
        for name, parameters in STACKS.items()
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.of}: {rule.says}")
def test_the_template_keeps_a_rule_of_aws(stacks: dict[str, Resolved], rule: Rule) -> None:
    found = [(name, each) for name, stack in stacks.items() for each in rule.found(stack)]
    assert found, "a rule that looks at nothing cannot fail"
    assert [each for each in found if not rule.holds(each[1][1])] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.of}: {rule.says}")
def test_a_rule_refuses_what_is_wrong(rule: Rule) -> None:
    assert not rule.holds(rule.wrong)
    assert "//" in rule.source


def test_every_property_is_within_the_model_of_its_service(stacks: dict[str, Resolved]) -> None:
    found = {
        (name, said)
        for stack in stacks.values()
        for name, (kind, properties) in stack.resources.items()
        if kind in OPERATIONS
        for said in violations(kind, properties)
    }
    assert found == set()


def test_every_type_of_the_template_is_looked_at(stack: Stack) -> None:
    kinds = {each["Type"] for each in stack.template["Resources"].values()}
    ruled = {kind for kind in WITHOUT_MODEL if any(rule.of.startswith(kind) for rule in RULES)}
    assert {each for each in kinds if not each.startswith("Custom::")} <= OPERATIONS.keys() | ruled


@pytest.mark.parametrize(
    ("kind", "properties", "said"),
    [
        ("AWS::Lambda::Version", {"Description": "x" * 257}, "257 is not from 0 to 256"),
        ("AWS::IAM::ManagedPolicy", {"Description": "x" * 1_001}, "1001 is not from None to 1000"),
        ("AWS::IAM::ManagedPolicy", {"ManagedPolicyDescription": "x"}, "is no parameter of"),
        ("AWS::IAM::Role", {"Path": "team"}, "does not match"),
        ("AWS::Scheduler::Schedule", {"FlexibleTimeWindow": {"Mode": "NO"}}, "is none of"),
        ("AWS::ApiGatewayV2::Integration", {"TimeoutInMillis": 30_001}, "30001 is not from 50 to 30000"),
    ],
)
def test_a_model_refuses_what_is_wrong(kind: str, properties: dict[str, Any], said: str) -> None:
    assert any(said in each for each in violations(kind, properties))


@pytest.mark.parametrize("name", STACKS)
def test_the_parameters_permit_the_values_of_a_stack(stack: Stack, name: str) -> None:
    for parameter, value in STACKS[name].items():
        declared = stack.parameter(parameter)
        values = value.split(",") if declared["Type"] == "CommaDelimitedList" else [value]
        assert len(value) <= int(declared.get("MaxLength", 4_096)), parameter
        assert value in map(str, declared.get("AllowedValues", [value])), parameter
        assert all(re.search(declared.get("AllowedPattern", ""), each) for each in values), parameter
        if declared["Type"] == "Number" and "MaxValue" in declared:
            assert declared["MinValue"] <= int(value) <= declared["MaxValue"], parameter
    assert Resolved(stack, STACKS[name]).deployed.refusals() == []


def test_no_update_attaches_more_managed_policies_than_a_role_takes(stacks: dict[str, Resolved]) -> None:
    """CloudFormation attaches new policies before it detaches those that the update removes or replaces."""
    for before, after in permutations(stacks.values(), 2):
        old, new = access.managed(before), access.managed(after)
        for role in old.keys() & new.keys():
            replaced = {each for each in old[role] & new[role] if access.is_replaced(before, after, each)}
            assert len(old[role] | new[role]) + len(replaced) <= 10
