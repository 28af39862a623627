"""Layouts of stored values: one line for each field, from which the writer and the checked reader come.

A value is stored as an object of JSON: in a message, in a field of another value, or as the attributes of an
item (storage/item.py). Every field is stored by name. So a field may be added anywhere in the class or in the
layout, and what was stored before is read as before. A field with its default is not stored. So a default
must never change within a version of the form.

A reader ignores fields that its layout does not have, because a later version may write more of them.

msgspec would read twenty times faster. But it reads a NamedTuple by positions, and its import costs as much
as reading 700 messages. A delivery function reads tens a second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from sweephand.base.errors import FormError
from sweephand.base.instants import INSTANT_MAX

_Value = TypeVar("_Value")

#: How a field is stored as an attribute of an item: as a number, as a text, or as a text that holds its JSON.
AttributeKind: TypeAlias = Literal["number", "text", "json"]

#: Names, uids and revisions are far shorter. A store has no key that is longer.
NAME_LENGTH_MAX: Final = 256

#: The API limits the length of a caller's reason. Sweephand's own reasons quote texts of limited length.
SENTENCE_LENGTH_MAX: Final = 4_096

#: JSON readers agree on whole numbers up to this size (RFC 8259, section 6).
_NUMBER_MAX: Final = 2**53 - 1

#: A reader takes up to so many values in columns. Writers write a hundred at most.
COLUMN_PLACES_MAX: Final = 10_000


def _same(value: Any) -> Any:
    return value


class Form(NamedTuple):
    """How a field is stored as JSON. `says` completes the sentence "`name` must be ...".

    `accepts` judges what was stored. `read` makes the field's value of it, and `write` what is stored of the
    value. What `accepts` lets through may still be refused by `read`, with any error.
    """

    says: str
    accepts: Callable[[Any], bool]
    kind: AttributeKind = "json"
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same


def _is_whole(value: Any) -> bool:
    # In Python, JSON's true and 1.0 equal 1. Sweephand never writes a number as either.
    return type(value) is int and 0 <= value <= INSTANT_MAX


#: An instant, a time in ms, or a count.
WHOLE: Final = Form("a whole number from 0 to the last instant", _is_whole, "number")

#: A whole number that may be negative, or lie behind the last instant.
NUMBER: Final = Form(
    "a whole number of at most 2^53 - 1",
    lambda value: type(value) is int and abs(value) <= _NUMBER_MAX,
    "number",
)

#: A name, a uid or a token.
NAME: Final = Form(
    f"a text of 1 to {NAME_LENGTH_MAX} characters",
    lambda value: isinstance(value, str) and 0 < len(value) <= NAME_LENGTH_MAX,
    "text",
)

TRUTH: Final = Form("true or false", lambda value: isinstance(value, bool))

#: Whatever JSON can hold.
ANY: Final = Form("any value", lambda _: True)

#: A JSON object that another room reads and checks.
OBJECT: Final = Form("an object", lambda value: isinstance(value, dict), write=dict)


def text_of(length_max: int) -> Form:
    """A text of up to so many characters. An item stores it as JSON, which keeps any text unchanged."""
    return Form(
        f"a text of at most {length_max} characters",
        lambda value: isinstance(value, str) and len(value) <= length_max,
    )


#: A sentence for people, such as the reason of a failure; it may be empty.
SENTENCE: Final = text_of(SENTENCE_LENGTH_MAX)


def choice_of(*values: str) -> Form:
    """One of these texts."""
    return Form(
        f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values, "text"
    )


def list_of(each: Form, length_min: int, length_max: int) -> Form:
    """A tuple of so many values, each stored in that form."""
    return Form(
        f"a list of {length_min} to {length_max} items, each {each.says}",
        lambda value: (
            isinstance(value, list)
            and length_min <= len(value) <= length_max
            and all(map(each.accepts, value))
        ),
        read=lambda stored: tuple(map(each.read, stored)),
        write=lambda value: list(map(each.write, value)),
    )


#: The default of a field that must be stored.
REQUIRED: Final = object()


class Field(NamedTuple):
    """A line of a layout: the field's name in its class, its stored name, its form, and its default."""

    name: str
    stored: str
    form: Form
    default: Any = REQUIRED

    def read(self, stored: Any) -> Any:
        """The value of the field of what was stored; FormError if that does not have the field's form."""
        if not self.form.accepts(stored):
            raise FormError(f"`{self.stored}` must be {self.form.says}.")
        return stored if self.form.read is _same else self.form.read(stored)

    def absent(self) -> Any:
        """The value of the field if it is not stored; FormError if it must be stored."""
        if self.default is REQUIRED:
            raise FormError(f"`{self.stored}` is missing: it must be {self.form.says}.")
        return self.default


class Part(NamedTuple):
    """A line of a layout for a field whose own fields are stored beside those of the whole value."""

    name: str
    layout: "Layout[Any]"


class Layout(Generic[_Value]):
    """How the values of one class are stored, by fields. Its methods may be called from any thread."""

    def __init__(self, make: Callable[..., _Value], *lines: Field | Part) -> None:
        self._make = make
        self._own = tuple(each for each in lines if isinstance(each, Field))
        self._parts = tuple(each for each in lines if isinstance(each, Part))
        self._lines = lines
        #: All fields, with those of its parts, in the order in which they are written.
        self.fields: tuple[Field, ...] = tuple(
            field for each in lines for field in (each.layout.fields if isinstance(each, Part) else (each,))
        )
        #: The same by their stored names.
        self.by_stored: Mapping[str, Field] = {each.stored: each for each in self.fields}

    def write(self, value: _Value) -> dict[str, Any]:
        """The fields of a value as JSON, by their stored names. Those with their defaults are left out."""
        stored: dict[str, Any] = {}
        for line in self._lines:
            if isinstance(line, Part):
                stored |= line.layout.write(getattr(value, line.name))
                continue
            name, stored_name, form, default = line
            given = getattr(value, name)
            # Most fields have their default, and one that is the same object needs no comparison.
            if given is not default and given != default:
                stored[stored_name] = given if form.write is _same else form.write(given)
        return stored

    def read(self, stored: Any) -> _Value:
        """The value that write() wrote.

        Raises FormError if a field is missing or does not have its form. A form may raise other errors.
        """
        return self._make(**self.values(stored))

    def values(self, stored: Any) -> dict[str, Any]:
        """The fields that write() wrote, by their names in the class; errors as read() raises them."""
        if not isinstance(stored, dict):
            raise FormError("A stored value must be an object.")
        found = {each.name: each.layout.read(stored) for each in self._parts}
        for field in self._own:
            name, stored_name, form, default = field
            # A call for each field would take a third of the time.
            if stored_name not in stored:
                found[name] = default if default is not REQUIRED else field.absent()
            elif form.read is _same and form.accepts(stored[stored_name]):
                found[name] = stored[stored_name]
            else:
                found[name] = field.read(stored[stored_name])
        return found

    @property
    def form(self) -> Form:
        """The form of a field that holds such a value."""
        return Form("an object", lambda value: isinstance(value, dict), read=self.read, write=self.write)

    @property
    def columns(self) -> Form:
        """The form of a field that holds many such values as one list for each field, with a place for each.

        `z` is how many values there are. A list whose places are all equal has one place, and one with
        defaults alone is left out. A place is null if its value has no such field.
        """
        return Form(
            "an object of columns",
            lambda stored: isinstance(stored, dict),
            read=lambda stored: tuple(self.from_columns(stored, _count_of(stored))),
            write=lambda values: {"z": len(values), **self.to_columns(values)},
        )

    def to_columns(self, values: Sequence[_Value]) -> dict[str, list[Any]]:
        """The lists of that form."""
        columns: dict[str, list[Any]] = {}
        if not values:
            return columns
        by_name = _by_name(values)
        for line in self._lines:
            given = by_name(line.name)
            if isinstance(line, Part):
                columns |= line.layout.to_columns(given)
            elif given.count(line.default) != len(given):
                some = given[:1] if given.count(given[0]) == len(given) else given
                write = line.form.write
                columns[line.stored] = [
                    each if each is None or write is _same else write(each) for each in some
                ]
        return columns

    def from_columns(
        self, columns: Mapping[str, Any], count: int, **others: Iterable[Any]
    ) -> Sequence[_Value]:
        """The values of which to_columns() made lists; errors as by read().

        `others` are fields that the layout does not have, with a place for each value.
        """
        if not count:
            return ()
        found = dict(others)
        for part in self._parts:
            found[part.name] = part.layout.from_columns(columns, count)
        for field in self._own:
            column = columns.get(field.stored, [None])
            if not isinstance(column, list) or len(column) not in {1, count}:
                raise FormError(f"`{field.stored}` must be a list of 1 or {count} items.")
            read = column
            if field.form.read is not _same or not all(map(field.form.accepts, column)):
                read = [field.absent() if place is None else field.read(place) for place in column]
            found[field.name] = read if len(read) == count else repeat(read[0], count)
        make: Any = self._make
        if not hasattr(make, "_fields"):
            return [make(**dict(zip(found, row, strict=True))) for row in zip(*found.values(), strict=True)]
        # A NamedTuple is made of the row itself, which takes a tenth of the time.
        lists = (found.get(name) or repeat(make._field_defaults[name], count) for name in make._fields)
        return list(map(partial(tuple.__new__, make), zip(*lists, strict=True)))


def _by_name(values: Sequence[Any]) -> Callable[[str], Sequence[Any]]:
    """A function that returns the values of a field."""
    fields = getattr(values[0], "_fields", None)
    if fields is None:
        return lambda name: tuple(getattr(value, name) for value in values)
    return dict(zip(fields, zip(*values, strict=True), strict=True)).__getitem__


def _count_of(columns: Mapping[str, Any]) -> int:
    count: Any = columns.get("z")
    if not _is_whole(count) or count > COLUMN_PLACES_MAX:
        raise FormError(f"`z` must be a whole number of at most {COLUMN_PLACES_MAX}.")
    return int(count)
