"""The adapters that several functions share, each made when it is first asked for, once in a process."""

from functools import cache

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.runtime import tables
from sweephand.runtime.ids import SystemIds
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.timers import DynamoTimers

settings = tables.settings
clock = tables.clock
ids = cache(SystemIds)
sqs_clients = cache(SqsClients)
jobs_table = tables.jobs_table


@cache
def jobs() -> DynamoJobs:
    """ports.JobStore."""
    return DynamoJobs(jobs_table())


@cache
def runs() -> DynamoRuns:
    """ports.RunStore."""
    return DynamoRuns(jobs_table())


@cache
def timers() -> DynamoTimers:
    """ports.TimerStore."""
    return DynamoTimers(tables.timers_table())


@cache
def leases() -> DynamoLeases:
    """ports.LeaseStore."""
    return DynamoLeases(tables.timers_table())


@cache
def queue() -> SqsQueue:
    """ports.Queue."""
    return SqsQueue(
        sqs_clients(),
        settings().delivery_queue_url,
        settings().dead_letter_queue_url,
        lambda duration_s: tables.wait_ms(round(duration_s * SECOND_MS)),
        allow_insecure=settings().allows_insecure_targets,
        queues=settings().queues,
    )
