"""How durations and points in time are written, as regular expressions for JSON Schema.

A pattern says how a text is written and not what it may mean: the date of an instant can be a day that does
not exist. The parsers decide that (`durations.py`, `time_points.py`), and a property test compares both.
"""

from typing import Any, Final

from sweephand.base.text_schema import text_schema
from sweephand.schedules.durations import DURATION_CHARS_MAX
from sweephand.schedules.time_points import rfc3339_grammar

_GO: Final = r"(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)"
_DAYS: Final = r"[0-9]+d"
_ISO_TIME: Final = r"T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+S)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_ISO_DATE: Final = r"(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
#: Years and months have no fixed length. A duration may have them only with the value zero.
_ISO_DAYS: Final = r"(?:0+Y(?:0+M)?(?:[0-9]+D)?|0+M(?:[0-9]+D)?|[0-9]+D)"
_WEEKS: Final = r"[0-9]+W"

#: An instant of RFC 3339 whose numbers are each in range.
RFC3339_PATTERN: Final = rfc3339_grammar(
    year=r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])",
    month="(?:0[1-9]|1[0-2])",
    day="(?:0[1-9]|[12][0-9]|3[01])",
    hour="(?:[01][0-9]|2[0-3])",
    minute="[0-5][0-9]",
    second="(?:[0-5][0-9]|60)",
    fraction="[0-9]{1,32}",
    sign="[+-]",
    offset_hour="(?:[01][0-9]|2[0-3])",
    offset_minute="[0-5][0-9]",
)

DURATION_PATTERN: Final = rf"^(?:\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DAYS}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
TIME_POINT_PATTERN: Final = (
    rf"^(?:{RFC3339_PATTERN}|\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DATE}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
)

DURATION_SCHEMA: Final[dict[str, Any]] = text_schema(DURATION_PATTERN, DURATION_CHARS_MAX)
TIME_POINT_SCHEMA: Final[dict[str, Any]] = text_schema(TIME_POINT_PATTERN, DURATION_CHARS_MAX)
