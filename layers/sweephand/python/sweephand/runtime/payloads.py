"""Where a stack keeps data over 2 KB, by its parameters."""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from sweephand.ports.jobs import PayloadStore
from sweephand.runtime import tables
from sweephand.storage.payloads import DynamoPayloads, PayloadsInPlaces, S3Payloads

Places: TypeAlias = Sequence[DynamoPayloads | S3Payloads]


@cache
def payload_places() -> Places:
    """The payload table if there is one, the bucket, and the former payload table if there is one."""
    settings = tables.settings()
    bucket = settings.payload_bucket
    # One table must not be two places: the audit discards the copy in the former one.
    is_another = settings.former_payload_table != settings.payload_table
    former = settings.former_payload_table if is_another else ""
    return (
        *_tables("PayloadTable", settings.payload_table, bucket),
        S3Payloads(bucket),
        *_tables("FormerPayloadTable", former, bucket),
    )


def payloads_in(places: Places) -> PayloadStore:
    """ports.PayloadStore over these places."""
    return places[0] if len(places) == 1 else PayloadsInPlaces(places)


def _tables(parameter: str, name: str, bucket: str) -> Places:
    """The payload table that a parameter names, or nothing if it names none."""
    return (DynamoPayloads(tables.table(name), bucket, tables.clock().now, parameter),) if name else ()
