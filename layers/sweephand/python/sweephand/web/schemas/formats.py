"""The text formats of the API, as types for pydantic models with their JSON Schema.

A pattern states the syntax of a text. The description of a field states the bounds of its meaning: that a
duration is at most 30 days, or that an instant is in the future.
"""

from typing import Annotated, Any, Final

from pydantic import Field, WithJsonSchema

from sweephand.access.callers import PRINCIPAL_LENGTH_MAX, PRINCIPAL_PATTERN
from sweephand.access.named_secrets import VALUE_PATTERN
from sweephand.base.limits import NAME_LENGTH_MAX, SECRET_LENGTH_MAX
from sweephand.base.names import NAME_PATTERN, NAME_SCHEMA
from sweephand.base.text_schema import text_schema
from sweephand.jobs.fields.registry import DESCRIPTION
from sweephand.jobs.fields.timing import INSTANT_SCHEMA
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.targets.url import HOST_LENGTH_MAX

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
InstantText = Annotated[str, WithJsonSchema(INSTANT_SCHEMA)]
CursorText = Annotated[str, WithJsonSchema(text_schema("^[A-Za-z0-9_-]+$", 512))]
PrincipalText = Annotated[str, WithJsonSchema(text_schema(PRINCIPAL_PATTERN, PRINCIPAL_LENGTH_MAX))]
SecretText = Annotated[str, WithJsonSchema(text_schema(VALUE_PATTERN, SECRET_LENGTH_MAX))]
HostText = Annotated[
    str, WithJsonSchema(text_schema(r"^(?:\*\.)?[A-Za-z0-9_.:\[\]-]+$", HOST_LENGTH_MAX + 2))
]
NetworkText = Annotated[str, WithJsonSchema(text_schema("^[0-9A-Fa-f.:]+(?:/[0-9]{1,3})?$", 64))]
DescriptionText = Annotated[str, Field(max_length=DESCRIPTION.length_max)]
