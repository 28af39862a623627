"""The operations on the secrets that jobs may name, and on the secrets and keys that sign deliveries."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Final, NotRequired

from pydantic import AfterValidator, Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.access.named_secrets import VALUE_MEANING, VALUE_PATTERN, value_violations
from sweephand.access.signing_keys import PublicKey
from sweephand.base.instants import rfc3339, rfc3339_or_none
from sweephand.base.limits import SECRET_LENGTH_MAX
from sweephand.base.names import text_schema
from sweephand.model.secret import Scheme, SecretBrief, SecretKey, SigningSecret, SigningSecrets
from sweephand.web.http import cursor
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import NextCursor, PageQuery, Time, about, page_query
from sweephand.web.schemas.shapes import RequestBody


def _check_value(value: str) -> str:
    for violation in value_violations(value):
        raise ValueError(violation.detail)
    return value


_Value = Annotated[
    str, AfterValidator(_check_value), WithJsonSchema(text_schema(VALUE_PATTERN, SECRET_LENGTH_MAX))
]


class SecretRequest(RequestBody):
    """A secret that jobs of the namespace may name."""

    value: _Value = Field(description=VALUE_MEANING)


class NamedSecretResponse(TypedDict):
    """A secret without its value."""

    namespace: Annotated[str, about("The namespace of the secret.")]
    name: Annotated[str, about("The secret's name, unique within its namespace.")]
    scheme: Annotated[
        Scheme | None,
        about(
            "How the value signs, if a target names it as `signingSecret`: `v1` is HMAC-SHA256, "
            "`v1a` is ed25519. Null for any other value."
        ),
    ]
    createdAt: Annotated[Time, about("When the secret was created.")]
    updatedAt: Annotated[Time, about("When its value last changed.")]


class NamedSecretPage(TypedDict):
    """A page of secrets in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[NamedSecretResponse], about("The secrets, in the order of their names.")]
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

    key: Annotated[str, about("The ed25519 public key as Standard Webhooks writes it: `whpk_` and base64.")]
    createdAt: Annotated[Time, about("When the key was made.")]
    expiresAt: Annotated[Time | None, about("When the key stops signing. Null until the keys are rotated.")]


class PublicKeysResponse(TypedDict):
    """The public keys of the ed25519 keys that sign now, newest first."""

    items: Annotated[list[PublicKeyResponse], about("The public keys, newest first. Empty if none signs.")]


def public_keys_response(keys: Iterable[PublicKey]) -> PublicKeysResponse:
    """Public keys as a response shows them, in the order of `keys`."""
    return {
        "items": [
            {
                "key": each.key,
                "createdAt": rfc3339(each.created_at),
                "expiresAt": rfc3339_or_none(each.expires_at),
            }
            for each in keys
        ]
    }


class SecretResponse(TypedDict):
    """A signing secret."""

    secret: Annotated[str, about("The secret as Standard Webhooks writes it: `whsec_` and base64.")]
    createdAt: Annotated[Time, about("When the secret was made.")]
    expiresAt: Annotated[
        Time | None, about("When the secret stops signing. Null until the secrets are rotated.")
    ]


class SecretsResponse(TypedDict):
    """The signing secrets that are active, newest first."""

    items: Annotated[list[SecretResponse], about("The secrets that sign deliveries now, newest first.")]


def secrets_response(secrets: Iterable[SigningSecret]) -> SecretsResponse:
    """Signing secrets as a response shows them, in the order of `secrets`."""
    return {
        "items": [
            {
                "secret": each.secret,
                "createdAt": rfc3339(each.created_at),
                "expiresAt": rfc3339_or_none(each.expires_at),
            }
            for each in secrets
        ]
    }


_LIST_PATH: Final = "/v1/namespaces/{namespace}/secrets"
_PATH: Final = _LIST_PATH + "/{secret}"
_SIGNING_PATH: Final = "/v1/namespaces/{namespace}/signing-secrets"
_KEYS_PATH: Final = "/v1/namespaces/{namespace}/signing-keys"

#: How long a consumer may keep the public keys. A key that was rotated signs for far longer.
_KEYS_AGE_MAX_S: Final = 300


@partial(
    Operation,
    method="PUT",
    path=_PATH,
    tag="Access",
    access="admin",
    accepts=Accepts(SecretRequest, {"a header": {"value": "Bearer 3f9c1d"}}),
    returns={
        200: Returns("The secret has this value now", NamedSecretResponse),
        201: Returns("The secret was created", NamedSecretResponse),
    },
    problems=(503,),
)
def put_secret(services: Services, request: Request[NoQuery, SecretRequest]) -> Reply:
    """Write a secret.

    Jobs of the namespace name the secret by `secretRef`. Every function uses a new value within five seconds.
    If both values sign, the former one goes on signing for a day. The value that the secret has already
    changes nothing.
    """
    written = services.secrets.put(_key(request), request.body.value, who=request.caller.key_id)
    return Reply(201 if written.outcome == "created" else 200, named_secret_response(written.brief))


@partial(
    Operation,
    method="DELETE",
    path=_PATH,
    tag="Access",
    access="admin",
    returns={204: Returns("The secret is deleted")},
    problems=(404,),
)
def delete_secret(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a secret.

    Jobs may still name the secret. From then on their runs fail, and name it. Create it again, and redrive
    them.
    """
    services.secrets.delete(_key(request), who=request.caller.key_id)
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_LIST_PATH,
    tag="Access",
    access="admin",
    query=page_query("secrets"),
    returns={200: Returns("A page of secrets", NamedSecretPage)},
)
def list_secrets(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List secrets by name.

    The list shows no values.
    """
    page = services.secrets.page(request.namespace, request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("secrets", page, named_secret_response))


@partial(
    Operation,
    method="GET",
    path=_SIGNING_PATH,
    tag="Access",
    access="admin",
    returns={200: Returns("The active secrets, newest first", SecretsResponse)},
)
def show_signing_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the signing secrets.

    Deliveries to HTTP targets of this namespace carry one Standard Webhooks signature for each secret.
    """
    return _reply(services.signing.get_or_create(request.namespace), request)


@partial(
    Operation,
    method="POST",
    path=_SIGNING_PATH,
    tag="Access",
    access="admin",
    returns={200: Returns("The active secrets, newest first", SecretsResponse)},
    problems=(409,),
)
def rotate_signing_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Rotate the signing secrets.

    Makes a new secret, which signs from now on. The old secret still signs for a day. The call takes no body.
    The answer is 409 while three secrets sign. It says when the next rotation is possible.
    """
    return _reply(services.signing.rotate(request.namespace, who=request.caller.key_id), request)


@partial(
    Operation,
    method="DELETE",
    path=_SIGNING_PATH,
    tag="Access",
    access="admin",
    returns={204: Returns("Only the newest secret signs")},
    problems=(404, 503),
)
def end_old_signing_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """End the old signing secrets.

    Within a minute, deliveries carry a signature by the newest secret alone, and no longer one by each that
    was rotated. The old secrets are deleted at once. To end a secret that has leaked, rotate it first. The
    answer is 404 if no old secret signs.
    """
    services.signing.end_old(request.namespace, who=request.caller.key_id)
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_KEYS_PATH,
    tag="Access",
    access="open",
    returns={200: Returns("The public keys of the keys that sign now, newest first", PublicKeysResponse)},
)
def show_signing_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the public keys.

    Deliveries to HTTP targets of this namespace carry one `v1a` signature for each of these ed25519 keys. The
    list is empty if no admin has made a key. The call needs no API key.
    """
    response = public_keys_response(services.signing.public_keys(request.namespace))
    return Reply(200, response, {"cache-control": f"max-age={_KEYS_AGE_MAX_S}"})


@partial(
    Operation,
    method="POST",
    path=_KEYS_PATH,
    tag="Access",
    access="admin",
    returns={200: Returns("The public keys of the keys that sign now, newest first", PublicKeysResponse)},
    problems=(409,),
)
def rotate_signing_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Make or rotate the ed25519 key.

    Makes a new key, which signs within a minute, beside the signing secrets. The old key still signs for a
    day. The call takes no body. The answer is 409 while three keys sign. It says when the next rotation is
    possible.
    """
    response = public_keys_response(services.signing.rotate_key(request.namespace, who=request.caller.key_id))
    return Reply(200, response, {"cache-control": "no-store"})


@partial(
    Operation,
    method="DELETE",
    path=_KEYS_PATH,
    tag="Access",
    access="admin",
    returns={204: Returns("No ed25519 key signs")},
    problems=(404, 503),
)
def end_signing_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """End signing by ed25519.

    Within a minute, deliveries carry signatures by the signing secrets alone. The private keys are deleted at
    once.
    """
    services.signing.end_keys(request.namespace, who=request.caller.key_id)
    return Reply(204)


def _key(request: Request[Any, Any]) -> SecretKey:
    return SecretKey(request.namespace, request.path["secret"])


def _reply(secrets: SigningSecrets, request: Request[NoQuery, None]) -> Reply:
    response = secrets_response(secrets.active(request.requested_at))
    return Reply(200, response, {"cache-control": "no-store"})
