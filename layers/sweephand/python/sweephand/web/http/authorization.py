"""Finds the caller of a request and checks its access.

The API reads the rest of the request only after that.
"""

from collections.abc import Mapping
from typing import Any

from sweephand.access import callers
from sweephand.access.auth_mode import Auth
from sweephand.access.run_token import sent_run_token
from sweephand.base.errors import ForbiddenError, NotFoundError
from sweephand.base.instants import Instant
from sweephand.model.api_key import ROLES, Caller
from sweephand.ports.access import KeyStore
from sweephand.web.http.operation import Operation
from sweephand.web.http.problems import UnauthenticatedError

#: The caller of an open operation if the request has no key.
ANONYMOUS = Caller("", "", "read")

#: The caller that sends the token of a run. The operation checks whether a run has that token.
CONSUMER = Caller("run", "", "read")


def caller_of(event: Mapping[str, Any], auth: Auth, keys: KeyStore, now: Instant) -> Caller | None:
    """The caller that the gateway has authenticated as the mode of the stack says; None without one.

    The gateway writes it to `requestContext.authorizer` of the event (payload format 2.0), under another
    name for each kind of authorizer. What another kind would write there is never read, so a stack whose
    mode is just being changed lets nobody in by mistake.

    Raises ForbiddenError for a caller that the gateway lets in and that has no namespace or role. Raises
    StoreError if the key of an IAM principal cannot be looked up.
    """
    found = event.get("requestContext", {}).get("authorizer") or {}
    match auth.mode:
        case "keys":
            return _caller_of_authorizer(found.get("lambda") or {})
        case "iam":
            arn = (found.get("iam") or {}).get("userArn")
            return callers.caller_of(arn, keys=keys, now=now) if isinstance(arn, str) else None
        case "jwt":
            given = (found.get("jwt") or {}).get("claims")
            return callers.caller_by_claims(given, auth) if isinstance(given, Mapping) else None


def _caller_of_authorizer(found: Mapping[str, Any]) -> Caller | None:
    """The caller in the answer of the authorizer function."""
    key_id, namespace, role = (found.get(name) for name in ("keyId", "namespace", "role"))
    if not (isinstance(key_id, str) and isinstance(namespace, str) and role in ROLES):
        return None
    rate = found.get("requestsPerMinute")
    return Caller(key_id, namespace, role, requests_per_minute=None if rate is None else int(rate))


def authorize(
    operation: Operation, caller: Caller | None, path: Mapping[str, str], authorization: str | None
) -> Caller:
    """The caller, if it may call the operation. `authorization` is the header of that name.

    Raises UnauthenticatedError if the request has no caller. Raises NotFoundError if the path names a
    namespace that is not the caller's. The error is the same whether that namespace exists or not. Raises
    ForbiddenError if the caller's role does not suffice.
    """
    if operation.access == "open":
        return caller or ANONYMOUS
    if operation.access == "callback" and caller is None and sent_run_token(authorization) is not None:
        return CONSUMER
    if caller is None:
        if operation.access == "callback":
            raise UnauthenticatedError("Send the token of the run: Authorization: Bearer shr_…")
        raise UnauthenticatedError("Say who you are. /v1/openapi.json describes how.")
    if "namespace" in path and not caller.sees(path["namespace"]):
        raise NotFoundError("There is no such namespace, or you are a caller of another one.")
    role = "write" if operation.access == "callback" else operation.access
    if role != "any" and not caller.may(role):
        enough = " or ".join(ROLES[ROLES.index(role) :])
        raise ForbiddenError(f"You have the role {caller.role}. This call needs the role {enough}.")
    return caller
