"""What every item of the two tables has in common, and how instants and JSON are written in one."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Self, cast

from pynamodb.attributes import Attribute, UnicodeAttribute
from pynamodb.constants import NULL, NUMBER, STRING
from pynamodb.models import Model

from sweephand.base.instants import SECOND_MS, Instant


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


class AttributeForm(NamedTuple):
    """How an attribute is stored: its name here and there, its type, and the way there and back."""

    name: str
    stored_name: str
    kind: str
    serialize: Callable[[Any], Any]
    deserialize: Callable[[Any], Any]
    may_lack: bool


class Item(Model):
    """One item of either table; `expires_at` is what DynamoDB's time to live goes by."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    expires_at = IntegerAttribute(null=True)

    def __init__(self, pk: str, sk: str, **values: Any) -> None:
        """An item to be written: its attributes by name; one that is None or left out is not stored."""
        # pynamodb's own sets each attribute by way of its descriptor, which takes ten times as long.
        self.attribute_values = {"pk": pk, "sk": sk, **values}

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Self:
        """An item as the client gives it: its attributes by name, None for those that it lacks.

        It is there to be read, and only looks like one that can be written. pynamodb's own `from_raw_data`
        asks every attribute several times what it is, at reading and at every use, which took a tenth of the
        delivery function's time.
        """
        by_stored_name, absent = _reading(cls)
        values = dict(absent)
        for stored_name, typed in raw.items():
            form = by_stored_name.get(stored_name)
            if form is not None and NULL not in typed:
                values[form.name] = form.deserialize(typed[form.kind])
        return cast("Self", SimpleNamespace(**values))

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: FBT001, FBT002 - as pynamodb has it
        """The item as the client takes it; an attribute that is None is left out."""
        known = attribute_forms(type(self))
        raw: dict[str, dict[str, Any]] = {}
        for name, value in self.attribute_values.items():
            if value is not None:
                form = known[name]
                raw[form.stored_name] = {form.kind: form.serialize(value)}
        missing = _required(type(self)) - raw.keys()
        assert not (missing and null_check), f"{missing} of {type(self).__name__} is not given"
        return raw


@cache
def attribute_forms(model: type[Item]) -> Mapping[str, AttributeForm]:
    """How each attribute of an item is stored, by its name here."""
    return {
        name: AttributeForm(
            name,
            attribute.attr_name,
            attribute.attr_type,
            attribute.serialize,
            attribute.deserialize,
            attribute.null,
        )
        for name, attribute in model.get_attributes().items()
    }


@cache
def _reading(model: type[Item]) -> tuple[Mapping[str, AttributeForm], Mapping[str, None]]:
    """The same by the name there, and what an item without any attribute is."""
    return {form.stored_name: form for form in attribute_forms(model).values()}, dict.fromkeys(
        attribute_forms(model)
    )


@cache
def _required(model: type[Item]) -> frozenset[str]:
    """The names there of what an item must have."""
    return frozenset(form.stored_name for form in attribute_forms(model).values() if not form.may_lack)


def expiry(instant: Instant | None) -> int | None:
    """An instant as DynamoDB's time to live takes it: whole seconds, never before the instant."""
    return None if instant is None else -(-instant // SECOND_MS)


#: Made once: `json.dumps` makes one for each text that is not to be written as it is by default.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _compact(value: Any) -> str:
    text = _ENCODER.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, which JSON can carry as an escape and UTF-8 cannot at all.
        return json.dumps(value, separators=(",", ":"))
    return text
