"""The resources of the template can be made one after the other, some by functions of the stack."""

from graphlib import TopologicalSorter

import pytest
from tests.template.stack import Stack, told

CUSTOM = ("Lists",)

#: Lambda runs a function that has failed again after a minute.
#: Source: AWS Lambda Developer Guide, "How Lambda handles errors and retries with asynchronous invocation".
RETRY_S = 60


def test_these_are_all_of_them(stack: Stack) -> None:
    resources = stack.template["Resources"].items()
    assert {name for name, each in resources if each["Type"].startswith("Custom::")} == set(CUSTOM)


@pytest.mark.parametrize("name", CUSTOM)
def test_a_function_that_cannot_start_stops_no_deletion_of_the_stack(stack: Stack, name: str) -> None:
    """It has nothing to delete. CloudFormation would wait for an answer, and then give up."""
    resource = stack.resource(name)
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


@pytest.mark.parametrize("name", CUSTOM)
def test_cloudformation_waits_for_a_second_try_of_the_function(stack: Stack, name: str) -> None:
    properties = stack.properties(name)
    function = stack.properties(told(properties["ServiceToken"]).removesuffix("Aliaslive"))
    assert properties["ServiceTimeout"] >= function["Timeout"] + RETRY_S + function["Timeout"]


def test_no_resource_depends_on_itself_whatever_the_parameters_are(stack: Stack) -> None:
    depends = stack.dependencies()
    assert "DeliverFunctionAliaslive" in depends["TickRole"]
    assert "PayloadTablesRights" in {name for each in depends.values() for name in each}
    order = list(TopologicalSorter(depends).static_order())  # CycleError names the circle
    assert order.index("DeliverFunctionAliaslive") < order.index("ApiFunctionAliaslive")
