"""The body of the call that writes a secret, and the responses that show secrets without their values."""

from collections.abc import Iterable
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.access.named_secrets import VALUE_MEANING
from sweephand.access.signing_keys import PublicKey
from sweephand.base.instants import rfc3339
from sweephand.model.secret import Scheme, SecretBrief
from sweephand.web.schemas.formats import SecretText
from sweephand.web.schemas.run_responses import NextCursor, Time, time_or_none
from sweephand.web.schemas.shapes import RequestBody


class SecretRequest(RequestBody):
    """A secret that jobs of the namespace may name."""

    value: SecretText = Field(description=VALUE_MEANING)


class NamedSecretResponse(TypedDict):
    """A secret without its value."""

    namespace: Annotated[str, Field(description="The namespace of the secret.")]
    name: Annotated[str, Field(description="The secret's name, unique within its namespace.")]
    scheme: Annotated[
        Scheme | None,
        Field(
            description="How the value signs, if a target names it as `signingSecret`: `v1` is HMAC-SHA256, "
            "`v1a` is ed25519. Null for any other value."
        ),
    ]
    createdAt: Annotated[Time, Field(description="When the secret was created.")]
    updatedAt: Annotated[Time, Field(description="When its value last changed.")]


class NamedSecretPage(TypedDict):
    """A page of secrets in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[
        list[NamedSecretResponse], Field(description="The secrets, in the order of their names.")
    ]
    nextCursor: NotRequired[NextCursor]


def named_secret_response(brief: SecretBrief) -> NamedSecretResponse:
    """A secret as responses show it."""
    return {
        "namespace": brief.key.namespace,
        "name": brief.key.name,
        "scheme": brief.scheme,
        "createdAt": rfc3339(brief.created_at),
        "updatedAt": rfc3339(brief.updated_at),
    }


class PublicKeyResponse(TypedDict):
    """A public key that verifies signatures of the scheme `v1a`."""

    key: Annotated[
        str,
        Field(description="The ed25519 public key as Standard Webhooks writes it: `whpk_` and base64."),
    ]
    createdAt: Annotated[Time, Field(description="When the key was made.")]
    expiresAt: Annotated[
        Time | None, Field(description="When the key stops signing. Null until the keys are rotated.")
    ]


class PublicKeysResponse(TypedDict):
    """The public keys of the ed25519 keys that sign now, newest first."""

    items: Annotated[
        list[PublicKeyResponse], Field(description="The public keys, newest first. Empty if none signs.")
    ]


def public_keys_response(keys: Iterable[PublicKey]) -> PublicKeysResponse:
    """Public keys as a response shows them, in the order of `keys`."""
    return {
        "items": [
            {
                "key": each.key,
                "createdAt": rfc3339(each.created_at),
                "expiresAt": time_or_none(each.expires_at),
            }
            for each in keys
        ]
    }
