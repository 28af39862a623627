"""The stores that tick and sweep do without, as runtime.parts has the others: these two must start fast."""

from functools import cache

from sweephand.runtime import parts
from sweephand.storage.changes import DynamoChanges
from sweephand.storage.lines import DynamoSlots
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.signing_secrets import DynamoSecrets


@cache
def changes() -> DynamoChanges:
    """ports.ChangeStore."""
    return DynamoChanges(parts.jobs_table())


@cache
def slots() -> DynamoSlots:
    """ports.OverlapStore."""
    return DynamoSlots(parts.jobs_table())


@cache
def secrets() -> DynamoSecrets:
    """ports.SecretStore."""
    return DynamoSecrets(parts.jobs_table())


@cache
def payloads() -> S3Payloads:
    """ports.PayloadStore."""
    return S3Payloads(parts.settings().payload_bucket)
