"""How texts of the API are written, as JSON Schema: what a pattern can say of what the code accepts.

A pattern says how a text is written and not what it may mean. That a duration is of at most 30 days, or that
an instant lies ahead, is in the description of the field.
"""

from typing import Annotated, Any, Final

from pydantic import WithJsonSchema

from sweephand.base.limits import NAME_LENGTH_MAX, URL_LENGTH_MAX
from sweephand.schedules.durations import DURATION_CHARS_MAX
from sweephand.web.schemas.names import NAME_PATTERN

_GO: Final = r"(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)"
_DAYS: Final = r"[0-9]+d"
_ISO_TIME: Final = r"T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+S)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_ISO_DATE: Final = r"(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
#: Years and months have no length of their own, so only zero years and zero months are taken.
_ISO_DAYS: Final = r"(?:0+Y(?:0+M)?(?:[0-9]+D)?|0+M(?:[0-9]+D)?|[0-9]+D)"
_WEEKS: Final = r"[0-9]+W"
_RFC3339: Final = (
    r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt]"
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]{1,32})?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)

DURATION_PATTERN: Final = rf"^(?:\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DAYS}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
MOMENT_PATTERN: Final = (
    rf"^(?:{_RFC3339}|\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DATE}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
)
CURSOR_PATTERN: Final = "^[A-Za-z0-9_-]+$"
CURSOR_LENGTH_MAX: Final = 512

#: The longest text that RFC 3339 has here: 32 digits of a second, and an offset.
_INSTANT_LENGTH_MAX: Final = 58
_TAG: Final = r'(?:W/)?"[!#-~]*"'


def _text(pattern: str, length_max: int, **more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": length_max, "pattern": pattern, **more}


#: The schemas of request headers, by name.
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-Match": {"type": "string", "pattern": rf"^(?:\*|{_TAG}(?:, ?{_TAG})*)$"},
    "If-None-Match": {"type": "string", "enum": ["*"]},
}
NAME: Final = _text(NAME_PATTERN, NAME_LENGTH_MAX)
_NUMBERS: Final = "(?:0|[1-9][0-9]{0,14})-(?:0|[1-9][0-9]{0,6})"
#: The schemas of a path's parameters, by name.
PATH: Final[dict[str, dict[str, Any]]] = {
    "namespace": NAME,
    "name": NAME,
    "runId": _text(f"^(?:{_NUMBERS}|(?:manual|backfill|chained)-{_NUMBERS}-[a-z0-9]{{1,32}})$", 64),
    "id": _text("^[A-Za-z0-9]+$", 64),
}

Name = Annotated[str, WithJsonSchema(NAME)]
NameOrAll = Annotated[
    str,
    WithJsonSchema(_text(rf"^(?:\*|{NAME_PATTERN.removeprefix('^').removesuffix('$')})$", NAME_LENGTH_MAX)),
]
DurationText = Annotated[str, WithJsonSchema(_text(DURATION_PATTERN, DURATION_CHARS_MAX))]
MomentText = Annotated[str, WithJsonSchema(_text(MOMENT_PATTERN, DURATION_CHARS_MAX))]
INSTANT: Final[dict[str, Any]] = {"type": "string", "format": "date-time", "maxLength": _INSTANT_LENGTH_MAX}
InstantText = Annotated[str, WithJsonSchema(INSTANT)]
ZoneText = Annotated[str, WithJsonSchema(_text("^[A-Za-z0-9_+/-]+$", 64))]
CursorText = Annotated[str, WithJsonSchema(_text(CURSOR_PATTERN, CURSOR_LENGTH_MAX))]
UrlText = Annotated[
    str, WithJsonSchema(_text(r'^[Hh][Tt][Tt][Pp][Ss]?://[!"$-\[\]-~]+$', URL_LENGTH_MAX, format="uri"))
]
