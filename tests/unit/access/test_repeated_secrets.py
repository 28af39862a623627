"""What a consumer repeats of a secret is hidden, in whatever writing it comes."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from time import process_time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.probe import slowness

from sweephand.access.repeated_secrets import HIDDEN, RepeatedSecrets

VALUE = "Bearer ab/cd+EF\"g<h>&d'i=-0123456789=="
TOKEN = VALUE.removeprefix("Bearer ")


def php(text: str) -> str:
    """As PHP's json_encode writes it."""
    return json.dumps(text)[1:-1].replace("/", "\\/")


def careful(text: str) -> str:
    r"""As System.Text.Json and Jackson write it: \u for each character that is special elsewhere."""
    return "".join(each if each.isalnum() else f"\\u{ord(each):04x}" for each in text)


def lower(text: str) -> str:
    """As .NET's UrlEncode writes it: hexadecimal digits in lower case, and a plus for a space."""
    return "".join(each if each.isalnum() else f"%{ord(each):02x}" for each in text).replace("%20", "+")


def hexadecimal(text: str) -> str:
    return "".join(each if each.isalnum() else f"&#x{ord(each):X};" for each in text)


def decimal(text: str) -> str:
    return "".join(each if each.isalnum() else f"&#{ord(each)};" for each in text)


def twice(text: str) -> str:
    return json.dumps(php(text))[1:-1]


WRITINGS: tuple[Callable[[str], str], ...] = (
    *(str, php, careful, quote, quote_plus, lower, escape, hexadecimal, decimal, twice),
    lambda text: json.dumps(text)[1:-1],
    lambda text: quote(text, safe=""),
    lambda text: quote(php(text)),
    lambda text: json.dumps(escape(text))[1:-1],
    lambda text: lower(lower(text)),
)


@pytest.mark.parametrize("write", WRITINGS)
@pytest.mark.parametrize("repeated", [VALUE, TOKEN])
def test_a_value_is_hidden_in_every_writing(write: Callable[[str], str], repeated: str) -> None:
    text = f"<p>bad: {write(repeated)}, and {write(repeated)}!</p>"
    assert RepeatedSecrets([VALUE]).hidden_in(text) == f"<p>bad: {HIDDEN}, and {HIDDEN}!</p>"


@given(
    st.text("ab%\\&;#/+ u0\"'x", min_size=4, max_size=12),
    st.sampled_from(WRITINGS),
    st.text("ab %&;\\u0", max_size=5),
)
def test_any_value_is_hidden_in_every_writing(value: str, write: Callable[[str], str], around: str) -> None:
    shown = RepeatedSecrets([value]).hidden_in(f"{around} {write(value)} {around}")
    assert HIDDEN in shown


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("session=abcdef012345; theme=dark", "abcdef012345"),
        ("key=abcdef012345", "abcdef012345"),
        ('Token token="abcdef012345"', "abcdef012345"),
        ("ApiKey key=abcdef012345", "abcdef012345"),
        ("AWS4 Credential=AKIDEXAMPLE/x,Signature=0123456789abcdef", "0123456789abcdef"),
        (f"Basic {b64encode(b'somebody:hunter2').decode()}", "hunter2"),
        (f"Basic {b64encode(b'somebody:hunter2').decode()}", "somebody"),
        (f"basic {urlsafe_b64encode(b'a:~~~~>>>>????').decode().rstrip('=')}", "~~~~>>>>????"),
        ("whsec_C2FVsBQIhrscChlQIMV", "C2FVsBQIhrscChlQIMV"),
    ],
)
def test_the_parts_of_a_value_are_hidden_too(value: str, secret: str) -> None:
    for text in (f"unknown: {secret}.", json.dumps({"got": secret, "all": value})):
        assert secret not in RepeatedSecrets([value]).hidden_in(text)


@pytest.mark.parametrize("value", ["Basic x", "Basic !", f"Basic {b64encode(bytes([255] * 9)).decode()}"])
def test_a_value_that_is_no_basic_credentials_is_a_value_all_the_same(value: str) -> None:
    assert RepeatedSecrets([value]).hidden_in(f"no: {value}") == f"no: {HIDDEN}"


@pytest.mark.parametrize("length", range(4, len(VALUE)))
@pytest.mark.parametrize("write", [str, php, careful, lower, hexadecimal])
def test_the_beginning_of_a_value_at_the_end_of_a_cut_text_is_hidden(
    length: int, write: Callable[[str], str]
) -> None:
    text = f"bad: {write(VALUE[:length])}"
    assert RepeatedSecrets([VALUE]).hidden_in(text, is_cut=True) == f"bad: {HIDDEN}"


@pytest.mark.parametrize("write", [careful, lower, hexadecimal])
def test_a_text_that_is_cut_within_an_escape_shows_nothing_of_the_value(write: Callable[[str], str]) -> None:
    written = write(VALUE)
    for length in range(len(write(VALUE[:8])), len(written)):
        assert RepeatedSecrets([VALUE]).hidden_in(f"bad: {written[:length]}", is_cut=True) == f"bad: {HIDDEN}"


@pytest.mark.parametrize("text", ["", "ok", "Bearer", "a & b", '{"a":"\\u00e9\\n"}', "100%", "\\", "&", "%4"])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    for is_cut in (False, True):
        assert RepeatedSecrets(["x-0123456789", "abc"]).hidden_in(text, is_cut=is_cut) == text
    assert RepeatedSecrets([]).hidden_in(text) == text


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"a": [VALUE, "b"], "n": 12}, {"a": [HIDDEN, "b"], "n": 12}),
        ({VALUE: None, "x": f"<{TOKEN}>"}, {HIDDEN: None, "x": f"<{HIDDEN}>"}),
        (VALUE, HIDDEN),
        ({"pin": 12345678, "more": 1}, {"pin": HIDDEN, "more": 1}),
        (["a", "b", "c", "d"], ["a", "b", "c", "d"]),
    ],
)
@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_a_json_text_stays_json(result: object, shown: object, *, ensure_ascii: bool) -> None:
    secrets = RepeatedSecrets([VALUE, "12345678", 'a","b'])
    assert json.loads(secrets.hidden_in_json(json.dumps(result, ensure_ascii=ensure_ascii))) == shown


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("next", '"line\\next"', "line\next"),
        ("e9abcdefgh", '"caf\\u00e9abcdefgh"', "caf\u00e9abcdefgh"),
        ("pass\\word", '["pass\\\\word", "\\ud83d\\ude00"]', [HIDDEN, "\U0001f600"]),
        ("\U0001f600-0123", '"\\ud83d\\ude00-0123"', HIDDEN),
    ],
)
def test_a_value_is_not_found_within_an_escape_of_a_json_text(secret: str, text: str, shown: object) -> None:
    assert json.loads(RepeatedSecrets([secret]).hidden_in_json(text)) == shown


@pytest.mark.parametrize(
    "unit", ["a", "\\", "\\\\", "\\/", "%", "%41", "%2541", "&", "&#97;", "&amp;", "\\u0061", "aaaaaaab"]
)
def test_the_time_grows_with_the_length_of_a_text_whatever_it_is_made_of(unit: str) -> None:
    values = ["a" * 4_000 + f"b{number}" for number in range(60)]
    values += [" ".join(f"aaaaaaa{number}{part}" for part in range(300)) for number in range(60)]
    secrets = RepeatedSecrets(values)

    def time_of(length: int) -> float:
        text = (unit * length)[:length]
        began = process_time()
        secrets.hidden_in(text, is_cut=True)
        return process_time() - began

    time_of(100)  # whatever is made at the first use
    assert any(time_of(1_024) < 0.1 * slowness() for _ in range(3))
