"""The flow function: the record of an SQS event in, and what became of the message out."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from sweephand.runs.flow_intake import FlowIntake, Worked
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.delivery import counted, deliveries, failures, log_triggers, log_uncounted, received_of
from sweephand.runtime.flow_stores import flow_stores
from sweephand.runtime.metrics import Values, write

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


@cache
def flow_intake() -> FlowIntake:
    """The use case over this stack."""
    return compose_flow(flow_stores(), deliveries())


def work(record: Mapping[str, Any], remaining_ms: int) -> Worked:
    """Handle the record of an SQS event, within the function's remaining time in milliseconds."""
    deadline = deliveries().stores.clock.now() + remaining_ms
    return flow_intake().handle(received_of(record), deadline=deadline)


def count(logger: "Logger", worked: Worked, request_id: str | None, remaining_ms: int) -> None:
    """Count what became of the triggers of a message, if the stack counts. A failure is only logged."""
    if (stats := deliveries().stats) is not None:
        deadline = deliveries().stores.clock.now() + remaining_ms
        error = stats.count_of_line(worked.namespace, worked.triggers, request_id or "", deadline)
        log_uncounted(logger, error, request_id)


def report(logger: "Logger", worked: Worked, request_id: str | None) -> None:
    """Write the log lines of a message, with its metrics.

    No lateness is measured: a trigger that waits for a permit is late because its policy says so.
    """
    log_triggers(logger, worked.noteworthy, request_id)
    for error in (worked.refusal, worked.error):
        if error is not None:
            logger.error("fault", extra={"request_id": request_id, "outcome": "work"}, exc_info=error)
    fields: dict[str, object] = {str(name): count for name, count in worked.triggers.items()}
    fields["work"] = worked.outcome
    failed: Values = {"Failures": failures(worked.triggers)}
    in_use = [worked.open_max] if worked.open_max else []
    write(
        logger,
        "worked",
        fields,
        {**counted(worked.triggers), **failed, "PermitsInUse": in_use},
        deliveries().stores.clock.now(),
        by_namespace={} if worked.namespace is None else {worked.namespace: failed},
    )
