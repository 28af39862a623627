"""The stores of a stack in AWS that the workers of policies need, and few deliveries."""

from functools import cache

from sweephand.delivery.stack_queues import SqsFlowQueue
from sweephand.runtime import aws, tables
from sweephand.runtime.compose_rare import FlowStores
from sweephand.runtime.delivery import delivery_stores
from sweephand.storage.batches import DynamoBatches
from sweephand.storage.calendars import DynamoCalendars
from sweephand.storage.gates import DynamoGateLines, DynamoGates
from sweephand.storage.policies import DynamoPolicies
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
        calendars=DynamoCalendars(jobs),
        gates=DynamoGates(timers, tables.clock().now),
        gate_lines=DynamoGateLines(timers),
        flow_queue=SqsFlowQueue(aws.sqs_clients(), tables.settings().flow_queue_url),
    )
