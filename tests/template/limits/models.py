"""The constraints that AWS's own models state: lengths, ranges, patterns and values of API parameters.

botocore carries the models. The properties of a resource have the names of the parameters of the operation
that CloudFormation calls for it.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import botocore.session
from botocore.model import ListShape, MapShape, Shape, StructureShape

#: The operation that CloudFormation calls for a resource of a type.
OPERATIONS: Final = {
    "AWS::ApiGatewayV2::Api": "apigatewayv2:CreateApi",
    "AWS::ApiGatewayV2::ApiMapping": "apigatewayv2:CreateApiMapping",
    "AWS::ApiGatewayV2::Authorizer": "apigatewayv2:CreateAuthorizer",
    "AWS::ApiGatewayV2::DomainName": "apigatewayv2:CreateDomainName",
    "AWS::ApiGatewayV2::Integration": "apigatewayv2:CreateIntegration",
    "AWS::ApiGatewayV2::Route": "apigatewayv2:CreateRoute",
    "AWS::ApiGatewayV2::Stage": "apigatewayv2:CreateStage",
    "AWS::CloudWatch::Alarm": "cloudwatch:PutMetricAlarm",
    "AWS::CloudWatch::Dashboard": "cloudwatch:PutDashboard",
    "AWS::CodeDeploy::Application": "codedeploy:CreateApplication",
    "AWS::CodeDeploy::DeploymentGroup": "codedeploy:CreateDeploymentGroup",
    "AWS::DynamoDB::Table": "dynamodb:CreateTable",
    "AWS::IAM::ManagedPolicy": "iam:CreatePolicy",
    "AWS::IAM::Policy": "iam:PutRolePolicy",
    "AWS::IAM::Role": "iam:CreateRole",
    "AWS::Lambda::Alias": "lambda:CreateAlias",
    "AWS::Lambda::EventInvokeConfig": "lambda:PutFunctionEventInvokeConfig",
    "AWS::Lambda::EventSourceMapping": "lambda:CreateEventSourceMapping",
    "AWS::Lambda::Function": "lambda:CreateFunction",
    "AWS::Lambda::LayerVersion": "lambda:PublishLayerVersion",
    "AWS::Lambda::Permission": "lambda:AddPermission",
    "AWS::Lambda::Version": "lambda:PublishVersion",
    "AWS::Logs::LogGroup": "logs:CreateLogGroup",
    "AWS::Scheduler::Schedule": "scheduler:CreateSchedule",
}

#: Properties for which CloudFormation calls another operation than the one above, or that it names otherwise.
ELSEWHERE: Final = {
    "AWS::CodeDeploy::DeploymentGroup.DeploymentStyle": "codedeploy:CreateDeploymentGroup.deploymentStyle",
    "AWS::DynamoDB::Table.PointInTimeRecoverySpecification": (
        "dynamodb:UpdateContinuousBackups.PointInTimeRecoverySpecification"
    ),
    "AWS::DynamoDB::Table.TimeToLiveSpecification": "dynamodb:UpdateTimeToLive.TimeToLiveSpecification",
    "AWS::IAM::ManagedPolicy.Roles": "iam:AttachRolePolicy.RoleName",
    "AWS::IAM::Policy.Roles": "iam:PutRolePolicy.RoleName",
    "AWS::IAM::Role.ManagedPolicyArns": "iam:AttachRolePolicy.PolicyArn",
    "AWS::IAM::Role.Policies": "iam:PutRolePolicy",
    "AWS::Lambda::Function.Code": "lambda:UpdateFunctionCode",
    "AWS::Lambda::Function.RecursiveLoop": "lambda:PutFunctionRecursionConfig.RecursiveLoop",
    "AWS::Lambda::Function.ReservedConcurrentExecutions": (
        "lambda:PutFunctionConcurrency.ReservedConcurrentExecutions"
    ),
    "AWS::Logs::LogGroup.RetentionInDays": "logs:PutRetentionPolicy.retentionInDays",
}

#: Types whose services take attributes as texts, so that their models say nothing. table.py has their rules.
WITHOUT_MODEL: Final = frozenset(
    {
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
    }
)

#: What CloudFormation calls a parameter below the first level, where the API says something else.
_OTHER_NAMES: Final = {"SSEEnabled": "Enabled"}

#: Parameters that take a JSON text where CloudFormation takes the object itself.
_DOCUMENTS: Final = frozenset({"PolicyDocument", "AssumeRolePolicyDocument"})


def violations(kind: str, properties: dict[str, Any]) -> Iterator[str]:
    """What the model says against the properties of a resource of that type, each with its place."""
    for name, value in properties.items():
        if (place := f"{kind}.{name}") in ELSEWHERE:
            shape = _parameter(ELSEWHERE[place])
            for each in value if isinstance(value, list) else [value]:
                yield from _against(shape, each, place)
        elif name == "Tags":
            continue  # a list here and a map there; the tags of SAM, which names no resource by them
        else:
            yield from _against(_parameter(OPERATIONS[kind]), {name: value}, kind)


def _against(shape: Shape, value: Any, place: str) -> Iterator[str]:
    match shape:
        case StructureShape():
            yield from _against_members(shape, value, place)
        case ListShape():
            yield from _out_of_range(shape, len(value), place)
            for each in value:
                yield from _against(shape.member, each, place)
        case MapShape():
            for name, each in value.items():
                yield from _against(shape.key, name, f"{place} (name)")
                yield from _against(shape.value, each, f"{place}.{name}")
        case Shape(type_name="string"):
            yield from _against_text(shape, str(value), place)
        case Shape(type_name="integer" | "long" | "float" | "double"):
            yield from _out_of_range(shape, float(value), place)


def _against_members(shape: StructureShape, value: dict[str, Any], place: str) -> Iterator[str]:
    members = {name.lower(): each for name, each in shape.members.items()}
    for name, each in value.items():
        member = members.get(_OTHER_NAMES.get(name, name).lower())
        if member is None:
            yield f"{place}.{name} is no parameter of {shape.name}"
        else:
            said = json.dumps(each) if name in _DOCUMENTS else each
            yield from _against(member, said, f"{place}.{name}")


def _against_text(shape: Shape, text: str, place: str) -> Iterator[str]:
    yield from _out_of_range(shape, len(text), place)
    if (enum := shape.metadata.get("enum")) and text not in enum:
        yield f"{place}: {text} is none of {enum}"
    if (pattern := shape.metadata.get("pattern")) and not re.search(_anchored(pattern), text):
        yield f"{place}: {text} does not match {pattern}"


def _anchored(pattern: str) -> str:
    """A pattern of AWS is for the whole text, also where it does not say so. Python lacks Java's p{Alnum}."""
    return f"^(?:{pattern.replace(chr(92) + 'p{Alnum}', 'A-Za-z0-9')})$"


def _out_of_range(shape: Shape, size: float, place: str) -> Iterator[str]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if (least is not None and size < least) or (most is not None and size > most):
        yield f"{place}: {size:g} is not from {least} to {most}"


def _parameter(path: str) -> Shape:
    """The shape of a parameter, given as `service:Operation` and the names below it."""
    service, _, rest = path.partition(":")
    operation, *names = rest.split(".")
    shape: Any = _model(service).operation_model(operation).input_shape
    for name in names:
        shape = shape.members[name]
    found: Shape = shape
    return found


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


@cache
def operations(service: str) -> frozenset[str]:
    """The names of the operations of a service, given as the prefix of its actions in IAM."""
    return frozenset(_model({"states": "stepfunctions"}.get(service, service)).operation_names)
