"""Where a page ends, in a form that callers hand back and do not read."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

# The longest position of any list, with room to spare; a store's keys bear no more than 1,024 bytes.
_POSITION_LENGTH_MAX: Final = 256

INVALID: Final = "Give the nextCursor of an answer of this same list, or leave it out to begin."


def encode(kind: str, position: str) -> str:
    """The cursor of a position in lists of a kind."""
    return urlsafe_b64encode(f"{kind}:{position}".encode()).decode().rstrip("=")


def decode(kind: str, cursor: str) -> str:
    """The position; ValueError for what is no cursor of such a list."""
    try:
        # Canonical cursors only: the decoder alone would pass over foreign characters.
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        raise ValueError(INVALID) from None
    found, separator, position = text.partition(":")
    genuine = found == kind and separator and position.isprintable() and encode(kind, position) == cursor
    if not genuine or not 0 < len(position) <= _POSITION_LENGTH_MAX:
        raise ValueError(INVALID)
    return position
