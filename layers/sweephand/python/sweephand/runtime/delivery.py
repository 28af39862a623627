"""The delivery function: the records of an SQS event in, and what became of each message out."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from sweephand.delivery.registry import targets
from sweephand.model.trace import trace_id_of
from sweephand.runs.received import FAILURES, Handled, OutcomeName, Received
from sweephand.runtime import aws, tables
from sweephand.runtime.compose_delivery import Deliveries, DeliveryStores, compose_delivery
from sweephand.runtime.metrics import MetricName, Values, write
from sweephand.runtime.payloads import payload_places, payloads_in
from sweephand.storage.changes import DynamoChanges
from sweephand.storage.counters import DynamoAllowances, DynamoStats
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.lines import DynamoLines
from sweephand.storage.namespaces import DynamoNamespaces
from sweephand.storage.runs import DynamoFlags, DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from sweephand.runtime.compose_rare import FlowStores

#: The outcomes that each metric counts.
_COUNTED: Final[Mapping[MetricName, tuple[OutcomeName, ...]]] = {
    "StackLimited": ("stack_limited",),
    "Delivered": ("succeeded", "running", "unrecorded"),
    "Retried": ("retrying",),
    "Skipped": ("skipped",),
    "DeadLettered": ("failed", "buried"),
    "Waiting": ("held", "waiting", "in_line", "namespace_limited", "stack_limited"),
}


@cache
def delivery_stores() -> DeliveryStores:
    """What most deliveries of this stack need."""
    jobs, clock = tables.jobs_table(), tables.clock()
    return DeliveryStores(
        clock=clock,
        ids=aws.ids(),
        jobs=DynamoJobs(jobs),
        changes=DynamoChanges(jobs),
        runs=DynamoRuns(jobs),
        flags=DynamoFlags(jobs),
        lines=DynamoLines(jobs),
        stats=DynamoStats(jobs),
        queue=aws.queue(),
        payloads=payloads_in(payload_places()),
        namespaces=DynamoNamespaces(jobs),
        secrets=DynamoSecrets(jobs),
        allowances=DynamoAllowances(jobs),
    )


@cache
def deliveries() -> Deliveries:
    """The use cases over this stack."""
    options = tables.settings().options
    consumers = targets(tables.clock(), aws.sqs_clients(), options.reach, aws.read_secrets)
    return compose_delivery(delivery_stores(), _more_stores, consumers, options)


def _more_stores() -> "FlowStores":
    # They are imported with what few deliveries need (compose_delivery.py).
    from sweephand.runtime.flow_stores import flow_stores  # noqa: PLC0415 - as above

    return flow_stores()


def wake_up(hold_ms: int) -> None:
    """Keep this function for a moment, so that Lambda starts others for the other wake-ups.

    The function also makes what its first delivery needs.
    """
    deliveries().intake.hold(hold_ms)


def deliver(records: Sequence[Mapping[str, Any]], remaining_ms: int) -> Sequence[Handled]:
    """Handle the records of an SQS event, within the function's remaining time in milliseconds."""
    received = [received_of(record) for record in records]
    return deliveries().intake.handle(received, deadline=deliveries().stores.clock.now() + remaining_ms)


def count(logger: "Logger", handled: Sequence[Handled], request_id: str | None, remaining_ms: int) -> None:
    """Count what became of the messages of a call, if the stack counts. A failure is only logged."""
    if (stats := deliveries().stats) is not None:
        deadline = deliveries().stores.clock.now() + remaining_ms
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
        deliveries().stores.clock.now(),
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
        if each.outcome.traceparent is not None:
            about["trace_id"] = trace_id_of(each.outcome.traceparent)
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
        receipt=tables.settings().lanes.receipt(record["receiptHandle"], record.get("eventSourceARN", "")),
        receives=int(record["attributes"]["ApproximateReceiveCount"]),
        body=record["body"],
    )
