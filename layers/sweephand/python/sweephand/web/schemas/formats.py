"""The text formats of the API, as types for pydantic models with their JSON Schema, and query strings.

A pattern states the syntax of a text. The description of a field states the bounds of its meaning: that a
duration is at most 30 days, or that an instant is in the future.
"""

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sweephand.base.errors import InvalidError, ScheduleError, Violation, pointer
from sweephand.base.instants import Instant, from_datetime
from sweephand.base.limits import NAME_LENGTH_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX
from sweephand.base.names import NAME_RULE, NAME_SCHEMA, PREFIX_MEANING, PREFIX_PATTERN, is_name, text_schema
from sweephand.jobs.fields.registry import DESCRIPTION
from sweephand.jobs.fields.timing import INSTANT_SCHEMA
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.time_points import RFC3339_PATTERN, parse_instant
from sweephand.web.http.cursor import decode
from sweephand.web.schemas.shapes import check

_TAG: Final = r'(?:W/)?"[!#-~]*"'

#: The schemas of request headers, by name.
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-Match": {"type": "string", "pattern": rf"^(?:\*|{_TAG}(?:, ?{_TAG})*)$"},
    "If-None-Match": {"type": "string", "enum": ["*"]},
    # Each text is taken, because the standard has what is not valid ignored.
    "traceparent": {"type": "string", "pattern": r"^[^\r\n]*$"},
}
_DUE: Final = "(?:0|[1-9][0-9]{0,14})"
_NUMBERS: Final = f"{_DUE}-(?:0|[1-9][0-9]{{0,6}})"
_ASKED_FOR: Final = "(?:manual|backfill|chained)"

#: The schema and the meaning of the parameters in a path, by name.
PATH: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "namespace": (NAME_SCHEMA, "The namespace. The caller must be one of this namespace."),
    "name": (NAME_SCHEMA, "The job's name."),
    "calendar": (NAME_SCHEMA, "The calendar's name."),
    "policy": (NAME_SCHEMA, "The policy's name."),
    "secret": (NAME_SCHEMA, "The secret's name."),
    "window": (NAME_SCHEMA, "The window's name."),
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
Reason = Annotated[
    DescriptionText | None,
    Field(description=f"Why, for the job's changes: up to {DESCRIPTION.length_max} characters."),
]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Version = Annotated[str, about("The version of Sweephand that the stack runs.")]

#: The cursor on a page of a list.
NextCursor = Annotated[str, about("Give it as `cursor` to get the next page. The last page has none.")]


Model = TypeVar("Model", bound=BaseModel)

CURSOR_MEANING: Final = "The nextCursor of the previous answer. Leave it out of the first call."

_LIMIT: Final = f"How many entries the call looks at; 1 to {PAGE_ITEMS_MAX}, {PAGE_ITEMS_DEFAULT} by default."


def _check_label(text: str) -> str:
    name, colon, _ = text.partition(":")
    if not name or not colon:
        raise ValueError("Give name:value, as in label=team:ops.")
    return text


def _check_digits(text: object) -> object:
    """Refuse a text that is not a number in digits. pydantic also accepts spaces, underscores and `1.0`."""
    if isinstance(text, str) and not re.fullmatch("-?[0-9]+", text):
        raise PydanticCustomError("int_parsing", "no whole number")
    return text


def position(kind: str) -> AfterValidator:
    """Makes the position in the cursor of that kind of list from the cursor's text."""
    return AfterValidator(partial(decode, kind))


Label = Annotated[str, AfterValidator(_check_label), WithJsonSchema({"type": "string", "pattern": "^[^:]+:"})]
Labels = Annotated[
    list[Label], about("Only jobs with this label, as name:value. Of several labels, a job must have all.")
]
Whole = Annotated[int, BeforeValidator(_check_digits)]
Limit = Annotated[int, Field(ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT), BeforeValidator(_check_digits)]
Prefix = Annotated[str, Field(pattern=PREFIX_PATTERN, max_length=NAME_LENGTH_MAX, description=PREFIX_MEANING)]
Cursor = Annotated[CursorText, about(CURSOR_MEANING)]


class QueryParameters(BaseModel):
    """The base of all query models. It refuses unknown parameters."""

    model_config = ConfigDict(
        defer_build=True,  # as in RequestBody
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
    )


class WriteQuery(QueryParameters):
    """Why a caller writes."""

    reason: Reason = None


class PageQuery(QueryParameters):
    """Selects a page of a list. `cursor` is the position after which it begins."""

    limit: Limit = PAGE_ITEMS_DEFAULT
    cursor: Cursor = ""


def page_query(kind: str) -> type[PageQuery]:
    """The query model of a list that cannot be filtered. `kind` is that of its cursors."""

    class Query(PageQuery):
        cursor: Annotated[Cursor, position(kind)] = ""

    return Query


def labels_of(pairs: Collection[str]) -> Mapping[str, str]:
    """The labels of a query by their names. Raises InvalidError if a name has two values."""
    labels = dict(each.split(":", 1) for each in pairs)
    if len(labels) < len(set(pairs)):
        raise InvalidError([Violation("/label", "A job has one value for each label. Give each name once.")])
    return labels


def read_query(model: type[Model], text: str) -> tuple[Model | None, list[Violation]]:
    """The parameters in a query string, or their violations. Each JSON pointer names a parameter."""
    try:
        given = parse_qs(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        return None, [Violation("", "The query is not UTF-8. Write each byte of UTF-8 as % and two digits.")]
    names = {field.alias or name: field for name, field in model.model_fields.items()}
    several = {name for name, field in names.items() if _is_list(field.annotation)}
    twice = [name for name, values in given.items() if len(values) > 1 and name in names.keys() - several]
    single: dict[str, Any] = {
        name: values if name in several else values[0] for name, values in given.items() if name not in twice
    }
    query, violations = check(model, single)
    return query, [*(Violation(pointer(name), "Give it once.") for name in twice), *violations]


def _is_list(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) is list
