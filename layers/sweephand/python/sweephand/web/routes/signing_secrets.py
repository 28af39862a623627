"""The operations on signing secrets: shown to and rotated by a namespace's admin."""

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
    """Show the secrets that sign now; the first is made when it is first asked for."""
    return _reply(services.signing.get_or_create(request.namespace), request)


def rotate_secrets(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Make a new first secret."""
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
        description="A new secret signs from now on. The old one signs beside it for a day. The call "
        "takes no body. 409 while three secrets sign: the problem says when the next rotation is possible.",
        run=rotate_secrets,
        returns={200: Returns("The active secrets, newest first", SecretsResponse)},
        problems=(409,),
    ),
)
