"""How callers of a stack prove who they are: by the parameter AuthMode, or by the token of a run.

A consumer sends callbacks with the token of a run that it has accepted.
"""

import re
from typing import Final, Literal, NamedTuple

#: By a key of Sweephand's, by IAM, or by a JSON Web Token of an issuer that the operator names.
AuthMode = Literal["keys", "iam", "jwt"]

AUTH_MODES: Final[tuple[AuthMode, ...]] = ("keys", "iam", "jwt")

#: Under this name a function of the stack says for whom it calls the API function, where the gateway writes
#: what its authorizer says. The gateway has no authorizer of this name.
OWN_FUNCTION: Final = "function"


class Auth(NamedTuple):
    """The mode of a stack. With `jwt`, the claims of a token that hold its namespace and its role."""

    mode: AuthMode = "keys"
    namespace_claim: str = ""
    role_claim: str = ""


# A scheme in any case, at least one space, and a token (RFC 9110, 11.6.2). No API key begins like a run
# token. `re` compiles the pattern when it is first used, because most deliveries only write tokens.
_BEARER: Final = r"(?i:bearer) +(?P<token>shr_[A-Za-z0-9]{43})"

#: A token, or the beginning of one where a text was cut. A shorter beginning tells nothing.
_REPEATED: Final = r"shr_[A-Za-z0-9]{4,43}"

#: What stands in place of a token that a text repeats.
_HIDDEN: Final = "[secret]"


def run_token(secret: str) -> str:
    """The run token of a secret (ports.Ids.secret): `shr_{secret}`."""
    return f"shr_{secret}"


def sent_run_token(header: str | None) -> str | None:
    """The run token in an Authorization header, or None. The run that it names may not exist."""
    found = re.fullmatch(_BEARER, header.strip()) if header else None
    return found["token"] if found else None


def without_run_tokens(text: str) -> str:
    """The text with `[secret]` in place of each run token, and of the beginning of one.

    Consumers repeat headers in their messages of errors, and the run keeps these for every reader.
    """
    return re.sub(_REPEATED, _HIDDEN, text)
