"""What every item of the two tables has in common, and how instants and JSON are written in one."""

import json
from collections.abc import Sequence
from typing import Any

from pynamodb.attributes import Attribute, UnicodeAttribute
from pynamodb.constants import NUMBER, STRING
from pynamodb.models import Model

from sweephand.instants import SECOND_MS, Instant
from sweephand.jobs.definition import Payload


class IntegerAttribute(Attribute[int]):
    """A whole number: an instant, a count."""

    attr_type = NUMBER

    def serialize(self, value: Any) -> str:
        """The number as DynamoDB takes it."""
        return str(value)

    def deserialize(self, value: Any) -> int:
        """The number, exact."""
        return int(value)


class JsonAttribute(Attribute[Any]):
    """A JSON value as compact text, equal to itself when read again: numbers, nulls and odd strings too."""

    attr_type = STRING

    def serialize(self, value: Any) -> str | None:
        """The text; None, which leaves the attribute out, for None."""
        return None if value is None else _compact(value)

    def deserialize(self, value: Any) -> Any:
        """The value."""
        return json.loads(value)


class Item(Model):
    """One item of either table; `expires_at` is what DynamoDB's time to live goes by."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    expires_at = IntegerAttribute(null=True)


def expiry(instant: Instant | None) -> int | None:
    """An instant as DynamoDB's time to live takes it: whole seconds, never before the instant."""
    return None if instant is None else -(-instant // SECOND_MS)


def payload_item(payload: Payload | None) -> list[Any] | None:
    """A payload for a JsonAttribute; without its text if that is kept elsewhere."""
    if payload is None:
        return None
    return [payload.digest, payload.size, payload.text if payload.is_inline else None, payload.ref]


def payload_of(item: Sequence[Any] | None) -> Payload | None:
    """The payload that payload_item() wrote."""
    return None if item is None else Payload(*item)


def _compact(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, which JSON can carry as an escape and UTF-8 cannot at all.
        return json.dumps(value, separators=(",", ":"))
    return text
