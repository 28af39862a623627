"""The admin key function. An operator invokes it with rights of IAM. No route of the API leads to it."""

from sweephand.runtime.start import starting

with starting():
    from collections.abc import Mapping
    from typing import Any

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from sweephand.access.key_making import (
        AdminKeyRequest,
        keep_admin_key,
        make_admin_key,
        make_principal_admin_key,
    )
    from sweephand.model.api_key import Key
    from sweephand.runtime import tables
    from sweephand.runtime.machine import SystemIds
    from sweephand.storage.api_keys import DynamoKeys

    logger = Logger()


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Make an admin key and show it once."""
    key, text = make(event)
    logger.info("made", extra={"key_id": key.id})
    shown = {} if text is None else {"key": text}
    return {"id": key.id, "namespace": key.namespace, "role": key.role, **shown}


def make(event: Mapping[str, Any]) -> tuple[Key, str | None]:
    """Make the admin key that an operator asks for, and return it with the text that its holder sends.

    The text is None if the operator gave the SHA-256 of a secret, or an IAM role or user, whose key has no
    secret. Raises InvalidError and StoreError.
    """
    asked, keys, now = AdminKeyRequest.read(event), DynamoKeys(tables.jobs_table()), tables.clock().now()
    ids = SystemIds()
    if asked.principal is not None:
        return make_principal_admin_key(keys, ids, asked.principal, asked.description, now), None
    if asked.digest is not None:
        return keep_admin_key(keys, ids, asked.digest, asked.description, now), None
    return make_admin_key(keys, ids, asked.description, now)
