"""Cursors: the position at which a page ends. A caller sends the cursor back and does not read it.

A cursor that would show a name of another caller is sealed: only a holder of the secret can read the text or
make a valid seal. The nonce is computed from the text itself: this is the synthetic IV of RFC 5297, with
HMAC-SHA-256 as its function. So equal texts have equal seals, and sealing needs no randomness.
"""

import hmac
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


_NONCE_BYTES: Final = 16
_BLOCK_BYTES: Final = 32


def seal(secret: str, text: str) -> str:
    """The text in sealed form: letters, digits, `-` and `_`. It reveals only the length of the text."""
    plain = text.encode()
    nonce = _nonce(secret, plain)
    return urlsafe_b64encode(nonce + _xored(secret, nonce, plain)).decode().rstrip("=")


def unseal(secret: str, sealed: str) -> str | None:
    """The text that was sealed; None if it was not sealed with this secret."""
    try:
        whole = urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    except ValueError:
        return None
    nonce, ciphertext = whole[:_NONCE_BYTES], whole[_NONCE_BYTES:]
    plain = _xored(secret, nonce, ciphertext)
    if not hmac.compare_digest(_nonce(secret, plain), nonce):
        return None
    text = plain.decode()
    # The base64 decoder skips foreign characters. Only the exact seal of a text is accepted.
    return text if seal(secret, text) == sealed else None


def _nonce(secret: str, plain: bytes) -> bytes:
    return hmac.digest(secret.encode(), b"nonce:" + plain, "sha256")[:_NONCE_BYTES]


def _xored(secret: str, nonce: bytes, data: bytes) -> bytes:
    """The data XORed with a byte stream that the secret and the nonce determine."""
    blocks = -(-len(data) // _BLOCK_BYTES)
    stream = b"".join(
        hmac.digest(secret.encode(), b"stream:" + nonce + at.to_bytes(4), "sha256") for at in range(blocks)
    )
    return bytes(each ^ other for each, other in zip(data, stream, strict=False))
