"""What a template of CloudFormation declares: a job, a policy or a calendar, with the fields of its PUT.

CloudFormation sends each number and truth value as a text. The schema of the field says what it was.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import InvalidError, MalformedError, Violation
from sweephand.base.names import name_violations
from sweephand.web.http import json_text

#: What CloudFormation adds to the properties of a template.
_OWN: Final = frozenset({"ServiceToken", "ServiceTimeout"})


class Kind(NamedTuple):
    """A kind of resource: its part of the API's paths, and the name of its body in the API's description."""

    path: str
    body: str


KINDS: Final[Mapping[str, Kind]] = {
    "Custom::SweephandJob": Kind("jobs", "JobRequest"),
    "Custom::SweephandPolicy": Kind("policies", "PolicyRequest"),
    "Custom::SweephandCalendar": Kind("calendars", "CalendarRequest"),
}


class Resource(NamedTuple):
    """A job, a policy or a calendar, with the fields that a template declares."""

    kind: Kind
    namespace: str
    name: str
    fields: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The physical id. CloudFormation takes another id for another resource, and deletes the old one."""
        return f"{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """The path of the API."""
        return f"/v1/namespaces/{self.namespace}/{self.kind.path}/{self.name}"


def declared(kind: str, properties: Mapping[str, Any]) -> Resource:
    """The resource that a template declares. Raises InvalidError, which names the wrong fields."""
    if kind not in KINDS:
        raise InvalidError([Violation("/ResourceType", f"Give one of {', '.join(KINDS)}.")])
    fields = {name: each for name, each in properties.items() if name not in _OWN}
    namespace, name = fields.pop("namespace", ""), fields.pop("name", "")
    violations = [*name_violations("/namespace", namespace), *name_violations("/name", name)]
    if KINDS[kind].path == "jobs" and "dataJson" in fields:
        try:
            data = json_text.read(fields.pop("dataJson"))
        except (MalformedError, TypeError):
            violations.append(Violation("/dataJson", "Give the data as a text of JSON."))
        else:
            if "data" in fields:
                violations.append(Violation("/dataJson", "Give either data or dataJson."))
            fields["data"] = data
    if violations:
        raise InvalidError(violations)
    return Resource(KINDS[kind], namespace, name, fields)


_NUMBER: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"


def typed(value: Any, schema: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    """The value with numbers and truth values again, where its JSON Schema takes these and no text.

    `named` are the schemas that others refer to. A text that is none stays, and the API refuses it.
    """
    options = list(_options(schema, named))
    if isinstance(value, Mapping):
        return {
            name: typed(
                each,
                {"anyOf": [one["properties"][name] for one in options if name in one.get("properties", {})]},
                named,
            )
            for name, each in value.items()
        }
    if isinstance(value, list):
        items = [each["items"] for each in options if "items" in each]
        return [typed(each, {"anyOf": items}, named) for each in value]
    kinds: set[str] = set()
    for each in options:
        kind = each.get("type", ())
        kinds |= {kind} if isinstance(kind, str) else set(kind)
    if not isinstance(value, str) or "string" in kinds:
        return value
    is_number = kinds & {"integer", "number"} and re.fullmatch(_NUMBER, value)
    is_truth = "boolean" in kinds and value in ("true", "false")
    return json_text.read(value) if is_number or is_truth else value


def _options(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and those of which a value has to fit one, without references."""
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    yield schema
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _options(each, named)
