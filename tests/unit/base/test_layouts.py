"""A layout writes and reads each field by its name: what it leaves out, ignores and refuses."""

from typing import Any, NamedTuple

import pytest

from sweephand.base.errors import FormError
from sweephand.base.instants import INSTANT_MAX
from sweephand.base.layouts import (
    COLUMN_PLACES_MAX,
    NAME,
    NUMBER,
    SENTENCE,
    TRUTH,
    WHOLE,
    Field,
    Form,
    Layout,
    Part,
    choice_of,
    list_of,
    text_of,
)


class Place(NamedTuple):
    shelf: str
    number: int = 0


class Book(NamedTuple):
    title: str
    place: Place
    pages: int
    is_lent: bool = False
    ends: tuple[int, ...] | None = None


PLACE = Layout(Place, Field("shelf", "s", NAME), Field("number", "n", WHOLE, 0))
BOOK = Layout(
    Book,
    Field("pages", "p", WHOLE),
    Part("place", PLACE),
    Field("title", "t", SENTENCE),
    Field("is_lent", "l", TRUTH, default=False),
    Field("ends", "e", list_of(WHOLE, 1, 3), None),
)
PLAIN = Book("Emma", Place("A"), 300)
LENT = Book("", Place("B", 7), 0, is_lent=True, ends=(1, 2))


def test_fields_are_stored_by_their_names_and_defaults_are_not_stored() -> None:
    assert BOOK.write(PLAIN) == {"p": 300, "s": "A", "t": "Emma"}
    assert BOOK.write(LENT) == {"p": 0, "s": "B", "n": 7, "t": "", "l": True, "e": [1, 2]}
    for book in (PLAIN, LENT):
        assert BOOK.read(BOOK.write(book)) == book


def test_a_field_that_the_layout_does_not_have_is_ignored() -> None:
    assert BOOK.read({**BOOK.write(PLAIN), "z": 1, "pages": "x"}) == PLAIN


@pytest.mark.parametrize("name", ["p", "s", "t"])
def test_a_missing_field_without_a_default_is_refused_by_its_name(name: str) -> None:
    stored = BOOK.write(PLAIN)
    del stored[name]
    with pytest.raises(FormError, match=f"`{name}` is missing: it must be a"):
        BOOK.read(stored)


@pytest.mark.parametrize("stored", [None, [], "x", 1])
def test_what_is_no_object_is_refused(stored: Any) -> None:
    with pytest.raises(FormError, match="must be an object"):
        BOOK.read(stored)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (WHOLE, [0, INSTANT_MAX], [-1, INSTANT_MAX + 1, 1.0, True, "1", None]),
        (NUMBER, [-1, 0, 2**53 - 1], [2**53, 1.0, False, "1", None]),
        (NAME, ["a", "a" * 256], ["", "a" * 257, 1, None, ["a"]]),
        (SENTENCE, ["", "é" * 4_096], ["a" * 4_097, 1, None, {}]),
        (text_of(2), ["", "ab"], ["abc", None]),
        (TRUTH, [True, False], [0, 1, "true", None]),
        (choice_of("a", "b"), ["a", "b"], ["c", "", 1, None, ["a"], {}]),
        (list_of(WHOLE, 1, 2), [[1], [1, 2]], [[], [1, 2, 3], [True], "1", None, {}]),
        (PLACE.form, [{}, {"s": "A"}], [[], "A", None]),
        (PLACE.columns, [{}], [[], "A", None]),
    ],
    ids=lambda value: value.says if isinstance(value, Form) else "",
)
def test_a_form_accepts_what_it_says(form: Form, good: list[Any], bad: list[Any]) -> None:
    assert all(map(form.accepts, good))
    assert not any(map(form.accepts, bad))


def test_values_in_columns_share_what_is_equal() -> None:
    form = PLACE.columns
    places = (Place("A", 1), Place("A"), Place("A", 2))
    assert form.write(places) == {"z": 3, "s": ["A"], "n": [1, 0, 2]}
    assert form.write(()) == {"z": 0}
    for each in (places, places[:1], ()):
        assert form.read(form.write(each)) == each


def test_values_in_columns_may_have_fields_that_are_not_stored() -> None:
    shelves = Layout(Place, Field("shelf", "s", NAME))
    assert shelves.from_columns({"s": ["A"]}, 2) == [Place("A"), Place("A")]
    assert shelves.from_columns({"s": ["A", "B"]}, 2, number=[1, 2]) == [Place("A", 1), Place("B", 2)]


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"z": "1", "s": ["A"]},
        {"z": COLUMN_PLACES_MAX + 1, "s": ["A"]},
        {"z": 1},
        {"z": 1, "s": "A"},
        {"z": 1, "s": []},
        {"z": 1, "s": [""]},
        {"z": 2, "s": ["A"], "n": [1, -1]},
        {"z": 2, "s": ["A", "B", "C"]},
    ],
)
def test_columns_that_do_not_fit_together_are_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(FormError):
        PLACE.columns.read(columns)
