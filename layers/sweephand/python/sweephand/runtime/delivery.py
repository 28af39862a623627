"""What the delivery function is made of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from sweephand.access.signing_keys import SigningKeys
from sweephand.delivery.registry import targets
from sweephand.runs.batch import BatchHandler, Handled, Received
from sweephand.runs.deliver import Deliverer
from sweephand.runs.pauses import JobPauses
from sweephand.runtime import parts, stores
from sweephand.wheel.codec import decode, encode

#: Messages of one batch that are delivered at once: all of it, since SQS hands over ten at most.
DELIVERIES_AT_ONCE = 10


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(DELIVERIES_AT_ONCE, thread_name_prefix="delivery")


def _concurrently(tasks: Sequence[Callable[[], Handled]]) -> Iterable[Handled]:
    if len(tasks) == 1:
        return [tasks[0]()]
    return list(_threads().map(lambda task: task(), tasks))


@cache
def _handler() -> BatchHandler:
    clock = parts.clock()
    deliverer = Deliverer(
        jobs=parts.jobs(),
        runs=parts.runs(),
        slots=stores.slots(),
        timers=parts.timers(),
        queue=parts.queue(),
        payloads=stores.payloads(),
        targets=targets(
            clock,
            parts.sqs_clients(),
            allow_insecure=parts.settings().allows_insecure_targets,
            own_queues=parts.settings().own_queues,
        ),
        signing=SigningKeys(secrets=stores.secrets(), ids=parts.ids(), clock=clock),
        pauses=JobPauses(jobs=parts.jobs(), changes=stores.changes(), clock=clock, ids=parts.ids()),
        letters=encode,
        clock=clock,
        ids=parts.ids(),
    )
    return BatchHandler(
        deliverer=deliverer,
        jobs=parts.jobs(),
        queue=parts.queue(),
        decode=decode,
        clock=clock,
        concurrently=_concurrently,
    )


def deliver(records: Sequence[Mapping[str, Any]], remaining_ms: int) -> Sequence[Handled]:
    """Deal with the records of an SQS event, within what is left of the function's time."""
    batch = [
        Received(
            id=record["messageId"],
            receipt=record["receiptHandle"],
            receives=int(record["attributes"]["ApproximateReceiveCount"]),
            body=record["body"],
        )
        for record in records
    ]
    return _handler().handle(batch, deadline=parts.clock().now() + remaining_ms)
