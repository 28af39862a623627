"""All stores of a stack in AWS: DynamoDB, S3, SQS and Lambda, by the stack's settings."""

from functools import cache

from sweephand.delivery.functions import LambdaDeliveryFunctions, LambdaSweepers
from sweephand.delivery.stack_queues import SqsFlowQueue, SqsStackQueues
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import FlowQueue
from sweephand.ports.queue import DeliveryFunctions, Queue, StackQueues
from sweephand.ports.wheel import ExpirySwitch, Sweepers
from sweephand.runtime import aws, tables
from sweephand.runtime.machine import sweep_concurrently
from sweephand.runtime.payloads import Places, payload_places, payloads_in
from sweephand.runtime.stores import Stores
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.audit_rounds import DynamoAuditRounds, DynamoAudits
from sweephand.storage.batches import DynamoBatches
from sweephand.storage.calendars import DynamoCalendars
from sweephand.storage.changes import DynamoAdminChanges, DynamoChanges
from sweephand.storage.counters import DynamoAllowances, DynamoStats
from sweephand.storage.gates import DynamoGateLines, DynamoGates
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoExpirySwitch, DynamoLeases, DynamoWheelHistory
from sweephand.storage.lines import DynamoLines
from sweephand.storage.namespaces import DynamoNamespaces
from sweephand.storage.policies import DynamoPolicies
from sweephand.storage.runs import DynamoFlags, DynamoRuns
from sweephand.storage.schedule_groups import DynamoScheduleGroups
from sweephand.storage.signing_secrets import DynamoNamedSecrets, DynamoSecrets
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers


@cache
def stores() -> Stores:
    """All stores of this stack."""
    settings, jobs, clock = tables.settings(), tables.jobs_table(), tables.clock()
    return stores_over(
        jobs,
        tables.timers_table(),
        clock=clock,
        ids=aws.ids(),
        places=payload_places(),
        queue=aws.queue(),
        flow_queue=SqsFlowQueue(aws.sqs_clients(), settings.flow_queue_url),
        stack_queues=SqsStackQueues(aws.sqs_clients(), aws.queue(), settings.urls_of_queues),
        expiry_switch=DynamoExpirySwitch(tables.dynamodb(), (settings.jobs_table, settings.timers_table)),
        sweepers=LambdaSweepers(settings.sweep_function),
        delivery_functions=LambdaDeliveryFunctions(settings.deliver_function, sweep_concurrently),
    )


def stores_over(
    jobs: Table,
    timers: Table,
    *,
    clock: Clock,
    ids: Ids,
    places: Places,
    queue: Queue,
    flow_queue: FlowQueue,
    stack_queues: StackQueues,
    expiry_switch: ExpirySwitch,
    sweepers: Sweepers,
    delivery_functions: DeliveryFunctions,
) -> Stores:
    """The stores over these two tables, with what is not in DynamoDB."""
    return Stores(
        clock=clock,
        ids=ids,
        jobs=DynamoJobs(jobs),
        changes=DynamoChanges(jobs),
        runs=DynamoRuns(jobs),
        flags=DynamoFlags(jobs),
        stats=DynamoStats(jobs),
        wheel_history=DynamoWheelHistory(jobs),
        batches=DynamoBatches(jobs),
        lines=DynamoLines(jobs),
        timers=DynamoTimers(timers),
        leases=DynamoLeases(timers),
        payloads=payloads_in(places),
        payload_places=places,
        audits=DynamoAudits(timers),
        audit_rounds=DynamoAuditRounds(timers),
        secrets=DynamoSecrets(jobs),
        named_secrets=DynamoNamedSecrets(jobs),
        keys=DynamoKeys(jobs),
        admin_changes=DynamoAdminChanges(jobs),
        namespaces=DynamoNamespaces(jobs),
        policies=DynamoPolicies(jobs),
        calendars=DynamoCalendars(jobs),
        schedule_groups=DynamoScheduleGroups(jobs),
        gates=DynamoGates(timers, clock.now),
        gate_lines=DynamoGateLines(timers),
        allowances=DynamoAllowances(jobs),
        stack_queues=stack_queues,
        expiry_switch=expiry_switch,
        queue=queue,
        flow_queue=flow_queue,
        sweepers=sweepers,
        delivery_functions=delivery_functions,
    )
