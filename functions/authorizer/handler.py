"""Authorizer: what the gateway asks who a request is from."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sweephand.access.run_token import sent_run_token
from sweephand.runtime.authorizer import caller_of

logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Whether the request carries a key that opens, and whose; what its holder may do, the API decides.

    A token of a run opens nothing by itself: the API lets it report on that run, if it is that run's.
    """
    header = event.get("headers", {}).get("authorization")
    if sent_run_token(header) is not None:
        logger.info("asked", key_id="run")
        return {"isAuthorized": True, "context": {"keyId": "run"}}
    caller = caller_of(header)
    logger.info("asked", key_id=caller.key_id if caller else None)
    if caller is None:
        return {"isAuthorized": False}
    return {
        "isAuthorized": True,
        "context": {"keyId": caller.key_id, "namespace": caller.namespace, "role": caller.role},
    }
