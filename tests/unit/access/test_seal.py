"""Sealed texts: only a reader with the secret can read or make them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.web.http.cursor import seal, unseal

SECRET = "whsec_c2VjcmV0"


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_a_sealed_text_is_read_with_its_secret(text: str) -> None:
    assert unseal(SECRET, seal(SECRET, text)) == text


@given(text=st.text(st.characters(exclude_categories=["Cs"])), sealed=st.text())
def test_a_sealed_text_is_neither_made_nor_read_without_the_secret(text: str, sealed: str) -> None:
    assert unseal("another", seal(SECRET, text)) is None
    assert unseal(SECRET, sealed) is None


def test_equal_texts_have_equal_seals_and_others_have_nothing_in_common() -> None:
    assert seal(SECRET, "keys:abc") == seal(SECRET, "keys:abc")
    one, other = seal(SECRET, "keys:abcdefgh"), seal(SECRET, "keys:abcdefgi")
    assert one[:8] != other[:8]
    assert one[-8:] != other[-8:]


@pytest.mark.parametrize("spoil", [lambda text: text + "A", lambda text: text[:-1], lambda text: text + "\n"])
def test_a_changed_seal_opens_nothing(spoil: object) -> None:
    assert callable(spoil)
    assert unseal(SECRET, spoil(seal(SECRET, "keys:abc"))) is None
