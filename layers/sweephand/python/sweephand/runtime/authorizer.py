"""Who holds the key of a request."""

from functools import cache

from sweephand.access.callers import authorize
from sweephand.model.api_key import Caller
from sweephand.runtime import tables
from sweephand.storage.api_keys import DynamoKeys


@cache
def _keys() -> DynamoKeys:
    return DynamoKeys(tables.jobs_table())


def caller_of(header: str | None) -> Caller | None:
    """The holder of the key in an Authorization header; None if the header has no valid key."""
    return authorize(header, keys=_keys(), now=tables.clock().now())
