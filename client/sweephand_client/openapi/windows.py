"""The bodies of calls about windows, and their answers.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Literal, NotRequired, TypedDict

#: A window of a namespace.
WindowRequest = TypedDict(
    "WindowRequest",
    {
        "from": NotRequired[str | None],
        "to": NotRequired[str | None],
        "schedule": NotRequired[str | None],
        "timezone": NotRequired[str | None],
        "duration": NotRequired[str | None],
        "then": NotRequired[Literal["hold", "skip"] | None],
        "spread": NotRequired[str | None],
        "prefix": NotRequired[str | None],
        "labels": NotRequired[dict[str, str] | None],
    },
)
#: A window of a namespace, and when it is open.
WindowResponse = TypedDict(
    "WindowResponse",
    {
        "namespace": str,
        "name": str,
        "rev": str,
        "from": NotRequired[str],
        "to": NotRequired[str],
        "schedule": NotRequired[str],
        "timezone": NotRequired[str],
        "duration": NotRequired[str],
        "then": Literal["hold", "skip"],
        "spread": str,
        "prefix": NotRequired[str],
        "labels": NotRequired[dict[str, str]],
        "isOpen": bool,
        "opensAt": str | None,
        "closesAt": str | None,
        "updatedAt": str,
        "updatedBy": str,
    },
)


class WindowList(TypedDict):
    """The windows of a namespace, at most twenty."""

    items: list[WindowResponse]
