"""The operations by which admins make, list, rotate and revoke API keys."""

from functools import partial
from typing import Annotated, Final, NotRequired

from pydantic import AfterValidator, Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.access import callers, key_making, key_rotation
from sweephand.base import limits
from sweephand.base.errors import ForbiddenError, InvalidError, Violation
from sweephand.base.instants import HOUR_MS, rfc3339, rfc3339_or_none
from sweephand.base.names import EVERY_NAMESPACE, NAME_PATTERN, NAME_RULE, is_name, text_schema
from sweephand.jobs.fields.field import DURATION_RULE, Duration
from sweephand.jobs.fields.registry import DESCRIPTION_MEANING
from sweephand.jobs.preconditions import within_time_limit
from sweephand.model.api_key import Key, Role
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.web.http import cursor
from sweephand.web.http.cursor import seal, unseal
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import (
    Cursor,
    DescriptionText,
    NextCursor,
    PageQuery,
    Time,
    about,
    from_text,
)
from sweephand.web.schemas.shapes import RequestBody


def _check_namespace(text: str) -> str:
    if text != EVERY_NAMESPACE and not is_name(text):
        raise ValueError(f"{NAME_RULE} Or give * for every namespace.")
    return text


def _read_principal(text: str) -> str:
    """The role or user of an ARN, without its path."""
    found = callers.named_principal(text)
    if found is None:
        raise ValueError(callers.PRINCIPAL_RULE)
    return found


def _read_duration(shape: Duration, text: str) -> int:
    for violation in shape.violations("", text):
        raise ValueError(violation.detail)
    return parse_duration_ms(text)


_NamespaceOrAll = Annotated[
    str,
    AfterValidator(_check_namespace),
    WithJsonSchema(text_schema(rf"^(?:\*|{NAME_PATTERN[1:-1]})$", limits.NAME_LENGTH_MAX)),
]
_Principal = Annotated[
    str,
    AfterValidator(_read_principal),
    WithJsonSchema(text_schema(callers.PRINCIPAL_PATTERN, callers.PRINCIPAL_LENGTH_MAX)),
]
_LIFETIME: Final = partial(_read_duration, Duration("keyDaysMax"))
_OVERLAP: Final = partial(_read_duration, Duration("keyOverlapDaysMax", may_be_zero=True))
_Lifetime = Annotated[int, from_text(_LIFETIME), WithJsonSchema(DURATION_SCHEMA)]
_Overlap = Annotated[int, from_text(_OVERLAP), WithJsonSchema(DURATION_SCHEMA)]


class KeyRequest(RequestBody):
    """The API key to make."""

    namespace: _NamespaceOrAll = Field(
        description="The namespace that the key opens. `*` opens every namespace; only a key for `*` can "
        "make such a key."
    )
    role: Role = Field(description="What the key may do: read, write (also read) or admin (everything).")
    expires_in: _Lifetime | None = Field(
        None,
        description=f"How long the key works, at most {limits.KEY_DAYS_MAX}d, and no longer than the key "
        f"that makes it. By default it ends with that key, or never. {DURATION_RULE}",
    )
    description: DescriptionText | None = Field(None, description=DESCRIPTION_MEANING)
    requests_per_minute: int | None = Field(
        None,
        ge=1,
        le=limits.KEY_REQUESTS_PER_MINUTE_MAX,
        description="How many requests the key may send in a minute; more are refused with 429. By default "
        "as many as the key that makes it, which may also have no rate. A whole number from 1 to "
        f"{limits.KEY_REQUESTS_PER_MINUTE_MAX}.",
    )
    principal: _Principal | None = Field(
        None,
        description="The ARN of the IAM role or user that holds the key, for stacks with `AuthMode=iam`. "
        "Such a key has no secret, and replaces the key that the role or user has. Only an admin "
        "of `*` makes it.",
    )


class KeyRotation(RequestBody):
    """How to rotate an API key."""

    overlap: _Overlap | None = Field(
        None,
        description=f"How long the old key works on; by default {limits.KEY_OVERLAP_HOURS_DEFAULT}h, at most "
        f"{limits.KEY_OVERLAP_DAYS_MAX}d. `0s` ends the old key at once. {DURATION_RULE}",
    )
    expires_in: _Lifetime | None = Field(
        None,
        description="How long the new key works, at most "
        f"{limits.KEY_DAYS_MAX}d, and no longer than the key with which you call. By default it expires when "
        f"the old key was to expire, or with that key if it expires earlier. {DURATION_RULE}",
    )


class KeyResponse(TypedDict):
    """An API key, without its secret."""

    id: Annotated[str, about("The key's id, as `DELETE /v1/keys/{id}` takes it.")]
    namespace: Annotated[str, about("The namespace that the key opens. `*` opens every namespace.")]
    role: Annotated[Role, about("What the key may do: `read`, `write` (also read) or `admin` (everything).")]
    createdAt: Annotated[Time, about("When the key was made.")]
    expiresAt: Annotated[Time | None, about("When the key expires. Null if it does not expire.")]
    description: Annotated[
        str | None, about("The text that its maker gave, for people. Null without such a text.")
    ]
    replacedBy: Annotated[
        str | None, about("The id of the key that a rotation made in its place. Null if it was not rotated.")
    ]
    principal: Annotated[
        str | None, about("The ARN of the IAM role or user that holds the key. Null if the key has a secret.")
    ]
    createdBy: Annotated[
        str,
        about(
            "The id of the key that made or rotated it. For a JSON Web Token it is `jwt:` and "
            "the subject; `operator` stands for the function that makes admin keys."
        ),
    ]
    requestsPerMinute: Annotated[
        int | None, about("How many requests it may send in a minute. Null without such a rate.")
    ]


class NewKeyResponse(KeyResponse):
    """A new API key. Only this response shows the key itself."""

    key: Annotated[
        str | None, about("The key itself: `Authorization: Bearer {key}`. Null for the key of a principal.")
    ]


class RotatedKeyResponse(KeyResponse):
    """The new API key of a rotation. Only this response shows the key itself."""

    key: Annotated[str, about("The key itself: `Authorization: Bearer {key}`.")]
    replaces: Annotated[KeyResponse, about("The old key, with the end that it has now.")]


class KeyPage(TypedDict):
    """A page of keys in the order of their ids. It has a `nextCursor` if there may be more."""

    items: Annotated[list[KeyResponse], about("The keys, in the order of their ids.")]
    nextCursor: NotRequired[NextCursor]


def key_response(key: Key) -> KeyResponse:
    """A key as a response shows it. Sweephand does not know its secret, only the digest."""
    return {
        "id": key.id,
        "namespace": key.namespace,
        "role": key.role,
        "createdAt": rfc3339(key.created_at),
        "expiresAt": rfc3339_or_none(key.expires_at),
        "description": key.description,
        "replacedBy": key.replaced_by,
        "principal": key.principal,
        "createdBy": key.created_by,
        "requestsPerMinute": key.requests_per_minute,
    }


class KeysQuery(PageQuery):
    """Selects the keys to list. The cursor is sealed."""

    cursor: Annotated[Cursor, Field(min_length=1)] = ""


@partial(
    Operation,
    method="POST",
    path="/v1/keys",
    tag="Access",
    access="admin",
    accepts=Accepts(
        KeyRequest,
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
)
def make_key(services: Services, request: Request[NoQuery, KeyRequest]) -> Reply:
    """Make an API key.

    Only the answer to this call shows the key. An admin of one namespace makes keys for that namespace only.
    A key that another key makes expires no later than that one, and is revoked with it. A key with a secret
    opens stacks with `AuthMode=keys`, and the key of a `principal` opens those with `AuthMode=iam`. Both can
    be made in every mode. A principal has one key, and a new one takes its place. 409 means that the
    principal has a key for another namespace, which must be revoked first.
    """
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
        asked.expires_in,
        asked.description,
        asked.principal,
        asked.requests_per_minute,
    )
    made = key_making.make_key(services.keys, services.ids, wanted, caller, request.requested_at)
    if asked.namespace != EVERY_NAMESPACE:
        services.namespaces.enlist(asked.namespace)
    response: NewKeyResponse = {**key_response(made.key), "key": made.text or None}
    return Reply(201, response, {"cache-control": "no-store"})


@partial(
    Operation,
    method="GET",
    path="/v1/keys",
    tag="Access",
    access="admin",
    query=KeysQuery,
    returns={200: Returns("A page of keys", KeyPage)},
)
def list_keys(services: Services, request: Request[KeysQuery, None]) -> Reply:
    """List API keys.

    The list shows keys without their secrets. An admin of one namespace sees the keys of that namespace only.
    """
    query = request.query
    own = request.caller.namespace
    seen = None if own == EVERY_NAMESPACE else own
    page = services.keys.page(seen, _open_cursor(services, query.cursor), query.limit)
    alive = [key for key in page.items if key.is_alive(request.requested_at)]
    response: KeyPage = {"items": [key_response(key) for key in alive]}
    if page.next is not None:
        response["nextCursor"] = seal(_cursor_secret(services), page.next)
    return Reply(200, response)


@partial(
    Operation,
    method="POST",
    path="/v1/keys/{id}/rotate",
    tag="Access",
    access="admin",
    accepts=Accepts(
        KeyRotation,
        {"with an hour to bring the new key to its holder": {"overlap": "1h"}},
        required=False,
    ),
    returns={201: Returns("The new key, and the end of the old one", RotatedKeyResponse)},
    problems=(404, 409),
)
def rotate_key(services: Services, request: Request[NoQuery, KeyRotation]) -> Reply:
    """Rotate an API key.

    Makes a key with the same namespace, role and description, and lets the old one expire after the overlap.
    One write does both. Only the answer to this call shows the new key. The gateway may accept the old key
    for up to a minute after its end. A key can be rotated once, so that it has one successor: 409 names that
    successor. The new key expires no later than the caller's, so no key prolongs itself.
    """
    asked = request.body
    rotated = key_rotation.rotate_key(
        services.keys,
        services.ids,
        request.path["id"],
        request.caller,
        now=request.requested_at,
        overlap_ms=limits.KEY_OVERLAP_HOURS_DEFAULT * HOUR_MS if asked.overlap is None else asked.overlap,
        lives_ms=asked.expires_in,
    )
    response: RotatedKeyResponse = {
        **key_response(rotated.new.key),
        "key": rotated.new.text,
        "replaces": key_response(rotated.old),
    }
    return Reply(201, response, {"cache-control": "no-store"})


@partial(
    Operation,
    method="DELETE",
    path="/v1/keys/{id}",
    tag="Access",
    access="admin",
    returns={204: Returns("The keys are revoked")},
    problems=(404, 503),
)
def revoke_key(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Revoke an API key.

    Also revokes every key that the key made or rotated, those that these made, and the keys that it replaced.
    A key that was rotated is revoked alone while the key in its place is valid. The gateway may accept the
    keys for up to a minute after the answer. After 503, keys that it made may still be valid: send the same
    request again.
    """
    key_rotation.revoke_key(
        services.keys,
        services.ids,
        request.path["id"],
        request.caller,
        now=request.requested_at,
        in_time=within_time_limit(services.clock, request.requested_at),
    )
    return Reply(204)


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
