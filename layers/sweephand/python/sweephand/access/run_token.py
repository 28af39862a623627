"""The form of run tokens, with which a consumer sends callbacks for a run that it has accepted."""

import re
from typing import Final

# A scheme in any case, at least one space, and a token (RFC 9110, 11.6.2). No API key begins like a run
# token. `re` compiles the pattern when it is first used, because most deliveries only write tokens.
_BEARER: Final = r"(?i:bearer) +(?P<token>shr_[A-Za-z0-9]{43})"


def run_token(secret: str) -> str:
    """The run token of a secret (ports.Ids.secret): `shr_{secret}`."""
    return f"shr_{secret}"


def sent_run_token(header: str | None) -> str | None:
    """The run token in an Authorization header, or None. The run that it names may not exist."""
    found = re.fullmatch(_BEARER, header.strip()) if header else None
    return found["token"] if found else None
