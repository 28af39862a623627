"""Reads the lines of JSON of an export."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.namespaces import NamespaceRequest
from sweephand_client.openapi.windows import WindowRequest
from sweephand_client.tasks.placing import instant

#: The form of the lines. A later form has a higher number, and this version refuses it.
FORM: Final = 1


#: What has a definition in a line of its own, and how the last line counts it.
_KINDS: Final = {"calendar": "calendars", "window": "windows", "policy": "policies", "job": "jobs"}

#: The kinds whose lines have a definition and nothing else.
_PLAIN: Final = ("calendar", "window")


@dataclass(frozen=True, slots=True)
class Archive:
    """The lines of an export that was read whole."""

    namespace: str
    settings: NamespaceRequest | None = None
    calendars: Mapping[str, CalendarRequest] = field(default_factory=dict)
    windows: Mapping[str, WindowRequest] = field(default_factory=dict)
    policies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    jobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_archive(lines: Iterable[str]) -> Archive:
    """All lines of an export. Raises InputError with the number of the line that is wrong.

    A file that was cut has no line `end`, and is refused before anything is written.
    """
    settings: NamespaceRequest | None = None
    namespace: str | None = None
    found: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
    is_whole = False
    for number, text in enumerate(lines, start=1):
        line = _read_line(number, text)
        match line:
            case {"sweephand": form, "namespace": str(namespace)} if number == 1:
                if form != FORM:
                    raise InputError(f"The export has the form {form}. This version reads form {FORM}.")
            case {"settings": dict()}:
                settings = line["settings"]
            case {"definition": dict()} if (kind := _kind_of(line)) is not None:
                found[kind][line[kind]] = line["definition"] if kind in _PLAIN else line
            case {"end": dict(counts)}:
                is_whole = counts == {_KINDS[kind]: len(some) for kind, some in found.items()}
            case _:
                raise InputError(f"Line {number} is no line of an export.")
    if namespace is None or not is_whole:
        raise InputError("The export is not whole: its last line is missing, or does not fit. Export again.")
    return Archive(namespace, settings, **{_KINDS[kind]: some for kind, some in found.items()})


def _kind_of(line: Mapping[str, Any]) -> str | None:
    """Of what a line has the definition; None if it says none of the kinds."""
    return next((kind for kind in _KINDS if isinstance(line.get(kind), str)), None)


def _read_line(number: int, text: str) -> Any:
    """The JSON of a line, whose due times can be read."""
    try:
        line = exact_json.read(text)
        for each in ("nextAt", "lastAt", "startAt", "pausedUntil"):
            if isinstance(line, dict) and each in line:
                instant(line[each])
    except (ValueError, TypeError) as error:
        raise InputError(f"Line {number} cannot be read: {error}") from None
    return line
