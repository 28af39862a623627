"""The operations that list namespaces, and that show and write the settings of one."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.jobs.namespace_defaults import place_violations, read_allowed_targets
from sweephand.jobs.namespace_settings import WantedSettings, defaults_violations
from sweephand.model.api_key import EVERY_NAMESPACE
from sweephand.model.namespace import NamespaceDefaults, NamespaceLimits
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
from sweephand.web.http.preconditions import etag, parse_if_match, requires_absence
from sweephand.web.schemas.namespace_bodies import (
    NamespacePage,
    NamespaceRequest,
    NamespaceResponse,
    namespace_response,
)
from sweephand.web.schemas.query import NamespacesQuery
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


def _read_settings(document: Mapping[str, Any], services: Services, _: Instant) -> ParsedBody[WantedSettings]:
    given = json_text.with_plain_numbers(document)
    violations = check(NamespaceRequest, given)[1]
    if violations:
        return ParsedBody(None, tuple(violations))
    defaults = {name: _without_nulls(given[name]) for name in _DEFAULTS if given.get(name) is not None}
    violations = defaults_violations(defaults, services.reach)
    allowed, wrong = read_allowed_targets(given.get("allowedTargets") or {})
    if not violations and not wrong:
        wrong = place_violations(allowed, defaults.get("defaultTarget"), "/defaultTarget")
    limits = given["limits"]
    return ParsedBody(
        WantedSettings(
            NamespaceLimits(limits.get("jobs"), limits.get("payload"), limits.get("triggersPerMinute")),
            NamespaceDefaults(*(defaults.get(name) for name in _DEFAULTS)),
            allowed,
        ),
        (*violations, *wrong),
    )


#: The fields of NamespaceDefaults, by their names in the API.
_DEFAULTS: Final = ("defaultTarget", "defaultRetry")
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
        _read_settings,
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
        if_match=parse_if_match(request.headers.get("if-match")),
        if_absent=requires_absence(request.headers.get("if-none-match")),
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
    query=NamespacesQuery,
    returns={200: Returns("A page of namespaces", NamespacePage)},
)
def list_namespaces(services: Services, request: Request[NamespacesQuery, None]) -> Reply:
    """List the namespaces that the key sees.

    A key of all namespaces sees each one in which a job was created, for which a key was made, or whose
    settings were written. A key of one namespace sees that one.
    """
    query, own = request.query, request.caller.namespace
    if own != EVERY_NAMESPACE:
        return Reply(200, NamespacePage(items=[{"namespace": own}] if own > query.cursor else []))
    page = services.namespaces.page(query.cursor, query.limit)
    response: NamespacePage = {"items": [{"namespace": each} for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("namespaces", page.next)
    return Reply(200, response)


def _without_nulls(written: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written.items() if value is not None}
