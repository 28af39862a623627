"""How a text is sealed: only a holder of the secret can read the text or make a valid seal.

The nonce is computed from the text itself: this is the synthetic IV of RFC 5297, with HMAC-SHA-256 as its
function. So equal texts have equal seals, and sealing needs no randomness.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

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
