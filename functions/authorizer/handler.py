"""The authorizer function. The gateway asks it who sent a request."""

from sweephand.runtime.start import starting

with starting():
    from functools import cache
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.access.authentication import sent_run_token
    from sweephand.access.callers import authorize
    from sweephand.model.api_key import Caller
    from sweephand.runtime import tables
    from sweephand.storage.api_keys import DynamoKeys

    logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Whether the request has a valid key, and whose key it is.

    The API decides what that key's holder may do. A run's token is passed on unchecked: the API checks
    whether it belongs to the run of the callback.
    """
    header = event.get("headers", {}).get("authorization")
    if sent_run_token(header) is not None:
        logger.info("asked", key_id="run")
        return {"isAuthorized": True, "context": {"keyId": "run"}}
    caller = caller_of(header)
    logger.info("asked", key_id=caller.key_id if caller else None)
    if caller is None:
        return {"isAuthorized": False}
    return {"isAuthorized": True, "context": caller.context}


def caller_of(header: str | None) -> Caller | None:
    """The holder of the key in an Authorization header; None if the header has no valid key."""
    return authorize(header, keys=_keys(), now=tables.clock().now())


@cache
def _keys() -> DynamoKeys:
    return DynamoKeys(tables.jobs_table())
