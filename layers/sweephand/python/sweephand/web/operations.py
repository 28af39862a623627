"""Which operations the API has: all of them, and the description made of them."""

from functools import cache
from typing import Any, Final

from sweephand.web.http import json_text, openapi
from sweephand.web.http.operation import (
    Gives,
    NoQuery,
    Operation,
    Reply,
    Request,
)
from sweephand.web.routes import (
    bulk_verbs,
    bulk_write,
    callbacks,
    changes,
    jobs,
    keys,
    occurrences,
    on_demand,
    patch,
    pause,
    redrive,
    runs,
    service,
    signing_secrets,
)
from sweephand.web.services import Services


@cache
def description() -> str:
    """The OpenAPI document of all operations, as text; made when it is first asked for."""
    return json_text.write(openapi.describe(OPERATIONS))


def _show_description(_: Services, __: Request[NoQuery, None]) -> Reply:
    return Reply(200, json_text.raw(description()), {"cache-control": "max-age=300"})


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    *jobs.OPERATIONS,
    *patch.OPERATIONS,
    *pause.OPERATIONS,
    *on_demand.OPERATIONS,
    *changes.OPERATIONS,
    *bulk_verbs.OPERATIONS,
    *bulk_write.OPERATIONS,
    *occurrences.OPERATIONS,
    *runs.OPERATIONS,
    *redrive.OPERATIONS,
    *callbacks.OPERATIONS,
    *signing_secrets.OPERATIONS,
    *keys.OPERATIONS,
    *service.OPERATIONS,
    Operation(
        method="GET",
        path="/v1/openapi.json",
        name="showDescription",
        tag="Service",
        access="open",
        summary="This description",
        run=_show_description,
        gives={200: Gives("OpenAPI 3.1", dict[str, Any])},
    ),
)
