"""The flow function: the record of an SQS event in, and what became of the work message out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.access.signing_keys
import sweephand.delivery.registry
import sweephand.delivery.sqs_queue
import sweephand.delivery.stack_queues
import sweephand.jobs.settings_cache
import sweephand.runs.handlers
import sweephand.runs.valve
import sweephand.storage.allowances
import sweephand.storage.jobs
import sweephand.storage.lines
import sweephand.storage.namespaces
import sweephand.storage.payloads
import sweephand.storage.permits
import sweephand.storage.policy_lines
import sweephand.storage.runs
import sweephand.storage.signing_secrets  # noqa: F401
from sweephand.runs.flow.work_intake import Worked
from sweephand.runtime.aws_ports import app
from sweephand.runtime.delivery import counted, failures, log_triggers, log_uncounted, received_of
from sweephand.runtime.metrics import Values, write

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


def work(record: Mapping[str, Any], remaining_ms: int) -> Worked:
    """Handle the record of an SQS event, within the function's remaining time in milliseconds."""
    deadline = app().ports.clock.now() + remaining_ms
    return app().flow.work_intake.handle(received_of(record), deadline=deadline)


def count(logger: "Logger", worked: Worked, request_id: str | None, remaining_ms: int) -> None:
    """Count what became of the triggers of a work message, if the stack counts. A failure is only logged."""
    if (stats := app().insight.delivery_stats) is not None:
        deadline = app().ports.clock.now() + remaining_ms
        error = stats.count_of_line(worked.namespace, worked.triggers, request_id or "", deadline)
        log_uncounted(logger, error, request_id)


def report(logger: "Logger", worked: Worked, request_id: str | None) -> None:
    """Write the log lines of a work message, with its metrics.

    No lateness is measured: a trigger that waits for a permit is late because its policy says so.
    """
    log_triggers(logger, worked.noteworthy, request_id)
    for error in (worked.refusal, worked.error):
        if error is not None:
            logger.error("fault", extra={"request_id": request_id, "outcome": "work"}, exc_info=error)
    fields: dict[str, object] = {str(name): count for name, count in worked.triggers.items()}
    fields["work"] = worked.outcome
    if worked.left:
        fields["left"] = worked.left
    failed: Values = {"Failures": failures(worked.triggers)}
    in_use = [worked.open_max] if worked.open_max else []
    write(
        logger,
        "worked",
        fields,
        {**counted(worked.triggers), **failed, "PermitsInUse": in_use},
        app().ports.clock.now(),
        by_namespace={} if worked.namespace is None else {worked.namespace: failed},
    )
