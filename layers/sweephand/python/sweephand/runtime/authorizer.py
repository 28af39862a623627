"""Who holds the key of a request: the API keys, and the admin key from its secret."""

from functools import cache

from aws_lambda_powertools.utilities.parameters import SecretsProvider

from sweephand.access.authorize import authorize
from sweephand.model.api_key import Caller
from sweephand.runtime import tables
from sweephand.storage.api_keys import DynamoKeys

#: The admin key is read again after this long. It only changes by hand.
ADMIN_SECRET_AGE_MAX_S = 300


@cache
def _keys() -> DynamoKeys:
    return DynamoKeys(tables.jobs_table())


@cache
def _provider() -> SecretsProvider:
    return SecretsProvider()


def _admin_secret() -> str:
    secret = _provider().get(tables.settings().admin_key_secret, max_age=ADMIN_SECRET_AGE_MAX_S)
    return secret.decode() if isinstance(secret, bytes) else str(secret or "")


def caller_of(header: str | None) -> Caller | None:
    """The holder of the key in an Authorization header; None if the header has no valid key."""
    return authorize(header, keys=_keys(), admin_secret=_admin_secret, now=tables.clock().now())
