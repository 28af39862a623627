"""How callers of a stack prove who they are. The operator chooses it by the parameter AuthMode."""

from typing import Final, Literal, NamedTuple

#: By a key of Sweephand's, by IAM, or by a JSON Web Token of an issuer that the operator names.
AuthMode = Literal["keys", "iam", "jwt"]

AUTH_MODES: Final[tuple[AuthMode, ...]] = ("keys", "iam", "jwt")


class Auth(NamedTuple):
    """The mode of a stack. With `jwt`, the claims of a token that hold its namespace and its role."""

    mode: AuthMode = "keys"
    namespace_claim: str = ""
    role_claim: str = ""
