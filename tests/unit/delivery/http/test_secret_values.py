"""A consumer's answer that repeats the value of a secret is kept without it."""

import json
from html import escape
from urllib.parse import quote

import pytest

from sweephand.delivery.http.secret_values import SecretValues, UnusableSecretError
from sweephand.targets.secret_refs import SecretRef

VALUE = "Bearer a\"b<c>&d'e/f-0123"
VALUES = SecretValues({"token": [VALUE]})
TOKEN = VALUE.removeprefix("Bearer ")


@pytest.mark.parametrize(
    "repeated",
    [
        *(VALUE, TOKEN, json.dumps(VALUE), json.dumps(TOKEN), escape(VALUE), escape(TOKEN)),
        *(quote(VALUE), quote(VALUE, safe=""), quote(TOKEN)),
    ],
)
def test_a_value_is_hidden_in_every_form_in_which_servers_repeat_it(repeated: str) -> None:
    hidden = VALUES.hidden_in(f"<p>bad: {repeated} and {repeated}</p>".encode())
    assert b"0123" not in hidden
    assert hidden.count(b"[secret]") == 2
    assert hidden.endswith(b"</p>")


@pytest.mark.parametrize("length", range(4, len(VALUE)))
def test_the_beginning_of_a_value_at_the_end_of_a_cut_answer_is_hidden(length: int) -> None:
    assert VALUES.hidden_in(b"bad: " + VALUE[:length].encode()) == b"bad: [secret]"


def test_the_values_before_the_newest_are_hidden_too() -> None:
    assert SecretValues({"key": ["new-one", "old-one"]}).hidden_in(b"old-one, new-one!") == (
        b"[secret], [secret]!"
    )


@pytest.mark.parametrize("text", [b"", b"ok", b"Bearer", b"\xff\xfe Bearer token"])
def test_any_other_text_stays_as_it_is(text: bytes) -> None:
    assert SecretValues({"token": ["x-0123456789"]}).hidden_in(text) == text


def test_secrets_of_a_target_are_read_together_from_its_namespace() -> None:
    asked = []

    def read(namespace: str, names: object) -> dict[str, list[str]]:
        asked.append((namespace, names))
        return {"a": ["1"], "b": ["2", "3"]}

    values = SecretValues.read("ns", [SecretRef("/x", "a"), SecretRef("/y", "b")], read)
    assert asked == [("ns", {"a", "b"})]
    assert [values.text({"secretRef": name}) for name in ("a", "b")] == ["1", "2"]
    assert values.text("plain") is None
    assert values.signing("b") == ("2", "3")


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UnusableSecretError, match="There is no secret a in namespace ns"):
        SecretValues.read("ns", [SecretRef("/headers/x/secretRef", "a")], lambda *_: {})


def test_a_secret_that_cannot_sign_is_named_without_its_value() -> None:
    ref = SecretRef("/signingSecret/secretRef", "a", must_sign=True)
    with pytest.raises(UnusableSecretError, match="a in namespace ns cannot sign") as raised:
        SecretValues.read("ns", [ref], lambda *_: {"a": ["plain"]})
    assert "plain" not in str(raised.value)
