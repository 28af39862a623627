"""The admin key function: it makes admin keys for an operator."""

from collections.abc import Mapping
from typing import Any

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
