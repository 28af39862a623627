"""Which operations the API has: all of them, and the description made of them."""

from functools import cache
from typing import Any, Final

from sweephand.web import (
    bulk,
    changes,
    demand,
    jobs,
    json_text,
    keys,
    many,
    meta,
    occurrences,
    openapi,
    patch,
    pausing,
    redrive,
    reports,
    runs,
    signing_secrets,
)
from sweephand.web.operation import Gives, NoQuery, Operation, Reply, Request
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
    *pausing.OPERATIONS,
    *demand.OPERATIONS,
    *changes.OPERATIONS,
    *many.OPERATIONS,
    *bulk.OPERATIONS,
    *occurrences.OPERATIONS,
    *runs.OPERATIONS,
    *redrive.OPERATIONS,
    *reports.OPERATIONS,
    *signing_secrets.OPERATIONS,
    *keys.OPERATIONS,
    *meta.OPERATIONS,
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
