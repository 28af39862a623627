"""The query parameters of the API, and the reader of query strings."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sweephand.base.errors import InvalidError, Violation, pointer
from sweephand.base.limits import (
    FORECAST_BUCKET_S_MIN,
    NAME_LENGTH_MAX,
    OCCURRENCES_MAX,
    PAGE_ITEMS_DEFAULT,
    PAGE_ITEMS_MAX,
    STATS_STEPS_MAX,
)
from sweephand.base.names import CONTAINS_MEANING, NAME_RULE, PREFIX_MEANING, PREFIX_PATTERN, is_name
from sweephand.jobs.read import JobState
from sweephand.model.run import State
from sweephand.runs.flagged_list import ListedState
from sweephand.web.http.cursor import decode
from sweephand.web.schemas.formats import CursorText, DurationText, InstantText, Name
from sweephand.web.schemas.shapes import check

Model = TypeVar("Model", bound=BaseModel)

_CURSOR = "The nextCursor of the previous answer. Leave it out of the first call."
_LABEL = "Only jobs with this label, as name:value. Of several labels, a job must have all."
_RUN_LABEL = "Only runs of jobs that have this label now, as name:value. Of several, a job must have all."

_POLICY = (
    "Only jobs that name this flow policy, also if the policy was deleted. A page may be short or empty."
)

_LIMIT = f"How many entries the call looks at; 1 to {PAGE_ITEMS_MAX}, {PAGE_ITEMS_DEFAULT} by default."


class QueryParameters(BaseModel):
    """The base of all query models. It refuses unknown parameters."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )


def _check_label(text: str) -> str:
    name, colon, _ = text.partition(":")
    if not name or not colon:
        raise ValueError("Give name:value, as in label=team:ops.")
    return text


def _check_name(text: str) -> str:
    if not is_name(text):
        raise ValueError(NAME_RULE)
    return text


def _check_digits(text: object) -> object:
    """Refuse a text that is not a number in digits. pydantic also accepts spaces, underscores and `1.0`."""
    if isinstance(text, str) and not re.fullmatch("-?[0-9]+", text):
        raise PydanticCustomError("int_parsing", "no whole number")
    return text


_Label = Annotated[
    str, AfterValidator(_check_label), WithJsonSchema({"type": "string", "pattern": "^[^:]+:"})
]
_Whole = Annotated[int, BeforeValidator(_check_digits)]
_Prefix = Annotated[
    str, Field(pattern=PREFIX_PATTERN, max_length=NAME_LENGTH_MAX, description=PREFIX_MEANING)
]
_Limit = Annotated[int, Field(ge=1, le=PAGE_ITEMS_MAX, description=_LIMIT), BeforeValidator(_check_digits)]


class JobsQuery(QueryParameters):
    """Selects the jobs to list."""

    prefix: _Prefix = ""
    contains: Annotated[
        str, Field(pattern=PREFIX_PATTERN, max_length=NAME_LENGTH_MAX, description=CONTAINS_MEANING)
    ] = ""
    state: JobState | None = Field(None, description="Only jobs in this state. A page may be short or empty.")
    label: list[_Label] = Field([], description=_LABEL)
    policy: Annotated[Name, AfterValidator(_check_name)] | None = Field(None, description=_POLICY)
    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "jobs"))] = Field("", description=_CURSOR)


class DeleteQuery(QueryParameters):
    """Selects the jobs to delete. A prefix or a label is required."""

    prefix: _Prefix = ""
    label: list[_Label] = Field([], description=_LABEL)
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "delete"))] = Field("", description=_CURSOR)


class ChangesQuery(QueryParameters):
    """Selects the changes to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "changes"))] = Field("", description=_CURSOR)


class PoliciesQuery(QueryParameters):
    """Selects the policies to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "policies"))] = Field(
        "", description=_CURSOR
    )


class NamespacesQuery(QueryParameters):
    """Selects the namespaces to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "namespaces"))] = Field(
        "", description=_CURSOR
    )


class SecretsQuery(QueryParameters):
    """Selects the secrets to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "secrets"))] = Field("", description=_CURSOR)


class RunsQuery(QueryParameters):
    """Selects the runs to list."""

    state: Literal[State, "waiting"] | None = Field(
        None, description="Only runs in this state. A page may be short or empty."
    )
    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "runs"))] = Field("", description=_CURSOR)


class NamespaceRunsQuery(QueryParameters):
    """Selects the runs of a namespace to list."""

    state: ListedState | None = Field(
        None,
        description="Only runs in this state. A page may be short or empty.",
    )
    since: InstantText | None = Field(
        None, description="Only runs due at this instant or later (RFC 3339 with an offset)."
    )
    label: list[_Label] = Field([], description=_RUN_LABEL)
    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "namespaceRuns"))] = Field(
        "", description=_CURSOR
    )


class BatchesQuery(QueryParameters):
    """Selects the batches to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "batches"))] = Field("", description=_CURSOR)


class KeysQuery(QueryParameters):
    """Selects the keys to list."""

    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: CursorText = Field("", min_length=1, description=_CURSOR)


class AdminChangesQuery(QueryParameters):
    """Selects the changes of keys, secrets and settings to list."""

    since: InstantText | None = Field(
        None, description="Only changes at this instant or later (RFC 3339 with an offset)."
    )
    until: InstantText | None = Field(None, description="Only changes before this instant.")
    limit: _Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "adminChanges"))] = Field(
        "", description=_CURSOR
    )


class ExplainQuery(QueryParameters):
    """Says which instant to explain."""

    at: InstantText | None = Field(
        None,
        description="The instant in question (RFC 3339 with an offset). By default the job's latest due time "
        "up to now.",
    )


class OccurrencesQuery(QueryParameters):
    """Selects the occurrences to show."""

    after: InstantText | None = Field(
        None,
        description="Only due times after this instant (RFC 3339 with an offset). By default those from now "
        "on. They include a due time at the very instant of the request.",
    )
    limit: _Whole = Field(
        PAGE_ITEMS_DEFAULT,
        ge=1,
        le=OCCURRENCES_MAX,
        description=f"How many due times; 1 to {OCCURRENCES_MAX}, {PAGE_ITEMS_DEFAULT} by default.",
    )


class ForecastQuery(QueryParameters):
    """Selects the span, the buckets and the jobs of a forecast."""

    since: InstantText | None = Field(
        None,
        alias="from",
        description="The instant at which the first bucket begins (RFC 3339 with an offset). By default now.",
    )
    to: InstantText | None = Field(
        None, description="The instant at which the last bucket ends. By default 24 hours after `from`."
    )
    bucket: DurationText = Field(
        "1h", description=f"The length of a bucket, at least {FORECAST_BUCKET_S_MIN} seconds."
    )
    prefix: _Prefix = ""
    label: list[_Label] = Field([], description=_LABEL)
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "forecast"))] = Field(
        "", description=_CURSOR
    )


class StatsQuery(QueryParameters):
    """Selects the span and the steps of what deliveries counted."""

    since: InstantText | None = Field(
        None,
        alias="from",
        description="The instant in whose minute the first step begins (RFC 3339 with an offset). By default "
        "an hour before `to`.",
    )
    to: InstantText | None = Field(
        None, description="The instant at which the last step ends. By default now."
    )
    step: DurationText = Field(
        "1m",
        description=f"The length of a step, in whole minutes, up to 24h. At most {STATS_STEPS_MAX} steps.",
    )
    cursor: Annotated[CursorText, AfterValidator(partial(decode, "stats"))] = Field("", description=_CURSOR)


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
