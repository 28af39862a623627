"""The operations that write, list and delete the secrets that jobs may name. None of them shows a value."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.access.named_secrets import value_violations
from sweephand.base.instants import Instant
from sweephand.model.secret import SecretKey
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.schemas.query import SecretsQuery
from sweephand.web.schemas.secret_bodies import (
    NamedSecretPage,
    NamedSecretResponse,
    SecretRequest,
    named_secret_response,
)
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


def put_secret(services: Services, request: Request[NoQuery, SecretRequest]) -> Reply:
    """Create a secret, or give it another value."""
    written = services.secrets.put(_key(request), request.body.value, who=request.caller.key_id)
    return Reply(201 if written.outcome == "created" else 200, named_secret_response(written.brief))


def delete_secret(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a secret, also while jobs name it."""
    services.secrets.delete(_key(request), who=request.caller.key_id)
    return Reply(204)


def list_secrets(services: Services, request: Request[SecretsQuery, None]) -> Reply:
    """List secrets by name, without their values."""
    page = services.secrets.page(request.namespace, request.query.cursor, request.query.limit)
    response: NamedSecretPage = {"items": [named_secret_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("secrets", page.next)
    return Reply(200, response)


def _key(request: Request[Any, Any]) -> SecretKey:
    return SecretKey(request.namespace, request.path["secret"])


def _read_secret(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[SecretRequest]:
    asked, violations = check(SecretRequest, json_text.with_plain_numbers(document))
    if asked is not None:
        violations = value_violations(asked.value)
    return ParsedBody(None if violations else asked, tuple(violations))


_LIST_PATH: Final = "/v1/namespaces/{namespace}/secrets"
_PATH: Final = _LIST_PATH + "/{secret}"

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="PUT",
        path=_PATH,
        name="putSecret",
        tag="Access",
        access="admin",
        summary="Write a secret",
        description="Jobs of the namespace name the secret by `secretRef`. Every function uses a new value "
        "within five seconds. If both values sign, the former one goes on signing for a day. The value that "
        "the secret has already changes nothing.",
        run=put_secret,
        accepts=Accepts(
            SecretRequest,
            _read_secret,
            {"a header": {"value": "Bearer 3f9c1d"}},
        ),
        returns={
            200: Returns("The secret has this value now", NamedSecretResponse),
            201: Returns("The secret was created", NamedSecretResponse),
        },
        problems=(503,),
    ),
    Operation(
        method="GET",
        path=_LIST_PATH,
        name="listSecrets",
        tag="Access",
        access="admin",
        summary="List secrets by name",
        description="The list shows no values.",
        run=list_secrets,
        query=SecretsQuery,
        returns={200: Returns("A page of secrets", NamedSecretPage)},
    ),
    Operation(
        method="DELETE",
        path=_PATH,
        name="deleteSecret",
        tag="Access",
        access="admin",
        summary="Delete a secret",
        description="Jobs may still name the secret. From then on their runs fail, and name it. Create it "
        "again, and redrive them.",
        run=delete_secret,
        returns={204: Returns("The secret is deleted")},
        problems=(404,),
    ),
)
