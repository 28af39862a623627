"""The text formats of the API, as types for pydantic models with their JSON Schema.

A pattern states the syntax of a text. The description of a field states the bounds of its meaning: that a
duration is at most 30 days, or that an instant is in the future.
"""

import datetime as dt
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import Instant, from_datetime, rfc3339
from sweephand.base.names import NAME_RULE, NAME_SCHEMA, is_name, text_schema
from sweephand.jobs.fields.registry import DESCRIPTION
from sweephand.jobs.fields.timing import INSTANT_SCHEMA
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.time_points import RFC3339_PATTERN, parse_instant

_TAG: Final = r'(?:W/)?"[!#-~]*"'

#: The schemas of request headers, by name.
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-Match": {"type": "string", "pattern": rf"^(?:\*|{_TAG}(?:, ?{_TAG})*)$"},
    "If-None-Match": {"type": "string", "enum": ["*"]},
}
_DUE: Final = "(?:0|[1-9][0-9]{0,14})"
_NUMBERS: Final = f"{_DUE}-(?:0|[1-9][0-9]{{0,6}})"
_ASKED_FOR: Final = "(?:manual|backfill|chained)"

#: The schema and the meaning of the parameters in a path, by name.
PATH: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "namespace": (NAME_SCHEMA, "The namespace. The caller must be one of this namespace."),
    "name": (NAME_SCHEMA, "The job's name."),
    "policy": (NAME_SCHEMA, "The policy's name."),
    "secret": (NAME_SCHEMA, "The secret's name."),
    "runId": (
        text_schema(f"^(?:{_NUMBERS}|{_ASKED_FOR}-{_NUMBERS}-[a-z0-9]{{1,32}})$", 64),
        "The run's name, as the list of runs shows it: its due time in epoch milliseconds, and its index.",
    ),
    "batchId": (
        text_schema(f"^(?:{_DUE}|{_ASKED_FOR}-{_DUE}-[a-z0-9]{{1,32}})$", 64),
        (
            "The batch's name, as the list of batches or the answer to a trigger shows it. That of a batch "
            "of the schedule is its due time in epoch milliseconds."
        ),
    ),
    "id": (text_schema("^[A-Za-z0-9]+$", 64), "The key's id."),
    "asset": (
        text_schema(r"^[a-z]+\.[0-9a-f]+\.(?:js|css)$", 64),
        "The file's name, as the page of the console has it.",
    ),
}


def about(text: str) -> Any:
    """The description of a field in the OpenAPI document."""
    return Field(description=text)


def from_text(read: Callable[[str], object]) -> BeforeValidator:
    """Makes the value of a field from its text. ValueError of `read` says what would be right."""

    def value_of(given: object) -> object:
        if not isinstance(given, str):
            raise PydanticCustomError("string_type", "no text")
        return read(given)

    return BeforeValidator(value_of)


def read_instant(text: str) -> Instant:
    """The instant that an RFC 3339 text names, rounded down to whole milliseconds.

    The instant may lie outside the years 1 to 9999 by the text's offset, since it only bounds a list. Raises
    ValueError for any other text.
    """
    with suppress(ScheduleError):
        return parse_instant(text, round_up=False)
    with suppress(ValueError):
        if re.fullmatch(RFC3339_PATTERN, text):
            return from_datetime(dt.datetime.fromisoformat(text))
    raise ValueError("Give an RFC 3339 instant with Z or an offset, as in 2027-01-31T09:00:00Z.")


def read_duration(text: str) -> int:
    """The milliseconds of a duration. Raises ValueError for any other text."""
    try:
        return parse_duration_ms(text)
    except ScheduleError as error:
        raise ValueError(str(error)) from None


def _check_name(text: str) -> str:
    if not is_name(text):
        raise ValueError(NAME_RULE)
    return text


Name = Annotated[str, AfterValidator(_check_name), WithJsonSchema(NAME_SCHEMA)]
Moment = Annotated[Instant, from_text(read_instant), WithJsonSchema(INSTANT_SCHEMA)]
CursorText = Annotated[str, WithJsonSchema(text_schema("^[A-Za-z0-9_-]+$", 512))]
DescriptionText = Annotated[str, Field(max_length=DESCRIPTION.length_max)]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Version = Annotated[str, about("The version of Sweephand that the stack runs.")]

#: The cursor on a page of a list.
NextCursor = Annotated[str, about("Give it as `cursor` to get the next page. The last page has none.")]


def time_or_none(instant: Instant | None) -> str | None:
    """An instant as RFC 3339. None stays None."""
    return None if instant is None else rfc3339(instant)
