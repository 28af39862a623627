"""The delivery function. SQS invokes it with up to ten messages of the delivery queue."""

from sweephand.runtime.start import starting

with starting():
    from collections import Counter
    from typing import TYPE_CHECKING, Any

    from aws_lambda_powertools import Logger, Metrics
    from aws_lambda_powertools.metrics import MetricUnit

    from sweephand.runs.outcome import METRICS
    from sweephand.runs.received import unfinished
    from sweephand.runtime.aws_ports import make_clients
    from sweephand.runtime.delivery import deliver, wake_up

    if TYPE_CHECKING:
        from aws_lambda_powertools.utilities.typing import LambdaContext

    logger = Logger()
    metrics = Metrics()
    make_clients()


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, list[dict[str, str]]]:
    """Handle each message by itself. The response names the messages that SQS must deliver again.

    Tick also invokes this function, to wake it. A wake-up has no messages and counts nothing.
    """
    if event.get("wakeUp"):
        wake_up(event.get("holdMs"))
        logger.info("woken")
        return {"batchItemFailures": []}
    handled = deliver(event["Records"], context.get_remaining_time_in_millis())
    outcomes = Counter(each.outcome.name for each in handled)
    lateness = [each.outcome.lateness_ms for each in handled if each.outcome.lateness_ms is not None]
    for outcome, count in outcomes.items():
        metrics.add_metric(METRICS[outcome], MetricUnit.Count, count)
    for lateness_ms in lateness:
        metrics.add_metric("Lateness", MetricUnit.Milliseconds, lateness_ms)
    metrics.flush_metrics()
    for each in handled:
        if each.error is not None:
            logger.error("fault", outcome=each.outcome.name, exc_info=each.error)
    counts: dict[str, int | None] = {str(outcome): count for outcome, count in outcomes.items()}
    logger.info("delivered", extra={**counts, "lateness_ms": max(lateness, default=None)})
    return {"batchItemFailures": [{"itemIdentifier": each.id} for each in unfinished(handled)]}
