"""Traces made by hand and then changed, to test what the oracle says of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tests.simulation.oracle.oracle import judge
from tests.simulation.traces.stories import NOON, THROUGH, in_order
from tests.simulation.traces.trace import Event

#: So early that nothing of it is left when the story begins.
CALM_AT: Final = NOON - 450_000

Story = Callable[[], list[Event]]
Doctoring = Callable[[list[Event]], list[Event]]

#: A story, what is changed of it, and a part of what the oracle says of that.
Broken = tuple[Story, Doctoring, str]

#: A story, and a change of it of which the oracle says nothing.
Excused = tuple[Story, Doctoring]


def complaints(events: list[Event]) -> list[str]:
    """Return the complaints of the oracle."""
    return judge(events, through=THROUGH, calm_at=CALM_AT)


def of(kind: type[Event], **fields: Any) -> Callable[[Event], bool]:
    """Return whether an event is of a kind and has these fields. `due_s` counts from noon."""
    if "due_s" in fields:
        fields["due_at"] = NOON + fields.pop("due_s") * 1_000
    return lambda event: (
        isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
    )


def without(*kinds: Callable[[Event], bool]) -> Doctoring:
    """Leave out the events of these kinds."""
    return lambda events: [event for event in events if not any(is_meant(event) for is_meant in kinds)]


def with_(*more: Event) -> Doctoring:
    """Add events, each at its instant."""
    return lambda events: in_order(events, more)


def changed(is_meant: Callable[[Event], bool], **fields: Any) -> Doctoring:
    """Change fields of the events that match. At least one has to match."""

    def change(events: list[Event]) -> list[Event]:
        assert any(is_meant(event) for event in events)
        return [replace(event, **fields) if is_meant(event) else event for event in events]

    return change


def later(is_meant: Callable[[Event], bool], by_ms: int) -> Doctoring:
    """Let the events that match happen later."""

    def change(events: list[Event]) -> list[Event]:
        return in_order(replace(event, at=event.at + by_ms) if is_meant(event) else event for event in events)

    return change
