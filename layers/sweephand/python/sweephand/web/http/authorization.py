"""Who is calling, and whether an operation is for them; what it takes is looked at only after that."""

from collections.abc import Mapping
from typing import Any

from sweephand.access.run_token import sent_run_token
from sweephand.base.errors import ForbiddenError, NotFoundError
from sweephand.model.api_key import ROLES, Caller
from sweephand.web.http.operation import Operation
from sweephand.web.http.problems import UnauthenticatedError

#: Nobody in particular, for operations that are open.
ANONYMOUS = Caller("", "", "read")

#: Whoever sends a token of a run; whether there is a run of it is for the operation to find out.
CONSUMER = Caller("run", "", "read")


def caller_of(event: Mapping[str, Any]) -> Caller | None:
    """The caller whom the authorizer found out (payload 2.0, `requestContext.authorizer.lambda`), or None."""
    found = (event.get("requestContext", {}).get("authorizer") or {}).get("lambda") or {}
    key_id, namespace, role = (found.get(name) for name in ("keyId", "namespace", "role"))
    if not (isinstance(key_id, str) and isinstance(namespace, str) and role in ROLES):
        return None
    return Caller(key_id, namespace, role)


def authorize(
    operation: Operation[Any, Any], caller: Caller | None, path: Mapping[str, str], authorization: str | None
) -> Caller:
    """The caller, if the operation is for them. `authorization` is the header of that name.

    Raises UnauthenticatedError without a caller, NotFoundError for another namespace, whether it exists
    or not, and ForbiddenError for a role that does not suffice.
    """
    if operation.access == "open":
        return caller or ANONYMOUS
    if operation.access == "callback" and caller is None and sent_run_token(authorization) is not None:
        return CONSUMER
    if caller is None:
        raise UnauthenticatedError("Send a key: Authorization: Bearer sh_…")
    if "namespace" in path and not caller.sees(path["namespace"]):
        raise NotFoundError("There is no such namespace, or it is not this key's.")
    role = "write" if operation.access == "callback" else operation.access
    if role != "any" and not caller.may(role):
        enough = " or ".join(ROLES[ROLES.index(role) :])
        raise ForbiddenError(f"This key has the role {caller.role}; this takes the role {enough}.")
    return caller
