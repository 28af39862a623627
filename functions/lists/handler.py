"""The lists function. CloudFormation asks it when the stack is deployed. No route of the API leads to it."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.runtime.lists import handle

    logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> None:
    """Answer CloudFormation's request for the custom resource `Lists`."""
    error = handle(event)
    logger.info("packed", extra={"refused": None if error is None else str(error)})
