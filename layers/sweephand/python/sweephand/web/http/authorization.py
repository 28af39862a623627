"""Finds the caller of a request and checks its access.

The API reads the rest of the request only after that.
"""

from collections.abc import Mapping
from typing import Any

from sweephand.access.run_token import sent_run_token
from sweephand.base.errors import ForbiddenError, NotFoundError
from sweephand.model.api_key import ROLES, Caller
from sweephand.web.http.operation import Operation
from sweephand.web.http.problems import UnauthenticatedError

#: The caller of an open operation if the request has no key.
ANONYMOUS = Caller("", "", "read")

#: The caller that sends the token of a run. The operation checks whether a run has that token.
CONSUMER = Caller("run", "", "read")


def caller_of(event: Mapping[str, Any]) -> Caller | None:
    """The caller that the authorizer has found, or None.

    The authorizer writes it to `requestContext.authorizer.lambda` of the event (payload format 2.0).
    """
    found = (event.get("requestContext", {}).get("authorizer") or {}).get("lambda") or {}
    key_id, namespace, role = (found.get(name) for name in ("keyId", "namespace", "role"))
    if not (isinstance(key_id, str) and isinstance(namespace, str) and role in ROLES):
        return None
    return Caller(key_id, namespace, role)


def authorize(
    operation: Operation[Any, Any], caller: Caller | None, path: Mapping[str, str], authorization: str | None
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
        raise UnauthenticatedError("Send a key: Authorization: Bearer sh_…")
    if "namespace" in path and not caller.sees(path["namespace"]):
        raise NotFoundError("There is no such namespace, or this key is for another one.")
    role = "write" if operation.access == "callback" else operation.access
    if role != "any" and not caller.may(role):
        enough = " or ".join(ROLES[ROLES.index(role) :])
        raise ForbiddenError(f"This key has the role {caller.role}. This call needs the role {enough}.")
    return caller
