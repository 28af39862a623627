"""The adapters that several functions share, each made when it is first asked for, once in a process."""

from functools import cache

from sweephand.delivery.clients import SqsClients
from sweephand.delivery.queue import SqsQueue
from sweephand.instants import SECOND_MS
from sweephand.runtime import tables
from sweephand.runtime.ids import SystemIds
from sweephand.storage.changes import DynamoChanges
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.overlap import DynamoSlots
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets
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
def changes() -> DynamoChanges:
    """ports.ChangeStore."""
    return DynamoChanges(jobs_table())


@cache
def slots() -> DynamoSlots:
    """ports.OverlapStore."""
    return DynamoSlots(jobs_table())


@cache
def secrets() -> DynamoSecrets:
    """ports.SecretStore."""
    return DynamoSecrets(jobs_table())


@cache
def timers() -> DynamoTimers:
    """ports.TimerStore."""
    return DynamoTimers(tables.timers_table())


@cache
def leases() -> DynamoLeases:
    """ports.LeaseStore."""
    return DynamoLeases(tables.timers_table())


@cache
def payloads() -> S3Payloads:
    """ports.PayloadStore."""
    return S3Payloads(settings().payload_bucket)


@cache
def queue() -> SqsQueue:
    """ports.Queue."""
    return SqsQueue(
        sqs_clients(),
        settings().delivery_queue_url,
        settings().dead_letter_queue_url,
        lambda duration_s: tables.wait_ms(round(duration_s * SECOND_MS)),
        allow_insecure=settings().allows_insecure_targets,
    )
