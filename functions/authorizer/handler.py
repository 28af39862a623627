"""Authorizer: what the gateway asks who a request is from."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sweephand.runtime.authorizer import caller_of

logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Whether the request carries a key that opens, and whose; what its holder may do, the API decides."""
    caller = caller_of(event.get("headers", {}).get("authorization"))
    logger.info("asked", key_id=caller.key_id if caller else None)
    if caller is None:
        return {"isAuthorized": False}
    return {
        "isAuthorized": True,
        "context": {"keyId": caller.key_id, "namespace": caller.namespace, "role": caller.role},
    }
