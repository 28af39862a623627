"""What stands beside the jobs of a file: the settings, policies, calendars and windows of their namespace."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import ip_network
from typing import Any, Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import NotFoundError, PreconditionError, Problem
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.namespaces import NamespaceRequest
from sweephand_client.openapi.policies import PolicyRequest
from sweephand_client.openapi.windows import WindowRequest
from sweephand_client.tasks.job_fields import FieldChange, changed_fields
from sweephand_client.tasks.placing import instant
from sweephand_client.tasks.writing import attempt

#: A stack gives no such revision. So it judges the body of a PUT with this precondition, and writes nothing.
_NO_REVISION: Final = "dry-run"

#: Until when a calendar knows its days.
_KNOWN: Final = "knownUntil"

_UNITS_MS: Final = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_TERM: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[wdhms])")
_ZONE: Final = re.compile(r"(?:CRON_TZ|TZ)=([^ ]+) ")


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of thing beside the jobs. The file has it at `field`, with the fields of the `request` of a PUT.

    `meaning` is for editors. `completed` adds to fields what the stack adds to them. The settings have no
    name: theirs is empty.
    """

    kind: str
    field: str
    request: type
    meaning: str
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda fields: fields

    @property
    def has_names(self) -> bool:
        """Whether a namespace has many resources of this kind, each with a name."""
        return self.kind != "settings"

    def what(self, name: str) -> str:
        """The resource of that name, as a person calls it."""
        return f"{self.kind} {name}".rstrip()

    def pointer(self, name: str) -> str:
        """The JSON pointer of the resource of that name in the file."""
        escaped = name.replace("~", "~0").replace("/", "~1")
        return f"/{self.field}/{escaped}" if self.has_names else f"/{self.field}"

    def read(self, client: Client, namespace: str, name: str) -> Mapping[str, Any] | None:
        """What the stack stores, with its revision at `rev`; None if it stores nothing."""
        try:
            stored: Mapping[str, Any] = self._calls(client).get(*self._path(namespace, name))
        except NotFoundError:
            return None
        return stored if "rev" in stored else None

    def put(
        self,
        client: Client,
        namespace: str,
        name: str,
        body: Mapping[str, Any],
        *,
        if_match: str | None = None,
    ) -> None:
        """Write it. With `if_match`, only over that revision, else PreconditionError."""
        self._calls(client).put(*self._path(namespace, name), body, if_match=if_match)

    def delete(self, client: Client, namespace: str, name: str, rev: str | None) -> None:
        """Delete it, if it still has that revision."""
        self._calls(client).delete(*self._path(namespace, name), if_match=rev)

    def judge(
        self, client: Client, namespace: str, name: str, body: Mapping[str, Any]
    ) -> tuple[Problem | None, Mapping[str, Any]]:
        """The problem for which the stack would not write this body, or None. Writes nothing.

        Of a calendar, the second value has the days that it would have.
        """
        preview: dict[str, Any] = {}

        def ask() -> None:
            if self.kind == "calendar":
                preview.update(client.calendars.preview(namespace, name, body))  # type: ignore[arg-type]
                return
            with suppress(PreconditionError):
                self.put(client, namespace, name, body, if_match=_NO_REVISION)

        return attempt(ask), preview

    def changes(
        self, stored: Mapping[str, Any] | None, body: Mapping[str, Any], preview: Mapping[str, Any]
    ) -> tuple[FieldChange, ...]:
        """The fields that a PUT of this body would change, in order.

        A newer stack may know other holidays, so the days of a calendar are compared too. Values that mean
        the same are equal, such as 60s and 1m.
        """
        wanted: dict[str, Any] = _without_nulls(body)
        if stored is None:
            return changed_fields({}, wanted)
        after = self.completed(wanted)
        shown = {name: stored[name] for name in self.request.__annotations__ if name in stored}
        before: dict[str, Any] = _without_nulls(shown)
        for name in before.keys() & after.keys():
            if _meaning(name, before[name]) == _meaning(name, after[name]):
                after[name] = before[name]
        if self.kind == "calendar":
            before |= {name: stored[name] for name in (_KNOWN,) if name in stored}
            after |= {name: preview[name] for name in (_KNOWN,) if name in preview}
        days = preview.get("changes")
        return changed_fields(before, after) + ((FieldChange("days", None, days),) if days else ())

    def _calls(self, client: Client) -> Any:
        return getattr(client, self.field if self.has_names else "namespaces")

    def _path(self, namespace: str, name: str) -> tuple[str, ...]:
        return (namespace, name) if self.has_names else (namespace,)


def _without_nulls(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _without_nulls(each) for name, each in value.items() if each is not None}
        case list():
            return [_without_nulls(each) for each in value]
    return value


def _completed_settings(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in fields.items() if (name, each) != ("allowedTargets", {})}


def _completed_window(fields: dict[str, Any]) -> dict[str, Any]:
    found = {"then": "hold", "spread": "1m"} | {
        name: each for name, each in fields.items() if each not in ("", {})
    }
    if isinstance(schedule := found.get("schedule"), str) and "timezone" not in found:
        zone = _ZONE.match(schedule)
        found["timezone"] = zone[1] if zone else "UTC"
    return found


def _meaning(name: str, value: Any) -> Any:
    """What the stack keeps of a field. Of a value that it would refuse, the value."""
    if name in _OBJECTS and isinstance(value, Mapping):
        return {each: _meaning(each, inner) for each, inner in value.items()}
    try:
        return _MEANINGS[name](value) if name in _MEANINGS else value
    except (ValueError, TypeError, AttributeError):
        return value


def _ms(text: str) -> Decimal:
    """The milliseconds of a duration of Go, of ISO 8601, or in days."""
    terms = text.lower()
    terms = terms[1:].replace("t", "", 1) if terms.startswith("p") else terms
    total, at = Decimal(0), 0
    while at < len(terms):
        found = _TERM.match(terms, at)
        if found is None:
            raise ValueError(text)
        total += Decimal(found[1]) * _UNITS_MS[found[2]]
        at = found.end()
    return total


def _hosts(hosts: list[str]) -> list[str]:
    return list(dict.fromkeys(each.lower() for each in hosts))


def _networks(networks: list[str]) -> list[str]:
    return list(dict.fromkeys(str(ip_network(each)) for each in networks))


_OBJECTS: Final = ("rate", "breaker", "allowedTargets")
_MEANINGS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("duration", "spread", "per", "probeAfter"), _ms),
    **dict.fromkeys(("from", "to"), instant),
    "hosts": _hosts,
    "networks": _networks,
}

#: In the order in which they need each other. Jobs come after them.
RESOURCES: Final = (
    Resource(
        "settings",
        "settings",
        NamespaceRequest,
        "The settings of the namespace, with the API's fields.",
        _completed_settings,
    ),
    Resource("policy", "policies", PolicyRequest, "Flow policies by their names, with the API's fields."),
    Resource("calendar", "calendars", CalendarRequest, "Calendars by their names, with the API's fields."),
    Resource(
        "window",
        "windows",
        WindowRequest,
        "Windows by their names, with the API's fields.",
        _completed_window,
    ),
)
