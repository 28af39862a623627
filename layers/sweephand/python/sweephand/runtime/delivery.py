"""The delivery function: the records of an SQS event in, and what became of each message out."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.access.signing_keys
import sweephand.delivery.registry
import sweephand.delivery.sqs_queue
import sweephand.jobs.settings_cache
import sweephand.runs.handlers
import sweephand.runs.valve
import sweephand.runtime.app_flow
import sweephand.runtime.app_namespaces
import sweephand.runtime.app_secrets
import sweephand.storage.allowances
import sweephand.storage.jobs
import sweephand.storage.lines
import sweephand.storage.namespaces
import sweephand.storage.payloads
import sweephand.storage.runs
import sweephand.storage.signing_secrets  # noqa: F401
from sweephand.runs.intake import Handled, Received
from sweephand.runs.outcome import FAILURES, OutcomeName
from sweephand.runtime.aws_ports import app
from sweephand.runtime.metrics import MetricName, Values, write
from sweephand.runtime.tables import settings

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

#: The outcomes that each metric counts.
_COUNTED: Final[Mapping[MetricName, tuple[OutcomeName, ...]]] = {
    "StackLimited": ("stack_limited",),
    "Delivered": ("succeeded", "running", "unrecorded"),
    "Retried": ("retrying",),
    "Skipped": ("skipped",),
    "DeadLettered": ("failed", "buried"),
    "Waiting": ("held", "waiting", "in_line", "namespace_limited", "stack_limited"),
}


def wake_up(hold_ms: int) -> None:
    """Keep this function for a moment, so that Lambda starts others for the other wake-ups.

    The function also makes what its first delivery needs.
    """
    app().intake.hold(hold_ms)


def deliver(records: Sequence[Mapping[str, Any]], remaining_ms: int) -> Sequence[Handled]:
    """Handle the records of an SQS event, within the function's remaining time in milliseconds."""
    received = [received_of(record) for record in records]
    return app().intake.handle(received, deadline=app().ports.clock.now() + remaining_ms)


def count(logger: "Logger", handled: Sequence[Handled], request_id: str | None, remaining_ms: int) -> None:
    """Count what became of the messages of a call, if the stack counts. A failure is only logged."""
    if (stats := app().insight.delivery_stats) is not None:
        deadline = app().ports.clock.now() + remaining_ms
        log_uncounted(logger, stats.count(handled, request_id or "", deadline), request_id)


def log_uncounted(logger: "Logger", error: Exception | None, request_id: str | None) -> None:
    """Write a log line if a call could not be counted."""
    if error is not None:
        logger.warning("uncounted", extra={"request_id": request_id}, exc_info=error)


def report(logger: "Logger", handled: Sequence[Handled], request_id: str | None) -> None:
    """Write the log lines of a call, with its metrics: one for each noteworthy trigger, and one for all."""
    log_triggers(logger, handled, request_id)
    outcomes = Counter(each.outcome.name for each in handled)
    fields: dict[str, object] = {str(name): count for name, count in outcomes.items()}
    fields["lateness_ms"] = max(_lateness(handled), default=None)
    by_namespace: defaultdict[str, list[Handled]] = defaultdict(list)
    for each in handled:
        if each.trigger is not None:
            by_namespace[each.trigger.key.namespace].append(each)
    write(
        logger,
        "delivered",
        fields,
        {**counted(outcomes), **_of_deliveries(handled)},
        app().ports.clock.now(),
        by_namespace={namespace: _of_deliveries(some) for namespace, some in by_namespace.items()},
    )


def log_triggers(logger: "Logger", handled: Iterable[Handled], request_id: str | None) -> None:
    """Write a line for each noteworthy trigger; for every one if the log level is DEBUG."""
    shows_all = logger.log_level <= logging.DEBUG
    for each in handled:
        if not shows_all and not each.is_noteworthy:
            continue
        about: dict[str, object] = {"request_id": request_id, "outcome": each.outcome.name}
        if (trigger := each.trigger) is not None:
            about |= {"trigger_id": trigger.id, "namespace": trigger.key.namespace, "job": trigger.key.name}
            about |= {"run_id": trigger.run_id, "attempt": each.attempt}
        if each.error is not None:
            logger.error("fault", extra=about, exc_info=each.error)
        elif each.is_noteworthy:
            logger.info("trigger", extra=about)
        else:
            logger.debug("trigger", extra=about)


def counted(outcomes: Mapping[OutcomeName, int]) -> Values:
    """The values of the metrics that count outcomes."""
    sums = {metric: sum(outcomes.get(name, 0) for name in names) for metric, names in _COUNTED.items()}
    return {metric: [count] for metric, count in sums.items() if count}


def failures(outcomes: Mapping[OutcomeName, int]) -> list[int]:
    """The values of the metric `Failures`."""
    values = ([value] * outcomes[name] for name, value in FAILURES.items() if name in outcomes)
    return list(chain.from_iterable(values))


def _of_deliveries(handled: Sequence[Handled]) -> Values:
    outcomes = Counter(each.outcome.name for each in handled)
    return {"Failures": failures(outcomes), "Lateness": _lateness(handled)}


def _lateness(handled: Iterable[Handled]) -> list[int]:
    return [each.outcome.lateness_ms for each in handled if each.outcome.lateness_ms is not None]


def received_of(record: Mapping[str, Any]) -> Received:
    """The message that a record of an SQS event carries."""
    return Received(
        id=record["messageId"],
        receipt=settings().lanes.receipt(record["receiptHandle"], record.get("eventSourceARN", "")),
        receives=int(record["attributes"]["ApproximateReceiveCount"]),
        body=record["body"],
    )
