"""The operations that show and write the settings of a namespace."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.jobs.namespace_settings import limits_violations
from sweephand.model.namespace import NamespaceLimits
from sweephand.web.http import json_text
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
from sweephand.web.schemas.namespace_bodies import NamespaceRequest, NamespaceResponse, namespace_response
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


def show_namespace(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the settings of a namespace."""
    found = services.namespaces.get(request.namespace)
    headers = {} if found.settings is None else {"etag": etag(found.settings.version)}
    return Reply(200, namespace_response(request.namespace, found), headers)


def write_namespace(services: Services, request: Request[NoQuery, NamespaceLimits]) -> Reply:
    """Write the settings of a namespace."""
    settings = services.namespaces.put(
        request.namespace,
        request.body,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers.get("if-match")),
        if_absent=requires_absence(request.headers.get("if-none-match")),
    )
    found = services.namespaces.get(request.namespace)._replace(settings=settings)
    return Reply(200, namespace_response(request.namespace, found), {"etag": etag(settings.version)})


def _read_settings(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[NamespaceLimits]:
    given = json_text.with_plain_numbers(document)
    model, violations = check(NamespaceRequest, given)
    if model is None:
        return ParsedBody(None, tuple(violations))
    limits = model.limits
    return ParsedBody(
        NamespaceLimits(limits.jobs, limits.payload, limits.triggers_per_minute),
        tuple(limits_violations(given["limits"])),
    )


_PATH: Final = "/v1/namespaces/{namespace}"
_ETAG: Final = {"ETag": "The revision of the settings, in double quotes."}
_HEADERS: Final = {
    "If-Match": "An ETag: the call writes only if the settings have this revision. `*`: only if there are "
    "any.",
    "If-None-Match": "`*`: the call writes only if no settings were written before.",
}

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="GET",
        path=_PATH,
        name="getNamespace",
        tag="Namespaces",
        access="read",
        summary="Show the settings of a namespace",
        run=show_namespace,
        returns={200: Returns("The settings", NamespaceResponse, _ETAG)},
    ),
    Operation(
        method="PUT",
        path=_PATH,
        name="putNamespace",
        tag="Namespaces",
        access="admin",
        summary="Write the settings of a namespace",
        description="A change is in force within a minute. `limits.jobs` counts exactly some four minutes "
        "after it was set. What is stored already is not affected.",
        run=write_namespace,
        accepts=Accepts(
            NamespaceRequest,
            _read_settings,
            {
                "a tenant": {"limits": {"triggersPerMinute": 600, "jobs": 1000, "payload": 65536}},
                "no limits": {"limits": {}},
            },
        ),
        headers=_HEADERS,
        returns={200: Returns("The settings", NamespaceResponse, _ETAG)},
        problems=(412, 503),
    ),
)
