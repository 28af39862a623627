"""The resources of the template can be made one after the other, some by functions of the stack."""

from graphlib import TopologicalSorter

import pytest
from tests.template.deployed import Deployed
from tests.template.stack import Stack, told
from tests.template.test_auth_modes import MODES

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.cloudformation import ANSWER_MS_MAX
from sweephand.delivery.functions import CALL_MS_MAX

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


@pytest.mark.parametrize("mode", MODES)
def test_templates_of_others_are_served_in_every_mode_only_if_the_operator_names_namespaces(
    stack: Stack, mode: str
) -> None:
    def of_resources(names: set[str]) -> set[str]:
        return {name for name in names if name.startswith("Resources")} | {"ServiceToken"} & names

    usual = Deployed(stack, **MODES[mode])
    assert of_resources(usual.names() | usual.outputs()) == set()
    serving = Deployed(stack, **MODES[mode], TemplateNamespaces="orders,team-*")
    assert {"ResourcesFunction", "ResourcesRole", "ServiceToken"} <= of_resources(
        serving.names() | serving.outputs()
    )
    assert serving.missing() == set()


def test_templates_import_the_live_version_of_the_function_by_the_name_of_the_stack(stack: Stack) -> None:
    output = stack.template["Outputs"]["ServiceToken"]
    assert told(output["Value"]) == "ResourcesFunctionAliaslive"
    assert told(output["Export"]["Name"]) == "${AWS::StackName}-ServiceToken"
    assert stack.variables("Resources")["API_FUNCTION"] == "ApiFunctionAliaslive"


def test_the_resources_function_has_time_for_its_calls_and_its_answer(stack: Stack) -> None:
    """It reads the description, writes, asks for the owner, and writes again."""
    limit_ms = stack.properties("ResourcesFunction")["Timeout"] * SECOND_MS
    assert limit_ms >= 4 * CALL_MS_MAX + ANSWER_MS_MAX


def test_lambda_repeats_a_request_without_an_answer_and_none_that_cloudformation_has_given_up(
    stack: Stack,
) -> None:
    """CloudFormation waits for an hour. A creation after its rollback would stay for ever."""
    config = stack.properties("ResourcesFunctionEventInvokeConfig")
    assert config["MaximumRetryAttempts"] == 2
    assert config["MaximumEventAgeInSeconds"] + stack.properties("ResourcesFunction")["Timeout"] < 3_600


def test_no_resource_depends_on_itself_whatever_the_parameters_are(stack: Stack) -> None:
    depends = stack.dependencies()
    assert "DeliverFunctionAliaslive" in depends["TickRole"]
    assert "PayloadTablesRights" in {name for each in depends.values() for name in each}
    order = list(TopologicalSorter(depends).static_order())  # CycleError names the circle
    assert order.index("DeliverFunctionAliaslive") < order.index("ApiFunctionAliaslive")
