"""The flow function. SQS invokes it with one message about a gate of a flow policy."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.runtime.aws import make_clients
    from sweephand.runtime.flow import count, report, work

    logger = Logger()
    make_clients()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Walk the line of the policy. The response names the message if SQS must deliver it again.

    A call without a message only starts the function.
    """
    failed = []
    for record in event["Records"]:
        worked = work(record, context.get_remaining_time_in_millis())
        report(logger, worked, context.aws_request_id)
        count(logger, worked, context.aws_request_id, context.get_remaining_time_in_millis())
        if not worked.is_done:
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
