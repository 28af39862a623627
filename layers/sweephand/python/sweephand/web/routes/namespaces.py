"""The operations that list namespaces, and that show and write the settings of one."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final, NotRequired

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.base.names import EVERY_NAMESPACE, text_schema
from sweephand.jobs.namespace_settings import (
    LIMITS,
    NamespaceView,
    WantedSettings,
    defaults_violations,
    shown_settings,
)
from sweephand.jobs.settings_cache import HOSTS, NETWORKS, place_violations
from sweephand.model.api_key import Caller
from sweephand.model.namespace import EVERYWHERE, AllowedTargets, NamespaceDefaults, NamespaceLimits
from sweephand.targets.destinations import read_network, read_rule
from sweephand.targets.registry import with_hidden_values
from sweephand.targets.url import HOST_LENGTH_MAX, UrlError
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
    Services,
    etag,
    parse_if_match,
    requires_absence,
)
from sweephand.web.schemas.field_models import NamespaceTarget, model_of
from sweephand.web.schemas.formats import NextCursor, PageQuery, Time, about, page_query
from sweephand.web.schemas.job_requests import RetryRequest
from sweephand.web.schemas.responses import HIDDEN
from sweephand.web.schemas.shapes import RequestBody, given_fields, read_as, without_nulls

_TARGET_MEANING: Final = (
    "The target of jobs that have none, and the base of targets of the type `default`: an object with its "
    "type. Each delivery reads it. Without this field the namespace has no default target, and the triggers "
    "of such jobs fail."
)
_RETRY_MEANING: Final = (
    "The `retry` of jobs that are written without one: an object. It is copied into the job, so a change "
    "affects jobs that are written later."
)
_ALLOWED_MEANING: Final = (
    "Where the HTTP targets of the namespace may be: an object. Jobs with other hosts are refused, and a "
    "trigger for another host fails at once. Without this field every place is allowed that the stack allows."
)


_LIMIT_MEANINGS: Final = {each.name: each.meaning for each in LIMITS.fields}


@model_of(LIMITS)
class NamespaceLimitsRequest(RequestBody):
    """The limits of a namespace. Without one of them, the stack's own apply (`GET /v1/limits`)."""


def _entry(read: Callable[[str], object]) -> AfterValidator:
    """Puts an entry of a list in its one form."""

    def value_of(text: str) -> str:
        try:
            return str(read(text))
        except UrlError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(value_of)


def _count(most: int, meaning: str) -> BeforeValidator:
    def check(entries: object) -> object:
        if isinstance(entries, list) and not 1 <= len(entries) <= most:
            raise ValueError(f"Must have 1 to {most} entries. {meaning}")
        return entries

    return BeforeValidator(check)


_Host = Annotated[
    str,
    _entry(read_rule),
    WithJsonSchema(text_schema(r"^(?:\*\.)?[A-Za-z0-9_.:\[\]-]+$", HOST_LENGTH_MAX + 2)),
]
_Network = Annotated[
    str, _entry(read_network), WithJsonSchema(text_schema("^[0-9A-Fa-f.:]+(?:/[0-9]{1,3})?$", 64))
]
_Hosts = Annotated[list[_Host], _count(NAMESPACE_HOSTS_MAX, HOSTS)]
_Networks = Annotated[list[_Network], _count(NAMESPACE_NETWORKS_MAX, NETWORKS)]


class AllowedTargetsRequest(RequestBody):
    """Where the HTTP targets of a namespace may be. A target has to pass both lists."""

    hosts: _Hosts | None = Field(
        None, description=HOSTS, json_schema_extra={"minItems": 1, "maxItems": NAMESPACE_HOSTS_MAX}
    )
    networks: _Networks | None = Field(
        None, description=NETWORKS, json_schema_extra={"minItems": 1, "maxItems": NAMESPACE_NETWORKS_MAX}
    )


class NamespaceRequest(RequestBody):
    """The settings of a namespace. They replace the stored ones."""

    limits: NamespaceLimitsRequest = Field(
        description="What the namespace may do: an object. A limit that is left out is removed."
    )
    default_target: NamespaceTarget | None = Field(None, description=_TARGET_MEANING)
    default_retry: RetryRequest | None = Field(None, description=_RETRY_MEANING)
    allowed_targets: AllowedTargetsRequest | None = Field(None, description=_ALLOWED_MEANING)


class NamespaceLimitsResponse(TypedDict):
    """The limits of a namespace that are set."""

    triggersPerMinute: NotRequired[Annotated[int, about(_LIMIT_MEANINGS["triggersPerMinute"])]]
    jobs: NotRequired[Annotated[int, about(_LIMIT_MEANINGS["jobs"])]]
    payload: NotRequired[Annotated[int, about(_LIMIT_MEANINGS["payload"])]]


class AllowedTargetsResponse(TypedDict):
    """Where the HTTP targets of a namespace may be: the lists that are set."""

    hosts: NotRequired[Annotated[list[str], about(HOSTS)]]
    networks: NotRequired[Annotated[list[str], about(NETWORKS)]]


class NamespaceResponse(TypedDict):
    """The settings of a namespace."""

    namespace: Annotated[str, about("The namespace.")]
    rev: NotRequired[
        Annotated[
            str,
            about(
                "The revision of the settings. The `ETag` header shows it too. A namespace whose "
                "settings were never written has none."
            ),
        ]
    ]
    limits: Annotated[NamespaceLimitsResponse, about("The limits. One that is not set is left out.")]
    defaultTarget: NotRequired[Annotated[dict[str, Any], about(_TARGET_MEANING)]]
    defaultRetry: NotRequired[Annotated[dict[str, Any], about(_RETRY_MEANING)]]
    allowedTargets: NotRequired[Annotated[AllowedTargetsResponse, about(_ALLOWED_MEANING)]]
    jobsCounted: NotRequired[
        Annotated[
            int,
            about(
                "How many jobs count toward `limits.jobs`. It is at least the number of stored "
                "jobs. Jobs that have expired may count for some more minutes."
            ),
        ]
    ]
    updatedAt: NotRequired[Annotated[Time, about("When the settings were last written.")]]
    updatedBy: NotRequired[Annotated[str, about("The id of the key that wrote them.")]]


class NamespaceSummary(TypedDict):
    """A namespace in a list."""

    namespace: Annotated[str, about("The namespace.")]


class NamespacePage(TypedDict):
    """A page of namespaces in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[NamespaceSummary], about("The namespaces, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


def namespace_response(namespace: str, view: NamespaceView, caller: Caller) -> NamespaceResponse:
    """The settings of a namespace, as a response shows them.

    For a caller that may only read, HIDDEN replaces the secret values of the default target.
    """
    settings = view.settings
    if settings is None:
        return {"namespace": namespace, "limits": {}}
    shown: Any = {"namespace": namespace, **shown_settings(settings)}
    if "defaultTarget" in shown and not caller.may("write"):
        shown["defaultTarget"] = with_hidden_values(shown["defaultTarget"], HIDDEN)
    if view.jobs_counted is not None:
        shown["jobsCounted"] = view.jobs_counted
    shown |= {
        "rev": settings.version,
        "updatedAt": rfc3339(settings.updated_at),
        "updatedBy": settings.owner,
    }
    response: NamespaceResponse = shown
    return response


def _read_settings(document: Mapping[str, Any], services: Services, _: Instant) -> WantedSettings:
    given = given_fields(document)
    places = read_as(NamespaceRequest, given).allowed_targets
    defaults = {name: without_nulls(given[name]) for name in _DEFAULTS if name in given}
    allowed = EVERYWHERE if places is None else AllowedTargets(_once(places.hosts), _once(places.networks))
    violations = defaults_violations(defaults, services.reach) or place_violations(
        allowed, defaults.get("defaultTarget"), "/defaultTarget"
    )
    if violations:
        raise InvalidError(violations)
    limits = given["limits"]
    return WantedSettings(
        NamespaceLimits(limits.get("jobs"), limits.get("payload"), limits.get("triggersPerMinute")),
        NamespaceDefaults(*(defaults.get(name) for name in _DEFAULTS)),
        allowed,
    )


def _once(entries: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries or ()))


#: The fields of NamespaceDefaults, by their names in the API.
_DEFAULTS: Final[tuple[str, ...]] = ("defaultTarget", "defaultRetry")
_PATH: Final = "/v1/namespaces/{namespace}"
_ETAG: Final = {"ETag": "The revision of the settings, in double quotes."}
_HEADERS: Final = {
    "If-Match": "An ETag: the call writes only if the settings have this revision. `*`: only if there are "
    "any.",
    "If-None-Match": "`*`: the call writes only if no settings were written before.",
}


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Namespaces",
    access="read",
    returns={200: Returns("The settings", NamespaceResponse, _ETAG)},
)
def get_namespace(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the settings of a namespace."""
    found = services.namespaces.get(request.namespace)
    headers = {} if found.settings is None else {"etag": etag(found.settings.version)}
    return Reply(200, namespace_response(request.namespace, found, request.caller), headers)


@partial(
    Operation,
    method="PUT",
    path=_PATH,
    tag="Namespaces",
    access="admin",
    accepts=Accepts(
        NamespaceRequest,
        {
            "a tenant": {"limits": {"triggersPerMinute": 600, "jobs": 1000, "payload": 65536}},
            "a service that receives all reminders": {
                "limits": {},
                "defaultTarget": {
                    "type": "http",
                    "url": "https://actors.example.com/reminders",
                    "headers": {"x-team": "ops"},
                },
                "defaultRetry": {"maxAttempts": 5, "maxAge": "1h"},
            },
            "a tenant with services of its own": {
                "limits": {},
                "allowedTargets": {"hosts": ["example.com", "*.example.com"]},
            },
            "no limits": {"limits": {}},
        },
        _read_settings,
    ),
    headers=_HEADERS,
    returns={200: Returns("The settings", NamespaceResponse, _ETAG)},
    problems=(412, 503),
)
def put_namespace(services: Services, request: Request[NoQuery, WantedSettings]) -> Reply:
    """Write the settings of a namespace.

    The settings replace the stored ones: a field that is left out is removed. A change is in force within a
    minute. `limits.jobs` counts exactly some four minutes after it was set. What is stored already is not
    affected by limits and by `defaultRetry`. Every later delivery to the default target uses the new
    `defaultTarget`, and every later delivery obeys `allowedTargets`.
    """
    settings = services.namespaces.put(
        request.namespace,
        request.body,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        if_absent=requires_absence(request.headers),
    )
    found = services.namespaces.get(request.namespace)._replace(settings=settings)
    return Reply(
        200, namespace_response(request.namespace, found, request.caller), {"etag": etag(settings.version)}
    )


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces",
    tag="Namespaces",
    access="any",
    query=page_query("namespaces"),
    returns={200: Returns("A page of namespaces", NamespacePage)},
)
def list_namespaces(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List the namespaces that the key sees.

    A key of all namespaces sees each one in which a job was created, for which a key was made, or whose
    settings were written. A key of one namespace sees that one.
    """
    query, own = request.query, request.caller.namespace
    if own != EVERY_NAMESPACE:
        return Reply(200, NamespacePage(items=[{"namespace": own}] if own > query.cursor else []))
    page = services.namespaces.page(query.cursor, query.limit)
    return Reply(200, cursor.page_of("namespaces", page, lambda each: NamespaceSummary(namespace=each)))
