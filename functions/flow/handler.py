"""The flow function. SQS invokes it with one work message, which names a flow policy."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.runs.flow.work_intake import Worked
    from sweephand.runtime.aws_ports import make_clients
    from sweephand.runtime.flow import report, work

    logger = Logger()
    make_clients()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Walk the line of the policy. The response names the message if SQS must deliver it again.

    A call without a message only starts the function.
    """
    failed = [
        {"itemIdentifier": record["messageId"]}
        for record in event["Records"]
        if not _is_done(work(record, context.get_remaining_time_in_millis()))
    ]
    return {"batchItemFailures": failed}


def _is_done(worked: Worked) -> bool:
    """Count and log what became of a work message. Returns whether SQS need not deliver it again."""
    for outcome, error in worked.errors:
        logger.error("fault", outcome=outcome, exc_info=error)
    if worked.error is not None:
        logger.error("fault", outcome="work", exc_info=worked.error)
    report(logger, worked)
    return worked.is_done
