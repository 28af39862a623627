"""How a run token is written, with which a consumer reports on an attempt that it has accepted."""

import re
from typing import Final

# A scheme in any case, at least one space, a token (RFC 9110, 11.6.2). No API key begins like one. Left for
# re to compile and keep when it is first used: deliveries only write tokens.
_BEARER: Final = r"(?i:bearer) +(?P<token>shr_[A-Za-z0-9]{43})"


def run_token(secret: str) -> str:
    """The token of a secret (ports.Ids): `shr_{secret}`."""
    return f"shr_{secret}"


def sent_run_token(header: str | None) -> str | None:
    """The token in an Authorization header, whether or not there is a run of it; None if it holds none."""
    found = re.fullmatch(_BEARER, header.strip()) if header else None
    return found["token"] if found else None
