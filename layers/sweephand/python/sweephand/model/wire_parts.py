"""The parts of messages and runs that have the same JSON form wherever they are stored.

A message has the same parts in a queue and in a timer. A run's item stores the demand, payload and failure of
its trigger, and a line stores whole triggers. One function here writes each part, and another reads it. So a
field that is added to a part is carried everywhere.
"""

from collections.abc import Sequence
from typing import Any, Final

from sweephand.model.definition import Payload
from sweephand.model.policy_names import PRIORITY_DEFAULT, PermitName, Priority
from sweephand.model.run_id import Demand
from sweephand.model.trigger import BatchPlace, Failure, Redrive

#: The length of the form of a place in a batch whose progress is kept.
_COUNTED: Final = 3


def demand_to_json(demand: Demand | None) -> list[Any] | None:
    """`[kind, token]`, and the link as a third element for a trigger in a chain; None for no demand."""
    return None if demand is None else list(demand if demand.link else demand[:2])


def demand_from_json(value: Sequence[Any] | None) -> Demand | None:
    """The demand that demand_to_json() wrote."""
    return Demand(*value) if value else None


def failure_to_json(failure: Failure | None) -> list[Any] | None:
    """`[attempt, reason, response code, is final]`; None for no failure."""
    return None if failure is None else list(failure)


def failure_from_json(value: Sequence[Any] | None) -> Failure | None:
    """The failure that failure_to_json() wrote."""
    return Failure(*value) if value else None


def redrive_to_json(redrive: Redrive | None) -> list[Any] | None:
    """`[first attempt of the round, start of the very first attempt]`; None for no redrive.

    The ends of earlier rounds are a field of their own (ends_to_json()).
    """
    return None if redrive is None else list(redrive[:2])


def redrive_from_json(value: Sequence[Any] | None) -> Redrive | None:
    """The redrive that redrive_to_json() wrote."""
    return Redrive(*value) if value else None


def ends_to_json(redrive: Redrive | None) -> dict[str, list[int]]:
    """The field with the attempts that ended earlier rounds; none if they are not known."""
    return {} if redrive is None or redrive.ends is None else {"ends": list(redrive.ends)}


def batch_to_json(batch: BatchPlace | None) -> list[int] | None:
    """`[size, window_ms, after_ms]`, and a fourth element if the batch is not counted; None for no batch."""
    if batch is None:
        return None
    return [*batch[:3], 0] if not batch.is_counted else list(batch[:3])


def batch_from_json(value: Sequence[int] | None) -> BatchPlace | None:
    """The place in a batch that batch_to_json() wrote."""
    if not value:
        return None
    size, window_ms, after_ms = value[:3]
    return BatchPlace(size, window_ms, after_ms, is_counted=len(value) == _COUNTED)


def lane_to_json(priority: Priority) -> dict[str, Priority]:
    """The field that says in which lane a message travels; none for the usual one."""
    return {} if priority == PRIORITY_DEFAULT else {"lane": priority}


def permit_to_json(permit: PermitName | None) -> list[Any] | None:
    """`[policy, holder, id]`; None for no permit."""
    return None if permit is None else list(permit)


def permit_from_json(value: Sequence[Any] | None) -> PermitName | None:
    """The name of a permit that permit_to_json() wrote."""
    return PermitName(*value) if value else None


def payload_to_json(payload: Payload | None) -> list[Any] | None:
    """`[digest, size, text, ref]` as an item stores it; without the text if that is kept elsewhere.

    A fifth element says until when it is kept there, if it expires.
    """
    if payload is None:
        return None
    stored = [payload.digest, payload.size, payload.text if payload.is_inline else None, payload.ref]
    return stored if payload.kept_until is None else [*stored, payload.kept_until]


def payload_from_json(value: Sequence[Any] | None) -> Payload | None:
    """The payload that payload_to_json() wrote."""
    return None if value is None else Payload(*value)
