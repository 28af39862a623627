"""What the query parameters of several operations have in common, and the reader of query strings."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sweephand.base.errors import InvalidError, Violation, pointer
from sweephand.base.limits import NAME_LENGTH_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX
from sweephand.base.names import PREFIX_MEANING, PREFIX_PATTERN
from sweephand.web.http.cursor import decode
from sweephand.web.schemas.formats import CursorText, about
from sweephand.web.schemas.shapes import check

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
        extra="forbid", alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )


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
