"""The table of all operations of the API, and the OpenAPI document that is made from it."""

from functools import lru_cache
from typing import Any, Final

from sweephand.access.auth_mode import Auth
from sweephand.targets.registry import end_target_types
from sweephand.targets.target_type import TargetType
from sweephand.web.http import json_text, openapi
from sweephand.web.http.operation import (
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes import (
    admin_changes,
    audit,
    batches,
    bulk_verbs,
    bulk_write,
    callbacks,
    changes,
    console,
    explain,
    forecast,
    jobs,
    keys,
    namespace_runs,
    namespaces,
    occurrences,
    on_demand,
    patch,
    pause,
    policies,
    rebuild,
    redrive,
    runs,
    secrets,
    service,
    signing_secrets,
    stats,
)
from sweephand.web.services import Services


def description(auth: Auth = Auth()) -> str:  # noqa: B008 - a NamedTuple does not change
    """The OpenAPI document of all operations and target types, as JSON text, for a stack with this mode.

    It is made at the first call, and again after the registered target types have changed.
    """
    return _description_with(auth, tuple(end_target_types().values()))


@lru_cache(maxsize=2)
def _description_with(auth: Auth, _: tuple[TargetType, ...]) -> str:
    return json_text.write(openapi.describe(OPERATIONS, auth))


def _show_description(services: Services, _: Request[NoQuery, None]) -> Reply:
    return Reply(200, json_text.raw(description(services.auth)), {"cache-control": "max-age=300"})


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    *jobs.OPERATIONS,
    *patch.OPERATIONS,
    *pause.OPERATIONS,
    *on_demand.OPERATIONS,
    *changes.OPERATIONS,
    *explain.OPERATIONS,
    *bulk_verbs.OPERATIONS,
    *bulk_write.OPERATIONS,
    *occurrences.OPERATIONS,
    *forecast.OPERATIONS,
    *runs.OPERATIONS,
    *namespace_runs.OPERATIONS,
    *stats.OPERATIONS,
    *batches.OPERATIONS,
    *redrive.OPERATIONS,
    *callbacks.OPERATIONS,
    *policies.OPERATIONS,
    *namespaces.OPERATIONS,
    *signing_secrets.OPERATIONS,
    *secrets.OPERATIONS,
    *keys.OPERATIONS,
    *admin_changes.OPERATIONS,
    *rebuild.OPERATIONS,
    *audit.OPERATIONS,
    *service.OPERATIONS,
    *console.OPERATIONS,
    Operation(
        method="GET",
        path="/v1/openapi.json",
        name="showDescription",
        tag="Service",
        access="open",
        summary="Show this description as OpenAPI",
        run=_show_description,
        returns={200: Returns("OpenAPI 3.1", dict[str, Any])},
    ),
)
