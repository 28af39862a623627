"""How callers prove who they are in each mode of a stack, in the words of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.access.authentication import Auth

#: The statuses that the gateway answers by itself on a path that is not open, with reason and message.
_GATEWAY: Final[Mapping[int, tuple[str, str]]] = {
    429: ("more requests a second than the stack lets in", "Too Many Requests"),
    500: ("a function failed", "Internal Server Error"),
    503: ("no function could be started", "Service Unavailable"),
}

_RUN_TOKEN: Final[Mapping[str, Any]] = {
    "runToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token that came with an attempt: `shr_{secret}`.",
    }
}

_ELSEWHERE: Final = "The answer for any other namespace is 404."


class Credentials(NamedTuple):
    """What one mode says in the OpenAPI document.

    `scheme` is the name of the security scheme of callers with a role. `any_caller` is what an operation
    needs that every role may call. With `has_open_callbacks`, callbacks take the token of a run alone: the
    gateway would refuse that token, so their routes are open, and it passes on no caller with a role there.
    """

    scheme: str
    schemes: Mapping[str, Any]
    about: str
    any_caller: str
    gateway: Mapping[int, tuple[str, str]]
    has_open_callbacks: bool

    @property
    def of_callbacks(self) -> list[dict[str, list[str]]]:
        """The security requirement of callbacks."""
        schemes = ["runToken"] if self.has_open_callbacks else ["runToken", self.scheme]
        return [{each: []} for each in schemes]

    @property
    def callback_role(self) -> str:
        """What a callback needs."""
        more = "" if self.has_open_callbacks else ", or a key with the role `write` or `admin`"
        return f"Needs the token of the run's latest attempt{more}."


def credentials(auth: Auth) -> Credentials:
    """The credentials of a mode."""
    match auth.mode:
        case "keys":
            return _of_keys()
        case "iam":
            return _of_iam()
        case "jwt":
            return _of_jwt(auth)


def _of_keys() -> Credentials:
    scheme = {"type": "http", "scheme": "bearer", "description": "An API key: `sh_{id}_{secret}`."}
    return Credentials(
        "key",
        {"key": scheme, **_RUN_TOKEN},
        "A request needs the header `Authorization: Bearer sh_…`, unless the call is open to everybody. "
        f"A key opens one\nnamespace, or all of them. {_ELSEWHERE}",
        "Needs any key.",
        {
            401: ("there is no Authorization header", "Unauthorized"),
            403: ("the key is unknown, was revoked or has expired", "Forbidden"),
            **_GATEWAY,
        },
        has_open_callbacks=False,
    )


def _of_iam() -> Credentials:
    scheme = {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "A signature of AWS (Signature Version 4) for the service `execute-api`.",
        "x-amazon-apigateway-authtype": "awsSigv4",
    }
    return Credentials(
        "iam",
        {"iam": scheme, **_RUN_TOKEN},
        "A request is signed by an IAM role or user (Signature Version 4, service `execute-api`), unless the "
        "call is open to\neverybody or takes the token of a run. The key that an admin made for that role or "
        f"user opens one namespace, or all of\nthem. {_ELSEWHERE}",
        "Needs any key of an IAM role or user.",
        {403: ("the request is not signed, or IAM does not allow it", "Forbidden"), **_GATEWAY},
        has_open_callbacks=True,
    )


def _of_jwt(auth: Auth) -> Credentials:
    scheme = {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": f"A token of the stack's issuer. Its claim `{auth.namespace_claim}` is a namespace or "
        f"`*`, and its claim `{auth.role_claim}` is `read`, `write` or `admin`.",
    }
    return Credentials(
        "token",
        {"token": scheme, **_RUN_TOKEN},
        "A request needs the header `Authorization: Bearer {token}` with a JSON Web Token of the stack's "
        "issuer, unless the\ncall is open to everybody or takes the token of a run. The claim "
        f"`{auth.namespace_claim}` names the namespace that the\ntoken opens; `*` opens every namespace. The "
        f"claim `{auth.role_claim}` is `read`, `write` or `admin`. {_ELSEWHERE}",
        "Needs any token.",
        {401: ("there is no token, or it is not valid", "Unauthorized"), **_GATEWAY},
        has_open_callbacks=True,
    )
