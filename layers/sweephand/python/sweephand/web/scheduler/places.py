"""Where schedules and groups are: their ARNs, their names, and their places in lists."""

import re
from typing import Any, Final
from urllib.parse import unquote

from sweephand.base.errors import InvalidError, NotFoundError, Violation
from sweephand.web.http import cursor
from sweephand.web.http.operation import Request
from sweephand.web.scheduler.requests import NAME_LENGTH_MAX, NAME_PATTERN

#: The function that answers where nobody says its ARN: on one machine.
_LOCAL_FUNCTION: Final = "arn:aws:lambda:us-east-1:000000000000:function:api"

_GROUP: Final = r"arn:aws[a-z-]*:scheduler:[a-z0-9-]+:[0-9]{12}:schedule-group/(?P<name>[0-9a-zA-Z_.-]{1,64})"


def schedule_arn(function_arn: str, group: str, name: str) -> str:
    """The ARN of a schedule. `function_arn` is that of the API function; empty where nobody says it."""
    return f"{_place(function_arn)}:schedule/{group}/{name}"


def group_arn(function_arn: str, name: str) -> str:
    """The ARN of a schedule group."""
    return f"{_place(function_arn)}:schedule-group/{name}"


def group_of(arn: str) -> str:
    """The name of the group with that ARN, which a path may have encoded. Raises InvalidError."""
    found = re.fullmatch(_GROUP, unquote(arn))
    if found is None:
        raise InvalidError(
            [Violation("/ResourceArn", "Give the ARN of a schedule group. Only groups have tags.")]
        )
    return found["name"]


def new_name(request: Request[Any, Any]) -> str:
    """The name in the path of a call that creates something. Raises InvalidError for one that AWS refuses."""
    name = request.path["name"]
    if len(name) > NAME_LENGTH_MAX or not re.match(NAME_PATTERN, name):
        raise InvalidError([Violation("/Name", f"Give 1 to {NAME_LENGTH_MAX} of 0-9 a-z A-Z - _ and a dot.")])
    return name


def own_group(request: Request[Any, Any], name: str) -> str:
    """The name of a group. Raises NotFoundError for a group that the caller does not see."""
    if not request.caller.sees(name):
        raise NotFoundError(f"Schedule group {name} does not exist.")
    return name


def position(kind: str, token: str) -> str | None:
    """The place in a list of that kind at which a NextToken points; None without a token."""
    if not token:
        return None
    try:
        return cursor.decode(kind, token)
    except ValueError:
        detail = "Give the NextToken of an answer to the same call."
        raise InvalidError([Violation("/NextToken", detail)]) from None


def _place(function_arn: str) -> str:
    _, partition, _, region, account, *_ = (function_arn or _LOCAL_FUNCTION).split(":")
    return f"arn:{partition}:scheduler:{region}:{account}"
