"""The stores of a stack in AWS that the workers of policies need, and few deliveries."""

from functools import cache

from sweephand.delivery.stack_queues import SqsWorkQueue
from sweephand.runtime import aws, tables
from sweephand.runtime.compose_rare import FlowStores
from sweephand.runtime.delivery import delivery_stores
from sweephand.storage.batches import DynamoBatches
from sweephand.storage.permits import DynamoPermits
from sweephand.storage.policy_lines import DynamoPolicies, DynamoPolicyLines
from sweephand.storage.timers import DynamoTimers


@cache
def flow_stores() -> FlowStores:
    """The stores of this stack, with those of the delivery function."""
    jobs, timers = tables.jobs_table(), tables.timers_table()
    return FlowStores(
        **vars(delivery_stores()),
        timers=DynamoTimers(timers),
        batches=DynamoBatches(jobs),
        policies=DynamoPolicies(jobs),
        policy_lines=DynamoPolicyLines(timers, tables.clock().now),
        permits=DynamoPermits(jobs),
        work=SqsWorkQueue(aws.sqs_clients(), tables.settings().flow_queue_url),
    )
