"""Callers that IAM has authenticated. A key without a secret says what such a role or user may do."""

import re
from hashlib import sha256
from typing import Final

from sweephand.base.errors import ForbiddenError
from sweephand.base.instants import Instant
from sweephand.model.api_key import Caller
from sweephand.ports.access import KeyStore

_NAME: Final = "[A-Za-z0-9+=,.@_-]{1,64}"

#: The pattern of an ARN that a key may name. The path of a role or user is any printable ASCII.
PRINCIPAL_PATTERN: Final = (
    f"^arn:aws[a-z-]{{0,10}}:iam::[0-9]{{12}}:(?:role|user)/(?:[!-~]{{0,511}}/)?{_NAME}$"
)

#: The length of the longest such ARN.
PRINCIPAL_LENGTH_MAX: Final = 640

PRINCIPAL_RULE: Final = (
    "It must be the ARN of an IAM role or user, such as arn:aws:iam::123456789012:role/billing."
)

_IDENTITY: Final = re.compile(
    rf"arn:(?P<partition>aws[a-z-]{{0,10}}):iam::(?P<account>[0-9]{{12}}):(?P<kind>role|user)/"
    rf"(?:[!-~]{{0,511}}/)?(?P<name>{_NAME})\Z"
)

# The credentials of a role are those of a session, whose ARN lacks the role's path (IAM user guide, "IAM
# identifiers").
_SESSION: Final = re.compile(
    rf"arn:(?P<partition>aws[a-z-]{{0,10}}):sts::(?P<account>[0-9]{{12}}):assumed-role/(?P<name>{_NAME})/[^/]+\Z"
)


def named_principal(arn: str) -> str | None:
    """The role or user of this ARN, without its path; None if it is the ARN of anything else.

    An account has no two roles of one name, whatever their paths, and no two users.
    """
    found = _IDENTITY.match(arn)
    return found and f"arn:{found['partition']}:iam::{found['account']}:{found['kind']}/{found['name']}"


def calling_principal(arn: str) -> str | None:
    """The role or user behind the ARN of a caller, which can be that of a role's session.

    None for anything else: the root user and federated users have no key.
    """
    session = _SESSION.match(arn)
    if session is None:
        return named_principal(arn)
    return f"arn:{session['partition']}:iam::{session['account']}:role/{session['name']}"


def key_id_of(principal: str) -> str:
    """The id of a principal's key. It is made of the principal, so that one read finds the key."""
    return f"iam{sha256(principal.encode()).hexdigest()[:40]}"


def caller_of(arn: str, *, keys: KeyStore, now: Instant) -> Caller:
    """The caller that IAM has authenticated by this ARN.

    Every call reads the key, so a revocation is in force at once.

    Raises ForbiddenError, which names the principal, if it has no key. Raises StoreError if the key cannot be
    looked up.
    """
    principal = calling_principal(arn)
    if principal is None:
        raise ForbiddenError("Call as an IAM role or as an IAM user. No other identity can have a key.")
    key = keys.get(key_id_of(principal))
    if key is None or key.principal != principal or not key.is_alive(now):
        raise ForbiddenError(
            f"There is no key for {principal}. An admin of every namespace makes one: POST /v1/keys with "
            f"this principal."
        )
    return key.caller
