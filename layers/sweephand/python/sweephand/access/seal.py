"""How a text is sealed: whoever has the secret can read it, nobody else can read or make one.

The nonce is made of the text itself: the synthetic IV of RFC 5297, with HMAC-SHA-256 as its function.
So equal texts have equal seals, and no randomness is needed.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

_NONCE_BYTES: Final = 16
_BLOCK_BYTES: Final = 32


def seal(secret: str, text: str) -> str:
    """The sealed text: letters, digits, `-` and `_`. It tells nothing of the text but its length."""
    plain = text.encode()
    nonce = _nonce(secret, plain)
    return urlsafe_b64encode(nonce + _crossed(secret, nonce, plain)).decode().rstrip("=")


def unseal(secret: str, sealed: str) -> str | None:
    """The text; None for what was not sealed with this secret."""
    try:
        whole = urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    except ValueError:
        return None
    nonce, crossed = whole[:_NONCE_BYTES], whole[_NONCE_BYTES:]
    plain = _crossed(secret, nonce, crossed)
    if not hmac.compare_digest(_nonce(secret, plain), nonce):
        return None
    text = plain.decode()
    # The decoder passes over foreign characters: one text has one seal.
    return text if seal(secret, text) == sealed else None


def _nonce(secret: str, plain: bytes) -> bytes:
    return hmac.digest(secret.encode(), b"nonce:" + plain, "sha256")[:_NONCE_BYTES]


def _crossed(secret: str, nonce: bytes, data: bytes) -> bytes:
    """The data, each byte combined with one of a stream that secret and nonce determine."""
    blocks = -(-len(data) // _BLOCK_BYTES)
    stream = b"".join(
        hmac.digest(secret.encode(), b"stream:" + nonce + at.to_bytes(4), "sha256") for at in range(blocks)
    )
    return bytes(each ^ other for each, other in zip(data, stream, strict=False))
