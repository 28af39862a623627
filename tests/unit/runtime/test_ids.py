"""Random ids have the promised length, and each character is equally likely."""

import os
import re
import string
from concurrent.futures import ThreadPoolExecutor

import pytest

from sweephand.runtime import machine
from sweephand.runtime.machine import SystemIds


def test_a_token_is_sixteen_small_letters_and_digits() -> None:
    drawn = {SystemIds().token() for _ in range(100)}

    assert len(drawn) == 100
    assert all(re.fullmatch("[0-9a-z]{16}", each) for each in drawn)


def test_no_random_bytes_are_drawn_before_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(count: int) -> bytes:
        raise AssertionError(f"{count} bytes were drawn")

    monkeypatch.setattr(os, "urandom", refuse)
    made = SystemIds()

    with pytest.raises(AssertionError, match="bytes were drawn"):
        made.token()


def test_threads_that_share_one_never_draw_the_same_token() -> None:
    shared = SystemIds()
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: shared.token(), range(4_000)))

    assert len(set(drawn)) == 4_000


def test_a_secret_is_43_letters_and_digits() -> None:
    drawn = {SystemIds().secret() for _ in range(100)}

    assert len(drawn) == 100
    assert all(re.fullmatch("[0-9A-Za-z]{43}", each) for each in drawn)


@pytest.mark.parametrize("characters", [string.digits + string.ascii_lowercase, string.ascii_letters])
def test_every_character_of_a_token_is_equally_likely(characters: str) -> None:
    alphabet = machine._Alphabet.of(characters)

    drawn = bytes(range(256)).translate(alphabet.table, alphabet.dropped).decode()

    assert {drawn.count(each) for each in characters} == {256 // len(characters)}
    assert set(drawn) == set(characters)


def test_bytes_without_a_character_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([b"\xff" * 24, b"\xff" * 20 + b"\x00\x01\x02\x03", b"\x04" * 24])
    monkeypatch.setattr(os, "urandom", lambda _: next(given))

    assert machine._drawn(machine._TOKEN, 16) == "0123444444444444"
