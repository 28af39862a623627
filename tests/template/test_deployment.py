"""The API's address, and how an update of the stack goes to its functions."""

from typing import Final

import pytest
from tests.template.deployed import Deployed
from tests.template.stack import Stack, told

DOMAIN: Final = {
    "DomainName": "jobs.example.com",
    "CertificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/a",
}


def test_the_api_has_the_gateway_s_address_unless_the_operator_names_a_domain(stack: Stack) -> None:
    usual = Deployed(stack)
    assert usual.named("AWS::ApiGatewayV2::DomainName") == usual.named("AWS::ApiGatewayV2::ApiMapping") == {}
    assert usual.named("AWS::ApiGatewayV2::Api")["HttpApi"]["DisableExecuteApiEndpoint"] is False
    assert usual.output("ApiUrl") == {"Fn::GetAtt": ["HttpApi", "ApiEndpoint"]}
    assert not {"DomainTarget", "DomainHostedZoneId"} & usual.outputs()


def test_a_domain_leads_to_the_stage_of_the_api(stack: Stack) -> None:
    found = Deployed(stack, **DOMAIN)
    [domain] = found.named("AWS::ApiGatewayV2::DomainName").values()
    [configuration] = domain["DomainNameConfigurations"]
    assert (told(domain["DomainName"]), told(configuration["CertificateArn"])) == (
        "DomainName",
        "CertificateArn",
    )
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    [mapping] = found.named("AWS::ApiGatewayV2::ApiMapping").values()
    assert {name: told(value) for name, value in mapping.items()} == {
        "ApiId": "HttpApi",
        "DomainName": "ApiDomain",
        "Stage": "HttpApiStage",
    }
    assert told(found.output("ApiUrl")) == "https://${DomainName}"
    assert {"DomainTarget", "DomainHostedZoneId"} <= found.outputs()
    assert found.missing() == set()


def test_the_gateway_s_address_can_be_closed_where_there_is_a_domain(stack: Stack) -> None:
    closed = Deployed(stack, **DOMAIN, DisableDefaultEndpoint="true")
    assert closed.named("AWS::ApiGatewayV2::Api")["HttpApi"]["DisableExecuteApiEndpoint"] is True
    assert closed.refusals() == []


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"DomainName": "jobs.example.com"}, "CertificateArn"),
        ({"DisableDefaultEndpoint": "true"}, "DomainName"),
        ({"ProvisionedPollers": "1"}, "from 2 to 200"),
        ({"GradualDeployments": "true"}, "AlarmTopicArn"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_before_anything_changes(
    stack: Stack, parameters: dict[str, str], named: str
) -> None:
    [refusal] = Deployed(stack, **parameters).refusals()
    assert named in refusal


def test_an_update_goes_to_all_work_at_once_unless_the_operator_says_so(stack: Stack) -> None:
    assert stack.parameter("GradualDeployments")["Default"] == "false"
    assert not [each for each in stack.template["Resources"].values() if "CodeDeploy" in each["Type"]]
    assert not any("UpdatePolicy" in each for each in stack.whole("AWS::Lambda::Alias"))
    assert "GradualDeploymentsRole" not in Deployed(stack).names()


GRADUAL: Final = {
    "GradualDeployments": "true",
    "AlarmTopicArn": "arn:aws:sns:eu-west-1:123456789012:a",
    "FlowPolicies": "on",
}


@pytest.mark.parametrize(
    ("function", "alarm"),
    [("Api", "ApiFailuresAlarm"), ("Deliver", "DeliverFailuresAlarm"), ("Flow", "FlowFailuresAlarm")],
)
def test_a_gradual_update_goes_back_if_the_alarm_of_the_function_says_so(
    gradual: Stack, function: str, alarm: str
) -> None:
    update = gradual.resource(f"{function}FunctionAliaslive")["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    assert told(update["DeploymentGroupName"]) == f"{function}FunctionDeploymentGroup"
    group = Deployed(gradual, **GRADUAL).named("AWS::CodeDeploy::DeploymentGroup")[
        f"{function}FunctionDeploymentGroup"
    ]
    assert [told(each["Name"]) for each in group["AlarmConfiguration"]["Alarms"]] == [alarm]
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    assert told(group["ServiceRoleArn"]) == "GradualDeploymentsRole.Arn"


def test_sam_makes_no_role_of_its_own_which_would_have_no_boundary(gradual: Stack) -> None:
    assert "CodeDeployServiceRole" not in gradual.named("AWS::IAM::Role")


def test_the_switch_alone_publishes_no_version(stack: Stack, gradual: Stack) -> None:
    """CloudFormation fails to publish a version of a function that has not changed."""
    assert gradual.named("AWS::Lambda::Version") == stack.named("AWS::Lambda::Version")


def test_nothing_of_a_gradual_stack_refers_to_what_is_not_there(gradual: Stack) -> None:
    assert Deployed(gradual, **GRADUAL).missing() == set()
    assert Deployed(gradual, **GRADUAL | {"FlowPolicies": "off"}).missing() == set()
