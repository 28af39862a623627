"""Results as data for programs: JSON, YAML, CSV, or the names alone."""

import csv
import io
from collections.abc import Iterable, Mapping
from enum import Enum
from importlib import import_module
from typing import Any, Final

from sweephand_client.http import exact_json

#: What names an entry, in the order in which a field is looked for.
_NAMING: Final = ("name", "batchId", "id", "value", "key", "profile")


class Form(Enum):
    """The form of results that a program reads."""

    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    NAME = "name"


def written(value: Any, form: Form) -> str:
    """The text of a result, which ends with a line end unless it is empty."""
    if form is Form.JSON:
        return exact_json.terminal_safe(exact_json.write(value, indent=2)) + "\n"
    if form is Form.YAML:
        # The library of YAML takes longer to import than the other forms.
        text: str = import_module("sweephand_client.tasks.exact_yaml").yaml_text(value)
        return text
    entries = value if isinstance(value, list) else [value]
    if form is Form.NAME:
        return "".join(f"{_name(each)}\n" for each in entries)
    return _csv(each if isinstance(each, Mapping) else {"value": each} for each in entries)


def _csv(entries: Iterable[Mapping[str, Any]]) -> str:
    """Rows below the names of all fields. What is neither text nor number is JSON, and null is empty."""
    rows = list(entries)
    fields = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if fields:
        writer.writerow(fields)
    writer.writerows([_cell(row.get(name)) for name in fields] for row in rows)
    return exact_json.terminal_safe(text.getvalue())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else exact_json.write(value)


def _name(entry: Any) -> str:
    """What names an entry: for a run of a list over jobs, its job and its id."""
    if not isinstance(entry, Mapping):
        return exact_json.terminal_safe(_cell(entry))
    field = next((each for each in _NAMING if each in entry), None)
    name = _cell(entry) if field is None else _cell(entry[field])
    has_job = field == "id" and "job" in entry
    return exact_json.terminal_safe(f"{entry['job']} {name}" if has_job else name)
