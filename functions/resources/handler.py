"""The resources function. CloudFormation asks it for what templates declare. No route leads to it."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.base.errors import SweephandError
    from sweephand.runtime.resources import handle

    logger = Logger()


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Answer CloudFormation's request for a job, a policy or a calendar. Its properties may be secret."""
    error = handle(event, context.get_remaining_time_in_millis)
    about = {
        "request_id": context.aws_request_id,
        "stack": event["StackId"],
        "resource": event["LogicalResourceId"],
    }
    if error is None or isinstance(error, SweephandError):
        logger.info("declared", extra={**about, "refused": None if error is None else str(error)})
    else:
        logger.error("the request failed", extra=about, exc_info=error)
