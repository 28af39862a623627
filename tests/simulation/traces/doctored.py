"""Traces made by hand and then changed, to see what the oracle says of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tests.simulation.oracle.oracle import judge
from tests.simulation.traces.stories import NOON, THROUGH, in_order
from tests.simulation.traces.trace import Event

#: So early that no echo is left when the story begins.
CALM_AT: Final = NOON - 450_000

Doctoring = Callable[[list[Event]], list[Event]]


def complaints(events: list[Event]) -> list[str]:
    """What the oracle says of them."""
    return judge(events, through=THROUGH, calm_at=CALM_AT)


def of(kind: type[Event], **fields: Any) -> Callable[[Event], bool]:
    """Whether an event is of a kind and has these fields; `due_s` counts from noon."""
    if "due_s" in fields:
        fields["due_at"] = NOON + fields.pop("due_s") * 1_000
    return lambda event: (
        isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
    )


def without(*kinds: Callable[[Event], bool]) -> Doctoring:
    """Leave out what is of one of those kinds."""
    return lambda events: [event for event in events if not any(is_meant(event) for is_meant in kinds)]


def with_(*more: Event) -> Doctoring:
    """Add some, each at its instant."""
    return lambda events: in_order(events, more)


def changed(is_meant: Callable[[Event], bool], **fields: Any) -> Doctoring:
    """Change fields of those that are meant; there has to be one."""

    def change(events: list[Event]) -> list[Event]:
        assert any(is_meant(event) for event in events)
        return [replace(event, **fields) if is_meant(event) else event for event in events]

    return change


def later(is_meant: Callable[[Event], bool], by_ms: int) -> Doctoring:
    """Have those that are meant happen later."""

    def change(events: list[Event]) -> list[Event]:
        return in_order(replace(event, at=event.at + by_ms) if is_meant(event) else event for event in events)

    return change
