"""What the delivery function is made of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from operator import itemgetter
from typing import Any

from sweephand.access.signing_keys import SigningKeys
from sweephand.delivery.registry import targets
from sweephand.model.wire import decode, encode
from sweephand.runs.auto_pause import JobPauses
from sweephand.runs.deliver import Deliverer
from sweephand.runs.intake import BatchHandler, Handled, Received
from sweephand.runtime import parts, stores
from sweephand.targets.target_type import Reach

#: Messages of one batch that are delivered at once: all of it, since SQS hands over ten at most.
DELIVERIES_AT_ONCE = 10


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(DELIVERIES_AT_ONCE - 1, thread_name_prefix="delivery")


def _concurrently(tasks: Sequence[Callable[[], Handled]]) -> Iterable[Handled]:
    """What the tasks return, in order; each has a thread to begin in at once, so that none waits for another.

    The calling thread is one of them, and who is done takes what nobody has begun: where consumers are quick,
    fewer threads have to be woken.
    """
    numbers = iter(range(len(tasks)))

    def work() -> list[tuple[int, Handled]]:
        return [(number, tasks[number]()) for number in numbers]

    helping = [_helpers().submit(work) for _ in tasks[1:]]
    done = work()
    for helper in helping:
        done += helper.result()
    return [handled for _, handled in sorted(done, key=itemgetter(0))]


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
            Reach(parts.settings().allows_insecure_targets, parts.settings().queues),
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
