"""The engines that every port's suite runs on."""

from tests.fakes.engines import (
    aws_environment,
    aws_payloads,
    dynamo,
    local_url,
    on_dynamodb_local,
    on_moto,
    on_wire,
    stores,
)

__all__ = [
    "aws_environment",
    "aws_payloads",
    "dynamo",
    "local_url",
    "on_dynamodb_local",
    "on_moto",
    "on_wire",
    "stores",
]
