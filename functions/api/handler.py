"""The API function. The gateway invokes it for every request."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.runtime.api import api


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The response to a request. Every error becomes a problem document."""
    return api()(event, context)
