"""A schedule as its user wrote it, and as a series keeps and stores it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    from sweephand.schedules.notations.instant_list import InstantList
    from sweephand.schedules.notations.named_fields import NamedFields

#: A schedule as its user wrote it: a text, fields by name, or a list of instants.
ScheduleInput: TypeAlias = str | Mapping[str, Any] | list[Any]

#: A schedule as a series keeps it. It can be compared and stored. A text stays as it was written.
Schedule: TypeAlias = Union[str, "NamedFields", "InstantList"]


def schedule_of_item(item: Any) -> Schedule:
    """The schedule of a stored item or a message: a text, a map of fields, or a list of numbers."""
    match item:
        case str():
            return item
        case Mapping():
            from sweephand.schedules.notations.named_fields import NamedFields  # noqa: PLC0415 - rare, as in parsing.py

            return NamedFields.from_item(item)
        case _:
            from sweephand.schedules.notations.instant_list import InstantList  # noqa: PLC0415 - same

            return InstantList.from_item(item)
