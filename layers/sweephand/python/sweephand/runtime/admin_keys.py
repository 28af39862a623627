"""The admin key function: it makes admin keys for an operator, and keeps the key of an earlier release."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.access.key_making import (
    AdminKeyRequest,
    keep_admin_key,
    make_admin_key,
    make_principal_admin_key,
)
from sweephand.delivery.stack_answer import answer
from sweephand.model.api_key import ADMIN_KEY_ID, Key, digest_of
from sweephand.runtime import tables
from sweephand.runtime.ids import SystemIds
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.former_admin_secret import former_admin_secret

_KEPT: Final = "the first admin key, kept by an upgrade"


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


def keep_former(event: Mapping[str, Any]) -> bool:
    """Handle a request of CloudFormation for the custom resource, and return whether a key was stored.

    While a stack is upgraded from a release that had its first admin key in Secrets Manager, the key's digest
    is stored before CloudFormation removes the secret. A failure fails the update. CloudFormation then goes
    back to the earlier release, and the secret stays. A stored key `admin` is left as it is.
    """
    error: Exception | None = None
    is_stored = False
    try:
        if event["RequestType"] == "Create":
            is_stored = _keep(event["StackId"])
    except Exception as caught:  # noqa: BLE001 - CloudFormation would wait an hour for its answer
        error = caught
    answer(event, error)
    return is_stored


def _keep(stack_id: str) -> bool:
    secret = former_admin_secret(stack_id)
    keys = DynamoKeys(tables.jobs_table())
    if secret is None or keys.get(ADMIN_KEY_ID) is not None:
        return False
    keep_admin_key(keys, SystemIds(), digest_of(secret), _KEPT, tables.clock().now())
    return True
