"""What each AuthMode deploys: its authorizer, its routes, and no function or right that it does not need."""

import re
from typing import Any, Final

import pytest
from tests.template.deployed import Deployed
from tests.template.stack import Stack, told

from sweephand.access.authentication import AUTH_MODES
from sweephand.web.operations import OPERATIONS

ISSUER: Final = "https://issuer.example/pool"
JWT: Final = {"AuthMode": "jwt", "JwtIssuer": ISSUER, "JwtAudience": "sweephand"}
MODES: Final = {"keys": {}, "iam": {"AuthMode": "iam"}, "jwt": JWT}

#: The functions of a stack that no caller of the API needs to be known by.
OTHERS: Final = {
    "ApiFunction",
    "ListsFunction",
    "TickFunction",
    "SweepFunction",
    "DeliverFunction",
    "FlowFunction",
}


def deployed(stack: Stack, mode: str) -> Deployed:
    return Deployed(stack, **MODES[mode])


def route(stack: Stack, mode: str) -> dict[str, Any]:
    return deployed(stack, mode).named("AWS::ApiGatewayV2::Route")["ApiRoute"]


def test_the_modes_are_those_that_the_api_knows_and_keys_are_the_default(stack: Stack) -> None:
    parameter = stack.parameter("AuthMode")
    assert (parameter["Default"], tuple(parameter["AllowedValues"])) == ("keys", AUTH_MODES)
    assert set(MODES) == set(AUTH_MODES)
    assert stack.variables("Api")["AUTH_MODE"] == "AuthMode"


@pytest.mark.parametrize("mode", MODES)
def test_nothing_that_is_deployed_refers_to_what_is_not(stack: Stack, mode: str) -> None:
    assert deployed(stack, mode).missing() == set()


def test_with_keys_the_gateway_asks_the_authorizer_function(stack: Stack) -> None:
    assert (route(stack, "keys")["AuthorizationType"], told(route(stack, "keys")["AuthorizerId"])) == (
        "CUSTOM",
        "ApiAuthorizer",
    )
    assert set(deployed(stack, "keys").named("AWS::ApiGatewayV2::Authorizer")) == {"ApiAuthorizer"}


def test_with_iam_the_gateway_checks_signatures_and_has_no_authorizer(stack: Stack) -> None:
    assert route(stack, "iam")["AuthorizationType"] == "AWS_IAM"
    assert "AuthorizerId" not in route(stack, "iam")
    assert deployed(stack, "iam").named("AWS::ApiGatewayV2::Authorizer") == {}


def test_with_jwt_the_gateway_verifies_tokens_of_the_issuer_for_the_audiences(stack: Stack) -> None:
    assert (route(stack, "jwt")["AuthorizationType"], told(route(stack, "jwt")["AuthorizerId"])) == (
        "JWT",
        "JwtAuthorizer",
    )
    [authorizer] = deployed(stack, "jwt").named("AWS::ApiGatewayV2::Authorizer").values()
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer["JwtConfiguration"] == {
        "Issuer": {"Ref": "JwtIssuer"},
        "Audience": {"Fn::Split": [",", {"Ref": "JwtAudience"}]},
    }


@pytest.mark.parametrize(
    ("mode", "needed"),
    [
        ("keys", {"AuthorizerFunction", "AdminKeyFunction"}),
        ("iam", {"AdminKeyFunction"}),
        ("jwt", set()),
    ],
)
def test_a_mode_has_the_functions_and_the_roles_that_it_needs(
    stack: Stack, mode: str, needed: set[str]
) -> None:
    found = deployed(stack, mode)
    assert set(found.named("AWS::Lambda::Function")) == OTHERS | needed
    roles = {"ApiRole", "ListsRole", "TickRole", "SweepRole", "DeliverRole", "MinuteScheduleRole"}
    assert set(found.named("AWS::IAM::Role")) == roles | {each.replace("Function", "Role") for each in needed}
    allowed = {told(each["FunctionName"]) for each in found.named("AWS::Lambda::Permission").values()}
    authorizer = {"AuthorizerFunctionAliaslive"} if "AuthorizerFunction" in needed else set()
    assert allowed == {"ApiFunctionAliaslive"} | authorizer
    assert ("AdminKeyFunctionName" in found.outputs()) == ("AdminKeyFunction" in needed)


def pattern(path: str) -> str:
    return re.sub(r"\{\w+}", "{}", path)


@pytest.mark.parametrize("mode", MODES)
def test_the_routes_without_an_authorizer_are_those_of_calls_that_the_api_itself_checks(
    stack: Stack, mode: str
) -> None:
    routes = deployed(stack, mode).named("AWS::ApiGatewayV2::Route").values()
    found = {pattern(each["RouteKey"]) for each in routes if each["AuthorizationType"] == "NONE"}
    # With keys the authorizer function lets the tokens of runs in. No other kind of authorizer can.
    access = {"open"} if mode == "keys" else {"open", "callback"}
    expected = {f"{each.method} {pattern(each.path)}" for each in OPERATIONS if each.access in access}
    assert found == expected
    guarded = {each["RouteKey"] for each in routes if each["AuthorizationType"] != "NONE"}
    assert guarded == {"ANY /v1/{proxy+}"}


def test_callbacks_may_be_as_many_as_other_requests(stack: Stack) -> None:
    throttled = set(stack.properties("HttpApiStage")["RouteSettings"])
    assert not [each for each in throttled if each.startswith("POST")]


@pytest.mark.parametrize("missing", ["JwtIssuer", "JwtAudience"])
def test_a_stack_for_tokens_without_an_issuer_or_an_audience_is_refused(stack: Stack, missing: str) -> None:
    found = Deployed(stack, **{name: each for name, each in JWT.items() if name != missing}).refusals()
    assert [each for each in found if missing in each]
    assert len(found) == 1


@pytest.mark.parametrize("mode", MODES)
def test_no_rule_is_against_a_complete_stack(stack: Stack, mode: str) -> None:
    assert deployed(stack, mode).refusals() == []


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (
            "JwtIssuer",
            ["", ISSUER, "https://a.example/", "http://127.0.0.1:8000/x"],
            ["http://issuer.example", "issuer.example", "https://a.example?x=1", "https://a b", "https://"],
        ),
        ("JwtAudience", ["", "a", "a,https://api.example/"], ["a,", ",a", "a b", "a,,b"]),
        ("JwtNamespaceClaim", ["ns", "https://a.example/ns", "custom:ns"], ["", "a b", "a,b", "${x}"]),
        ("JwtRoleClaim", ["role"], ["", "a b"]),
    ],
)
def test_a_parameter_takes_what_the_gateway_and_the_api_can_use(
    stack: Stack, parameter: str, good: list[str], bad: list[str]
) -> None:
    allowed = stack.parameter(parameter)["AllowedPattern"]
    assert [each for each in good if not re.search(allowed, each)] == []
    assert [each for each in bad if re.search(allowed, each)] == []


@pytest.mark.parametrize(
    ("mode", "caller"),
    [
        ("keys", "$context.authorizer.keyId"),
        ("iam", "$context.identity.userArn"),
        ("jwt", "$context.authorizer.claims.sub"),
    ],
)
def test_the_access_log_names_the_caller_as_the_mode_knows_it(stack: Stack, mode: str, caller: str) -> None:
    [stage] = deployed(stack, mode).named("AWS::ApiGatewayV2::Stage").values()
    [text, values] = stage["AccessLogSettings"]["Format"]["Fn::Sub"]
    assert '"key":"${Caller}"' in text
    assert values == {"Caller": caller}
