"""The operations by which an admin rotates the signing secrets and keys, and everybody sees public keys."""

from functools import partial
from typing import Final

from sweephand.model.signing_secret import SigningSecrets
from sweephand.web.http.operation import (
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.schemas.responses import SecretsResponse, secrets_response
from sweephand.web.schemas.secret_bodies import PublicKeysResponse, public_keys_response
from sweephand.web.services import Services

_PATH: Final = "/v1/namespaces/{namespace}/signing-secrets"
_KEYS_PATH: Final = "/v1/namespaces/{namespace}/signing-keys"
#: How long a consumer may keep the public keys. A key that was rotated signs for far longer.
_KEYS_AGE_MAX_S: Final = 300


@partial(
    Operation,
    method="GET",
    path=_PATH,
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
    path=_PATH,
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


def _reply(secrets: SigningSecrets, request: Request[NoQuery, None]) -> Reply:
    response = secrets_response(secrets.active(request.requested_at))
    return Reply(200, response, {"cache-control": "no-store"})
