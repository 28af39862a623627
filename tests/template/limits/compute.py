"""Rules about functions, the API, and deployments of them."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.template.limits.resolved import Resolved
from tests.template.limits.rule import DOCS, Found, Rule, between, each
from tests.template.stack import listed

_LAMBDA: Final = f"{DOCS}/lambda/latest/dg/gettingstarted-limits.html"
_SQS_SOURCE: Final = f"{DOCS}/lambda/latest/dg/services-sqs-configure.html"
_SCALING: Final = f"{DOCS}/lambda/latest/dg/services-sqs-scaling.html"
_POLLERS: Final = f"{DOCS}/lambda/latest/api/API_ProvisionedPollerConfig.html"
_SNAPSTART: Final = f"{DOCS}/lambda/latest/dg/snapstart.html"
_GATEWAY: Final = f"{DOCS}/apigateway/latest/developerguide/http-api-quotas.html"
_DEPLOYMENTS: Final = f"{DOCS}/codedeploy/latest/userguide/limits.html"

_FUNCTION: Final = "AWS::Lambda::Function"
_MAPPING: Final = "AWS::Lambda::EventSourceMapping"
_STAGE: Final = "AWS::ApiGatewayV2::Stage"
_ROUTE: Final = "AWS::ApiGatewayV2::Route"


def _environments(stack: Resolved) -> Iterator[tuple[str, Any]]:
    """The lengths as JSON: AWS does not say whether quotes count."""
    for name, variables in each(_FUNCTION, "Environment", "Variables")(stack):
        yield (
            name,
            len(json.dumps({key: str(value) for key, value in variables.items()}, separators=(",", ":"))),
        )


def _waits(stack: Resolved) -> Iterator[tuple[str, Any]]:
    """The visibility time-out of each polled queue, and the time limit of the function that reads it."""
    resources = stack.template["Resources"]
    for name in stack.named(_MAPPING):
        mapping = resources[name]["Properties"]
        queue = mapping["EventSourceArn"]["Fn::GetAtt"][0]
        function = mapping["FunctionName"]["Ref"].removesuffix("Aliaslive")
        yield (
            name,
            (
                resources[queue]["Properties"]["VisibilityTimeout"],
                resources[function]["Properties"]["Timeout"],
            ),
        )


def _pollers(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, config in each(_MAPPING, "ProvisionedPollerConfig")(stack):
        yield name, (config["MinimumPollers"], config["MaximumPollers"])


def _named_routes(stack: Resolved) -> Iterator[tuple[str, Any]]:
    """The routes with settings of their own, each with the routes that are there before the stage is."""
    resources = stack.template["Resources"]
    for name, settings in each(_STAGE, "RouteSettings")(stack):
        before = [resources[each]["Properties"]["RouteKey"] for each in listed(resources[name]["DependsOn"])]
        yield from ((name, (key, before)) for key in settings)


def _settings(stack: Resolved) -> Iterator[tuple[str, Any]]:
    yield from each(_STAGE, "DefaultRouteSettings")(stack)
    for name, settings in each(_STAGE, "RouteSettings")(stack):
        yield from ((name, setting) for setting in settings.values())


def _counted(kind: str) -> Any:
    def found(stack: Resolved) -> Found:
        return [(kind, len(stack.named(kind)))]

    return found


RULES: Final = [
    Rule(
        f"{_FUNCTION}.Environment", "4 KB, names and values", _LAMBDA, _environments, between(0, 4_096), 4_097
    ),
    Rule(f"{_FUNCTION}.Timeout", "1 to 900 s", _LAMBDA, each(_FUNCTION, "Timeout"), between(1, 900), 901),
    Rule(
        f"{_FUNCTION}.MemorySize",
        "128 to 10,240 MB",
        _LAMBDA,
        each(_FUNCTION, "MemorySize"),
        between(128, 10_240),
        64,
    ),
    Rule(
        f"{_FUNCTION}.Layers",
        "5",
        _LAMBDA,
        each(_FUNCTION, "Layers"),
        lambda layers: len(layers) <= 5,
        ["x"] * 6,
    ),
    Rule(
        f"{_FUNCTION}.VpcConfig",
        "16 subnets and 5 security groups",
        f"{DOCS}/lambda/latest/api/API_VpcConfig.html",
        each(_FUNCTION, "VpcConfig"),
        lambda network: 1 <= len(network["SubnetIds"]) <= 16 and 1 <= len(network["SecurityGroupIds"]) <= 5,
        {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"] * 6},
    ),
    Rule(
        f"{_FUNCTION}.SnapStart",
        "of Python from 3.12 on",
        _SNAPSTART,
        lambda stack: (
            (name, function["Runtime"])
            for name, function in stack.named(_FUNCTION).items()
            if "SnapStart" in function
        ),
        lambda runtime: int(runtime.removeprefix("python3.")) >= 12,
        "python3.11",
    ),
    Rule(
        f"{_MAPPING}.BatchSize",
        "10 without a batching window",
        _SQS_SOURCE,
        each(_MAPPING),
        lambda mapping: mapping["BatchSize"] <= 10 or mapping.get("MaximumBatchingWindowInSeconds", 0) > 0,
        {"BatchSize": 11},
    ),
    Rule(
        f"{_MAPPING}.EventSourceArn",
        "a queue whose visibility time-out is not below the function's time limit",
        _SQS_SOURCE,
        _waits,
        lambda waits: waits[0] >= waits[1],
        (89, 90),
    ),
    Rule(
        f"{_MAPPING}.ScalingConfig.MaximumConcurrency",
        "2 to 1,000",
        _SCALING,
        each(_MAPPING, "ScalingConfig", "MaximumConcurrency"),
        between(2, 1_000),
        1,
    ),
    Rule(
        f"{_MAPPING}.ProvisionedPollerConfig",
        "not together with ScalingConfig",
        _SCALING,
        each(_MAPPING),
        lambda mapping: not {"ScalingConfig", "ProvisionedPollerConfig"} <= mapping.keys(),
        {"ScalingConfig": {}, "ProvisionedPollerConfig": {}},
    ),
    Rule(
        f"{_MAPPING}.ProvisionedPollerConfig.MinimumPollers",
        "2 to 200, and not above MaximumPollers, which is 2 to 2,000",
        _POLLERS,
        _pollers,
        lambda pollers: 2 <= pollers[0] <= 200 and pollers[0] <= pollers[1] <= 2_000,
        (3, 2),
    ),
    Rule(
        f"{_STAGE}.RouteSettings",
        "of routes that exist: the gateway refuses a stage that names another one",
        f"{DOCS}/apigateway/latest/developerguide/http-api-throttling.html",
        _named_routes,
        lambda named: named[0] in named[1],
        ("GET /x", ["GET /y"]),
    ),
    Rule(
        f"{_STAGE}, rates",
        "a burst is a whole number of 5,000 at most, and a rate 10,000 at most",
        f"{DOCS}/apigateway/latest/developerguide/limits.html",
        _settings,
        lambda setting: (
            float(setting["ThrottlingBurstLimit"]).is_integer()
            and 0 < setting["ThrottlingBurstLimit"] <= 5_000
            and 0 < setting["ThrottlingRateLimit"] <= 10_000
        ),
        {"ThrottlingBurstLimit": 5_001, "ThrottlingRateLimit": 1},
    ),
    Rule(f"{_ROUTE}s", "300 of an API", _GATEWAY, _counted(_ROUTE), between(0, 300), 301),
    Rule(
        "AWS::ApiGatewayV2::Authorizers",
        "10 of an API",
        _GATEWAY,
        _counted("AWS::ApiGatewayV2::Authorizer"),
        between(0, 10),
        11,
    ),
    Rule(
        "AWS::ApiGatewayV2::Authorizer.JwtConfiguration.Audience",
        "50",
        _GATEWAY,
        each("AWS::ApiGatewayV2::Authorizer", "JwtConfiguration", "Audience"),
        lambda audiences: 1 <= len(audiences) <= 50,
        ["x"] * 51,
    ),
    Rule(
        "AWS::CodeDeploy::DeploymentGroup.AlarmConfiguration.Alarms",
        "10",
        _DEPLOYMENTS,
        each("AWS::CodeDeploy::DeploymentGroup", "AlarmConfiguration", "Alarms"),
        lambda alarms: len(alarms) <= 10,
        ["x"] * 11,
    ),
]
