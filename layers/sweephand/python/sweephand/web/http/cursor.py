"""Cursors: the position at which a page ends. A caller sends the cursor back and does not read it."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, Final, TypedDict, TypeVar

from sweephand.model.page import Page

Item = TypeVar("Item")

# Longer than the longest position of any list: a namespace, a name, and the place of a run. As a cursor it
# has at most 512 characters.
_POSITION_LENGTH_MAX: Final = 374

INVALID: Final = "Give the nextCursor of an answer to the same call. Leave it out for the first page."


class Following(TypedDict, total=False):
    """The field of an answer after which a list goes on. The last answer does not have it."""

    nextCursor: str


def following(kind: str, position: str | None) -> Following:
    """The cursor of a position, as a field of an answer. Empty without a position."""
    return {} if position is None else {"nextCursor": encode(kind, position)}


def page_of(kind: str, page: Page[Item], shown: Callable[[Item], Any]) -> dict[str, Any]:
    """A page of a list as a response shows it."""
    return {"items": [shown(each) for each in page.items], **following(kind, page.next)}


def encode(kind: str, position: str) -> str:
    """The cursor of a position. `kind` names the list, so that no other list accepts the cursor."""
    return urlsafe_b64encode(f"{kind}:{position}".encode()).decode().rstrip("=")


def decode(kind: str, cursor: str) -> str:
    """The position in a cursor.

    Raises ValueError unless `encode` has made the cursor for that kind of list.
    """
    try:
        # The decoder skips characters that are not Base64. The comparison with `encode` below refuses them.
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        raise ValueError(INVALID) from None
    found, separator, position = text.partition(":")
    genuine = found == kind and separator and position.isprintable() and encode(kind, position) == cursor
    if not genuine or not 0 < len(position) <= _POSITION_LENGTH_MAX:
        raise ValueError(INVALID)
    return position
