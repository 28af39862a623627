"""Who is calling, and whether an operation is for them; what it takes is looked at only after that."""

from collections.abc import Mapping
from typing import Any

from sweephand.access.key import ROLES, Caller
from sweephand.errors import ForbiddenError, NotFoundError
from sweephand.web.operation import Operation
from sweephand.web.problems import UnauthenticatedError

#: Nobody in particular, for operations that are open.
ANYBODY = Caller("", "", "read")


def caller_of(event: Mapping[str, Any]) -> Caller | None:
    """The caller whom the authorizer found out (payload 2.0, `requestContext.authorizer.lambda`), or None."""
    found = (event.get("requestContext", {}).get("authorizer") or {}).get("lambda") or {}
    key_id, namespace, role = (found.get(name) for name in ("keyId", "namespace", "role"))
    if not (isinstance(key_id, str) and isinstance(namespace, str) and role in ROLES):
        return None
    return Caller(key_id, namespace, role)


def admit(operation: Operation[Any, Any], caller: Caller | None, path: Mapping[str, str]) -> Caller:
    """The caller, if the operation is for them.

    Raises UnauthenticatedError without a caller, NotFoundError for another namespace, whether it exists
    or not, and ForbiddenError for a role that does not suffice.
    """
    if operation.access == "open":
        return caller or ANYBODY
    if caller is None:
        raise UnauthenticatedError("Send a key: Authorization: Bearer sh_…")
    if "namespace" in path and not caller.sees(path["namespace"]):
        raise NotFoundError("There is no such namespace, or it is not this key's.")
    if operation.access != "any" and not caller.may(operation.access):
        enough = " or ".join(ROLES[ROLES.index(operation.access) :])
        raise ForbiddenError(f"This key has the role {caller.role}; this takes the role {enough}.")
    return caller
