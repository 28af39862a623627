"""The query parameters of lists, and how a query string is read."""

import re
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sweephand.base.errors import Violation, pointer
from sweephand.base.limits import (
    NAME_LENGTH_MAX,
    OCCURRENCES_MAX,
    PAGE_ITEMS_DEFAULT,
    PAGE_ITEMS_MAX,
)
from sweephand.base.names import PREFIX_MEANING, PREFIX_PATTERN
from sweephand.jobs.read import JobState
from sweephand.model.run import State
from sweephand.web.http.cursor import decode
from sweephand.web.schemas.formats import CursorText, InstantText
from sweephand.web.schemas.shapes import check

Model = TypeVar("Model", bound=BaseModel)

_CURSOR = "The nextCursor of the answer before; left out to begin."
_LIMIT = f"How many are looked at; 1 to {PAGE_ITEMS_MAX}, {PAGE_ITEMS_DEFAULT} by default."


class QueryParameters(BaseModel):
    """The base of all query models: unknown parameters are refused."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )


def _check_label(text: str) -> str:
    name, colon, _ = text.partition(":")
    if not name or not colon:
        raise ValueError("Give name:value, as in label=team:ops.")
    return text


def _check_digits(text: object) -> object:
    """Refuses a text that is not just digits. pydantic would accept spaces, underscores and `1.0` too."""
    if isinstance(text, str) and not re.fullmatch("-?[0-9]+", text):
        raise PydanticCustomError("int_parsing", "no whole number")
    return text


_Label = Annotated[
    str, AfterValidator(_check_label), WithJsonSchema({"type": "string", "pattern": "^[^:]+:"})
]
_Whole = Annotated[int, BeforeValidator(_check_digits)]


class JobsQuery(QueryParameters):
    """Which jobs to list."""

    prefix: str = Field(
        "",
        pattern=PREFIX_PATTERN,
        max_length=NAME_LENGTH_MAX,
        description=PREFIX_MEANING,
    )
    state: JobState | None = Field(
        None, description="Only those in this state; a page may be short or empty."
    )
    label: list[_Label] = Field(
        [], description="Only those with this label, name:value; may be given again to narrow the list."
    )
    limit: _Whole = Field(PAGE_ITEMS_DEFAULT, ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT)
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "jobs"))] = Field("", description=_CURSOR)


class DeleteQuery(QueryParameters):
    """Which jobs to delete: a prefix or a label is required."""

    prefix: str = Field(
        "",
        pattern=PREFIX_PATTERN,
        max_length=NAME_LENGTH_MAX,
        description=PREFIX_MEANING,
    )
    label: list[_Label] = Field(
        [], description="Only those with this label, name:value; may be given again to narrow the list."
    )
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "delete"))] = Field("", description=_CURSOR)


class ChangesQuery(QueryParameters):
    """Which changes to list."""

    limit: _Whole = Field(PAGE_ITEMS_DEFAULT, ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT)
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "changes"))] = Field("", description=_CURSOR)


class RunsQuery(QueryParameters):
    """Which runs to list."""

    state: Literal[State, "waiting"] | None = Field(
        None, description="Only those in this state; a page may be short or empty."
    )
    limit: _Whole = Field(PAGE_ITEMS_DEFAULT, ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT)
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "runs"))] = Field("", description=_CURSOR)


class KeysQuery(QueryParameters):
    """Which keys to list."""

    limit: _Whole = Field(PAGE_ITEMS_DEFAULT, ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT)
    cursor: CursorText = Field("", min_length=1, description=_CURSOR)


class OccurrencesQuery(QueryParameters):
    """Which occurrences to show."""

    after: InstantText | None = Field(
        None,
        description="Due times after this instant (RFC 3339 with its offset). By default those from now on, "
        "the one that is due at this instant among them.",
    )
    limit: _Whole = Field(
        PAGE_ITEMS_DEFAULT,
        ge=1,
        le=OCCURRENCES_MAX,
        description=f"How many; 1 to {OCCURRENCES_MAX}, {PAGE_ITEMS_DEFAULT} by default.",
    )


def read_query(model: type[Model], text: str) -> tuple[Model | None, list[Violation]]:
    """The parameters in a query string, or what is wrong with them. Each JSON pointer names a parameter."""
    given = parse_qs(text, keep_blank_values=True)
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
