"""The text formats of the API, as types for pydantic models with their JSON Schema.

A pattern states the syntax of a text. The description of a field states the bounds of its meaning: that a
duration is at most 30 days, or that an instant is in the future.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import WithJsonSchema

from sweephand.access.principals import PRINCIPAL_LENGTH_MAX, PRINCIPAL_PATTERN
from sweephand.access.secret_rules import VALUE_PATTERN
from sweephand.base.field_bounds import NumberBounds, TextBounds
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.limits import NAME_LENGTH_MAX, SECRET_LENGTH_MAX
from sweephand.base.names import NAME_PATTERN, NAME_SCHEMA
from sweephand.base.text_schema import text_schema
from sweephand.jobs.field_bounds import DESCRIPTION, TIMEZONE
from sweephand.schedules.time_points import DURATION_SCHEMA, TIME_POINT_SCHEMA
from sweephand.targets.url import HOST_LENGTH_MAX, URL_SCHEMA

#: The length of the longest RFC 3339 instant that the API reads. It has 32 decimals of a second and an
#: offset.
_INSTANT_LENGTH_MAX: Final = 58
INSTANT: Final[dict[str, Any]] = {"type": "string", "format": "date-time", "maxLength": _INSTANT_LENGTH_MAX}

_TAG: Final = r'(?:W/)?"[!#-~]*"'
#: The schemas of request headers, by name.
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-Match": {"type": "string", "pattern": rf"^(?:\*|{_TAG}(?:, ?{_TAG})*)$"},
    "If-None-Match": {"type": "string", "enum": ["*"]},
}

_DUE: Final = "(?:0|[1-9][0-9]{0,14})"
_NUMBERS: Final = f"{_DUE}-(?:0|[1-9][0-9]{{0,6}})"
_ASKED_FOR: Final = "(?:manual|backfill|chained)"
#: The schemas of the parameters in a path, by name.
PATH: Final[dict[str, dict[str, Any]]] = {
    "namespace": NAME_SCHEMA,
    "name": NAME_SCHEMA,
    "policy": NAME_SCHEMA,
    "secret": NAME_SCHEMA,
    "runId": text_schema(f"^(?:{_NUMBERS}|{_ASKED_FOR}-{_NUMBERS}-[a-z0-9]{{1,32}})$", 64),
    "batchId": text_schema(f"^(?:{_DUE}|{_ASKED_FOR}-{_DUE}-[a-z0-9]{{1,32}})$", 64),
    "id": text_schema("^[A-Za-z0-9]+$", 64),
    "asset": text_schema(r"^[a-z]+\.[0-9a-f]+\.(?:js|css)$", 64),
}

Name = Annotated[str, WithJsonSchema(NAME_SCHEMA)]
NameOrAll = Annotated[
    str,
    WithJsonSchema(
        text_schema(rf"^(?:\*|{NAME_PATTERN.removeprefix('^').removesuffix('$')})$", NAME_LENGTH_MAX)
    ),
]
DurationText = Annotated[str, WithJsonSchema(DURATION_SCHEMA)]
TimePointText = Annotated[str, WithJsonSchema(TIME_POINT_SCHEMA)]
InstantText = Annotated[str, WithJsonSchema(INSTANT)]
ZoneText = Annotated[str, WithJsonSchema(text_schema("^[A-Za-z0-9_+/-]+$", TIMEZONE.most))]
CursorText = Annotated[str, WithJsonSchema(text_schema("^[A-Za-z0-9_-]+$", 512))]
PrincipalText = Annotated[str, WithJsonSchema(text_schema(PRINCIPAL_PATTERN, PRINCIPAL_LENGTH_MAX))]
SecretText = Annotated[str, WithJsonSchema(text_schema(VALUE_PATTERN, SECRET_LENGTH_MAX))]
HostText = Annotated[
    str, WithJsonSchema(text_schema(r"^(?:\*\.)?[A-Za-z0-9_.:\[\]-]+$", HOST_LENGTH_MAX + 2))
]
NetworkText = Annotated[str, WithJsonSchema(text_schema("^[0-9A-Fa-f.:]+(?:/[0-9]{1,3})?$", 64))]
UrlText = Annotated[str, WithJsonSchema(URL_SCHEMA)]


def bounded(
    kind: Literal["integer", "number", "string"], bounds: NumberBounds | TextBounds
) -> WithJsonSchema:
    """Describes a field with its bounds. A rule outside the model judges values by the same bounds."""
    return WithJsonSchema({"type": kind, **bounds.schema})


DescriptionText = Annotated[str, bounded("string", DESCRIPTION)]

_UNITS: Final = (("d", DAY_MS), ("h", HOUR_MS), ("m", MINUTE_MS), ("s", SECOND_MS))


def duration_text(duration_ms: int) -> str:
    """A duration of whole seconds in the notation of the API's descriptions, such as `24h` or `30d`.

    The unit is the largest one that divides the duration. The exception is one day, which is `24h`.
    """
    assert duration_ms % SECOND_MS == 0, "a default is a number of whole seconds"
    unit, unit_ms = next(
        (unit, unit_ms)
        for unit, unit_ms in _UNITS
        if duration_ms % unit_ms == 0 and (unit, duration_ms) != ("d", DAY_MS)
    )
    return f"{duration_ms // unit_ms}{unit}"
