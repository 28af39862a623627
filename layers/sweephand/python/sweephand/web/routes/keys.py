"""The operations by which admins make, list, rotate and revoke API keys."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand import __version__
from sweephand.access import callers, key_making, key_rotation
from sweephand.access.seal import seal, unseal
from sweephand.base.errors import (
    ForbiddenError,
    InvalidError,
    Violation,
)
from sweephand.base.instants import HOUR_MS, Instant
from sweephand.base.limits import KEY_OVERLAP_HOURS_DEFAULT
from sweephand.base.names import NAME_RULE, is_name
from sweephand.jobs.fields.field import Duration
from sweephand.jobs.preconditions import within_time_limit
from sweephand.model.api_key import EVERY_NAMESPACE
from sweephand.schedules import parse_duration_ms
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
from sweephand.web.schemas.key_requests import KeyRequest, KeyRotation
from sweephand.web.schemas.query import KeysQuery
from sweephand.web.schemas.responses import (
    KeyPage,
    MeResponse,
    NewKeyResponse,
    RotatedKeyResponse,
    key_response,
)
from sweephand.web.schemas.run_responses import time_or_none
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


def create_key(services: Services, request: Request[NoQuery, KeyRequest]) -> Reply:
    """Make a key and show it. No later answer shows its secret again."""
    asked, caller = request.body, request.caller
    if not caller.sees(asked.namespace):
        raise ForbiddenError(
            f"This key is for namespace {caller.namespace}: it makes keys for that namespace only."
        )
    if asked.principal is not None and caller.namespace != EVERY_NAMESPACE:
        raise ForbiddenError(
            "A role or user of IAM has one key in the whole stack. An admin of every namespace makes it."
        )
    wanted = key_making.WantedKey(
        asked.namespace,
        asked.role,
        None if asked.expires_in is None else parse_duration_ms(asked.expires_in),
        asked.description,
        None if asked.principal is None else callers.named_principal(asked.principal),
        asked.requests_per_minute,
    )
    made = key_making.make_key(services.keys, services.ids, wanted, caller, request.requested_at)
    if asked.namespace != EVERY_NAMESPACE:
        services.namespaces.enlist(asked.namespace)
    response: NewKeyResponse = {**key_response(made.key), "key": made.text or None}
    return Reply(201, response, {"cache-control": "no-store"})


def list_keys(services: Services, request: Request[KeysQuery, None]) -> Reply:
    """List the keys that the caller may revoke."""
    query = request.query
    page = services.keys.page(_visible_namespace(request), _open_cursor(services, query.cursor), query.limit)
    alive = (key for key in page.items if key.is_alive(request.requested_at))
    response: KeyPage = {"items": [key_response(key) for key in alive]}
    if page.next is not None:
        response["nextCursor"] = seal(_cursor_secret(services), page.next)
    return Reply(200, response)


def rotate_key(services: Services, request: Request[NoQuery, KeyRotation]) -> Reply:
    """Make a key in place of another one, and show it. No later answer shows it again."""
    asked = request.body
    overlap_ms, lives_ms = (
        None if text is None else parse_duration_ms(text) for text in (asked.overlap, asked.expires_in)
    )
    rotated = key_rotation.rotate_key(
        services.keys,
        services.ids,
        request.path["id"],
        request.caller,
        now=request.requested_at,
        overlap_ms=KEY_OVERLAP_HOURS_DEFAULT * HOUR_MS if overlap_ms is None else overlap_ms,
        lives_ms=lives_ms,
    )
    response: RotatedKeyResponse = {
        **key_response(rotated.new.key),
        "key": rotated.new.text,
        "replaces": key_response(rotated.old),
    }
    return Reply(201, response, {"cache-control": "no-store"})


def revoke_key(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Revoke a key, and what it has made."""
    in_time = within_time_limit(services.clock, request.requested_at)
    key_rotation.revoke_key(
        services.keys,
        services.ids,
        request.path["id"],
        request.caller,
        now=request.requested_at,
        in_time=in_time,
    )
    return Reply(204)


def show_me(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show who the caller is. The gateway may accept a revoked key for a minute; its expiry is unknown."""
    caller = request.caller
    expires_at = caller.expires_at
    if expires_at is None and (key := services.keys.get(caller.key_id)):
        expires_at = key.expires_at
    response: MeResponse = {
        "id": caller.key_id,
        "namespace": caller.namespace,
        "role": caller.role,
        "expiresAt": time_or_none(expires_at),
        "stats": services.stats.is_on,
        "version": __version__,
    }
    return Reply(200, response, {"cache-control": "no-store"})


def _open_cursor(services: Services, sealed: str) -> str:
    """The position in a sealed cursor.

    The position can be the id of a key of another namespace. The seal hides that id from the caller.
    """
    if not sealed:
        return ""
    position = unseal(_cursor_secret(services), sealed)
    if position is None:
        raise InvalidError([Violation("/cursor", cursor.INVALID)])
    return position


def _cursor_secret(services: Services) -> str:
    """The secret that seals cursors. No caller can read it, since no namespace has the name `*`."""
    return services.signing.active(EVERY_NAMESPACE)[-1]


def _visible_namespace(request: Request[Any, Any]) -> str | None:
    namespace = request.caller.namespace
    return None if namespace == EVERY_NAMESPACE else namespace


def _read_key(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[KeyRequest]:
    given = {
        name: json_text.with_plain_numbers(value) for name, value in document.items() if value is not None
    }
    asked, violations = check(KeyRequest, given)
    namespace, principal = given.get("namespace"), given.get("principal")
    if isinstance(namespace, str) and namespace != EVERY_NAMESPACE and not is_name(namespace):
        violations.append(Violation("/namespace", f"{NAME_RULE} Or give * for every namespace."))
    violations += _LIFETIME.violations("/expiresIn", given.get("expiresIn"))
    if isinstance(principal, str) and callers.named_principal(principal) is None:
        violations.append(Violation("/principal", callers.PRINCIPAL_RULE))
    return ParsedBody(None if violations else asked, tuple(violations))


def _read_rotation(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[KeyRotation]:
    given = {
        name: json_text.with_plain_numbers(value) for name, value in document.items() if value is not None
    }
    asked, violations = check(KeyRotation, given)
    violations += _OVERLAP.violations("/overlap", given.get("overlap"))
    violations += _LIFETIME.violations("/expiresIn", given.get("expiresIn"))
    return ParsedBody(None if violations else asked, tuple(violations))


_LIFETIME: Final = Duration("keyDaysMax")
_OVERLAP: Final = Duration("keyOverlapDaysMax", may_be_zero=True)

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="POST",
        path="/v1/keys",
        name="makeKey",
        tag="Access",
        access="admin",
        summary="Make an API key",
        description="Only the answer to this call shows the key. An admin of one namespace makes keys for "
        "that namespace only. A key that another key makes expires no later than that one, and is revoked "
        "with it. A key with a secret opens stacks with `AuthMode=keys`, and the key of a `principal` opens "
        "those with `AuthMode=iam`. Both can be made in every mode. A principal has one key, and a new one "
        "takes its place. 409 means that the principal has a key for another namespace, which must be "
        "revoked first.",
        run=create_key,
        accepts=Accepts(
            KeyRequest,
            _read_key,
            {
                "for a service": {"namespace": "billing", "role": "write", "expiresIn": "90d"},
                "for a role of IAM": {
                    "namespace": "billing",
                    "role": "write",
                    "principal": "arn:aws:iam::123456789012:role/billing",
                },
            },
        ),
        returns={201: Returns("The new key", NewKeyResponse)},
        problems=(409,),
    ),
    Operation(
        method="GET",
        path="/v1/keys",
        name="listKeys",
        tag="Access",
        access="admin",
        summary="List API keys",
        description="The list shows keys without their secrets. An admin of one namespace sees the keys "
        "of that namespace only.",
        run=list_keys,
        query=KeysQuery,
        returns={200: Returns("A page of keys", KeyPage)},
    ),
    Operation(
        method="POST",
        path="/v1/keys/{id}/rotate",
        name="rotateKey",
        tag="Access",
        access="admin",
        summary="Rotate an API key",
        description="Makes a key with the same namespace, role and description, and lets the old one expire "
        "after the overlap. One write does both. Only the answer to this call shows the new key. The gateway "
        "may accept the old key for up to a minute after its end. A key can be rotated once, so that it has "
        "one successor: 409 names that successor. The new key expires no later than the caller's, so no "
        "key prolongs itself.",
        run=rotate_key,
        accepts=Accepts(
            KeyRotation,
            _read_rotation,
            {"with an hour to bring the new key to its holder": {"overlap": "1h"}},
            required=False,
        ),
        returns={201: Returns("The new key, and the end of the old one", RotatedKeyResponse)},
        problems=(404, 409),
    ),
    Operation(
        method="DELETE",
        path="/v1/keys/{id}",
        name="revokeKey",
        tag="Access",
        access="admin",
        summary="Revoke an API key",
        description="Also revokes every key that the key made or rotated, those that these made, and the "
        "keys that it replaced. A key that was rotated is revoked alone while the key in its place is valid. "
        "The gateway may accept the keys for up to a minute after the answer. After 503, keys that it made "
        "may still be valid: send the same request again.",
        run=revoke_key,
        returns={204: Returns("The keys are revoked")},
        problems=(404, 503),
    ),
    Operation(
        method="GET",
        path="/v1/me",
        name="showMe",
        tag="Access",
        access="any",
        summary="Show what the caller may do",
        description="The namespace and the role of its key or token, when that expires, and whether the "
        "stack counts deliveries.",
        run=show_me,
        returns={200: Returns("The caller's key", MeResponse)},
    ),
)
