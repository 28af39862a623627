"""API: what the gateway invokes with every request."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from sweephand.runtime.api import api


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The answer to a request; whatever goes wrong is a problem document."""
    return api()(event, context)
