"""The operations by which the admin of a namespace shows and rotates its signing secrets."""

from typing import Any, Final

from sweephand.model.signing_secret import SigningSecrets
from sweephand.web.http.operation import (
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.schemas.responses import SecretsResponse, secrets_response
from sweephand.web.services import Services


def show_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the active secrets. The first call for a namespace makes its first secret."""
    return _reply(services.signing.get_or_create(request.namespace), request)


def rotate_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Make a new secret. It becomes the first."""
    return _reply(services.signing.rotate(request.namespace), request)


def _reply(secrets: SigningSecrets, request: Request[NoQuery, None]) -> Reply:
    response = secrets_response(secrets.active(request.requested_at))
    return Reply(200, response, {"cache-control": "no-store"})


_PATH: Final = "/v1/namespaces/{namespace}/signing-secrets"

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
)
