"""The operations by which an admin rotates the signing secrets and keys, and everybody sees public keys."""

from typing import Any, Final

from sweephand.model.secret import SigningSecrets
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


def show_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the active secrets. The first call for a namespace makes its first secret."""
    return _reply(services.signing.get_or_create(request.namespace), request)


def rotate_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Make a new secret. It becomes the first."""
    return _reply(services.signing.rotate(request.namespace, who=request.caller.key_id), request)


def show_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the public keys. They are no secret, and a consumer that verifies needs no API key."""
    response = public_keys_response(services.signing.public_keys(request.namespace))
    return Reply(200, response, {"cache-control": f"max-age={_KEYS_AGE_MAX_S}"})


def rotate_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Make a new ed25519 key. It becomes the first."""
    response = public_keys_response(services.signing.rotate_key(request.namespace, who=request.caller.key_id))
    return Reply(200, response, {"cache-control": "no-store"})


def end_keys(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Let no ed25519 key sign any more."""
    services.signing.end_keys(request.namespace, who=request.caller.key_id)
    return Reply(204)


def _reply(secrets: SigningSecrets, request: Request[NoQuery, None]) -> Reply:
    response = secrets_response(secrets.active(request.requested_at))
    return Reply(200, response, {"cache-control": "no-store"})


_PATH: Final = "/v1/namespaces/{namespace}/signing-secrets"
_KEYS_PATH: Final = "/v1/namespaces/{namespace}/signing-keys"

#: How long a consumer may keep the public keys. A key that was rotated signs for far longer.
_KEYS_AGE_MAX_S: Final = 300

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="GET",
        path=_PATH,
        name="showSigningSecrets",
        tag="Access",
        access="admin",
        summary="Show the signing secrets",
        description="Deliveries to HTTP targets of this namespace carry one Standard Webhooks signature "
        "for each secret.",
        run=show_secrets,
        returns={200: Returns("The active secrets, newest first", SecretsResponse)},
    ),
    Operation(
        method="POST",
        path=_PATH,
        name="rotateSigningSecrets",
        tag="Access",
        access="admin",
        summary="Rotate the signing secrets",
        description="Makes a new secret, which signs from now on. The old secret still signs for a day. The "
        "call takes no body. The answer is 409 while three secrets sign. It says when the next rotation is "
        "possible.",
        run=rotate_secrets,
        returns={200: Returns("The active secrets, newest first", SecretsResponse)},
        problems=(409,),
    ),
    Operation(
        method="GET",
        path=_KEYS_PATH,
        name="showSigningKeys",
        tag="Access",
        access="open",
        summary="Show the public keys",
        description="Deliveries to HTTP targets of this namespace carry one `v1a` signature for each of "
        "these ed25519 keys. The list is empty if no admin has made a key. The call needs no API key.",
        run=show_keys,
        returns={200: Returns("The public keys of the keys that sign now, newest first", PublicKeysResponse)},
    ),
    Operation(
        method="POST",
        path=_KEYS_PATH,
        name="rotateSigningKeys",
        tag="Access",
        access="admin",
        summary="Make or rotate the ed25519 key",
        description="Makes a new key, which signs within a minute, beside the signing secrets. The old key "
        "still signs for a day. The call takes no body. The answer is 409 while three keys sign. It says "
        "when the next rotation is possible.",
        run=rotate_keys,
        returns={200: Returns("The public keys of the keys that sign now, newest first", PublicKeysResponse)},
        problems=(409,),
    ),
    Operation(
        method="DELETE",
        path=_KEYS_PATH,
        name="endSigningKeys",
        tag="Access",
        access="admin",
        summary="End signing by ed25519",
        description="Within a minute, deliveries carry signatures by the signing secrets alone. The private "
        "keys are deleted at once.",
        run=end_keys,
        returns={204: Returns("No ed25519 key signs")},
        problems=(404, 503),
    ),
)
