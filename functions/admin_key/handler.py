"""The admin key function. An operator invokes it with rights of IAM. No route of the API leads to it."""

from sweephand.runtime.start import starting

with starting():
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.runtime import admin_keys

    logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Make an admin key and show it once."""
    key, text = admin_keys.make(event)
    logger.info("made", extra={"key_id": key.id})
    shown = {} if text is None else {"key": text}
    return {"id": key.id, "namespace": key.namespace, "role": key.role, **shown}
