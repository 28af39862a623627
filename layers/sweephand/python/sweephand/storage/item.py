"""What every item of the two tables has in common, and how instants and JSON are stored in an item."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Self, cast

from pynamodb.attributes import Attribute, AttributeContainer, UnicodeAttribute
from pynamodb.constants import NULL, NUMBER, STRING

from sweephand.base.errors import FormError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import Field, Form, Layout


class IntegerAttribute(Attribute[int]):
    """A whole number: an instant or a count."""

    attr_type = NUMBER

    def serialize(self, value: Any) -> str:
        """The number as DynamoDB takes it."""
        return str(value)

    def deserialize(self, value: Any) -> int:
        """The number, exact."""
        return int(value)


class FormAttribute(Attribute[Any]):
    """A value of a form (base/layouts.py) as compact text, for an item that expressions change."""

    attr_type = STRING

    def __init__(self, form: Form, **declared: Any) -> None:
        """An attribute of that form; pynamodb has the other arguments."""
        super().__init__(**declared)
        self._form = form

    def serialize(self, value: Any) -> str:
        """The text."""
        return _compact(self._form.write(value))

    def deserialize(self, value: Any) -> Any:
        """The value; FormError if the text does not have the form."""
        stored = json.loads(value)
        if not self._form.accepts(stored):
            raise FormError(f"`{self.attr_name}` must be {self._form.says}.")
        return self._form.read(stored)


class AttributeForm(NamedTuple):
    """How an attribute is stored: its name in code and in the table, its type, and its two conversions."""

    name: str
    stored_name: str
    kind: str
    serialize: Callable[[Any], Any]
    deserialize: Callable[[Any], Any]
    may_lack: bool


class Item(AttributeContainer):
    """One item of either table. DynamoDB's time to live removes the item after `expires_at`.

    It derives from the base class of pynamodb's Model. Model adds a connection of its own, which nothing here
    uses, and importing that took 3% of a function's start.
    """

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    expires_at = IntegerAttribute(null=True)

    def __init__(self, pk: str, sk: str, **values: Any) -> None:
        """An item to be written, with its attributes by name.

        An attribute that is None or missing is not stored.
        """
        # pynamodb's own constructor sets each attribute through its descriptor, which takes several times as
        # long (decision 006).
        self.attribute_values = {"pk": pk, "sk": sk, **values}

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Self:
        """The attributes of a stored item by name; None for those that it lacks.

        The result can be read like an item but not written. pynamodb's own `from_raw_data` asks each
        attribute for its type several times. That took a tenth of the delivery function's time (decision
        006).
        """
        by_stored_name, absent = _forms_by_stored_name(cls)
        values = dict(absent)
        for stored_name, typed in raw.items():
            form = by_stored_name.get(stored_name)
            if form is not None and NULL not in typed:
                values[form.name] = form.deserialize(typed[form.kind])
        return cast("Self", SimpleNamespace(**values))

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: FBT001, FBT002 - pynamodb's signature
        """The item as the client takes it. An attribute that is None is left out."""
        known = attribute_forms(type(self))
        raw: dict[str, dict[str, Any]] = {}
        for name, value in self.attribute_values.items():
            if value is not None:
                form = known[name]
                raw[form.stored_name] = {form.kind: form.serialize(value)}
        missing = _required(type(self)) - raw.keys()
        assert not (missing and null_check), f"{type(self).__name__} lacks {missing}"
        return raw


@cache
def attribute_forms(model: type[Item]) -> Mapping[str, AttributeForm]:
    """How each attribute of an item is stored, by its name in code."""
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
def _forms_by_stored_name(model: type[Item]) -> tuple[Mapping[str, AttributeForm], Mapping[str, None]]:
    """The same by the name in the table, and the values of an item that has no attributes at all."""
    return {form.stored_name: form for form in attribute_forms(model).values()}, dict.fromkeys(
        attribute_forms(model)
    )


@cache
def _required(model: type[Item]) -> frozenset[str]:
    """The names in the table of the attributes that an item must have."""
    return frozenset(form.stored_name for form in attribute_forms(model).values() if not form.may_lack)


class StoredItem(Item):
    """An item that holds a value as its layout says (base/layouts.py)."""

    def __init__(self, pk: str, sk: str, layout: Layout[Any], value: Any, **declared: Any) -> None:
        """An item to be written. `declared` are attributes that the item has besides those of the layout."""
        super().__init__(pk, sk, **declared)
        fields = layout.by_stored
        self._attributes = {
            name: attribute_value(fields[name], stored) for name, stored in layout.write(value).items()
        }

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: FBT001, FBT002 - pynamodb's signature
        """The item as the client takes it."""
        return super().serialize(null_check) | self._attributes


def attribute_value(field: Field, stored: Any) -> dict[str, Any]:
    """What a field stores as JSON, as the client takes it."""
    match field.form.kind:
        case "number":
            return {NUMBER: str(stored)}
        case "text":
            return {STRING: stored}
        case "json":
            return {STRING: _compact(stored)}


def fields_of(layout: Layout[Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the value that an item holds, by their names in code; FormError as by the layout."""
    stored: dict[str, Any] = {}
    fields = layout.by_stored
    for name, typed in raw.items():
        if name in fields and NULL not in typed:
            stored[name] = _parsed(fields[name], typed)
    return layout.values(stored)


def _parsed(field: Field, typed: Mapping[str, Any]) -> Any:
    """What an attribute holds as JSON; None, which no field may be, if it does not have the field's kind."""
    kind = field.form.kind
    content = typed.get(NUMBER if kind == "number" else STRING)
    if kind == "text" or content is None:
        return content
    try:
        return int(content) if kind == "number" else json.loads(content)
    except ValueError:
        return None


def expiry(instant: Instant | None) -> int | None:
    """An instant for DynamoDB's time to live: whole seconds, rounded up."""
    return None if instant is None else -(-instant // SECOND_MS)


#: Made once, because `json.dumps` makes an encoder for each call that does not use the defaults.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _compact(value: Any) -> str:
    text = _ENCODER.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair: JSON can carry it as an escape, and UTF-8 cannot carry it.
        return json.dumps(value, separators=(",", ":"))
    return text
