"""The delivery function. SQS invokes it with up to ten messages of the delivery queue."""

from sweephand.runtime.start import starting

with starting():
    from typing import TYPE_CHECKING, Any

    from aws_lambda_powertools import Logger

    from sweephand.runs.received import unfinished
    from sweephand.runtime.aws import make_clients
    from sweephand.runtime.delivery import count, deliver, report, wake_up

    if TYPE_CHECKING:
        from aws_lambda_powertools.utilities.typing import LambdaContext

    logger = Logger()
    make_clients()


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, list[dict[str, str]]]:
    """Handle each message by itself. The response names the messages that SQS must deliver again.

    Tick also invokes this function, to wake it. A wake-up has no messages and counts nothing.
    """
    if event.get("wakeUp"):
        wake_up(event["holdMs"])
        logger.info("woken")
        return {"batchItemFailures": []}
    handled = deliver(event["Records"], context.get_remaining_time_in_millis())
    report(logger, handled, context.aws_request_id)
    count(logger, handled, context.aws_request_id, context.get_remaining_time_in_millis())
    return {"batchItemFailures": [{"itemIdentifier": each.id} for each in unfinished(handled)]}
