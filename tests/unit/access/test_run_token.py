"""A run token in an Authorization header is distinguished from keys and from other texts."""

import pytest

from sweephand.access.authentication import run_token, sent_run_token, without_run_tokens
from sweephand.model.api_key import format_key

TOKEN = run_token("aB3" * 14 + "z")


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", f" BEARER {TOKEN} "])
def test_a_token_is_read_as_it_was_made(header: str) -> None:
    assert sent_run_token(header) == TOKEN


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}-",
        f"Bearer {TOKEN[:-1]}\u0661",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {format_key('admin', 'x' * 43)}",
    ],
)
def test_a_text_that_is_not_a_run_token_is_read_as_none(header: str | None) -> None:
    assert sent_run_token(header) is None


@pytest.mark.parametrize("around", ["{}", '{{"token": "{}"}}', "a {} b {}", "sweephand-run-token: {}\\r\\n"])
def test_a_token_that_a_text_repeats_is_hidden(around: str) -> None:
    places = around.count("{}")
    hidden = without_run_tokens(around.format(*[TOKEN] * places))
    assert hidden == around.format(*["[secret]"] * places)


@pytest.mark.parametrize("length", range(len(TOKEN) + 1))
def test_an_end_that_cuts_a_token_shows_fewer_than_four_characters_of_its_secret(length: int) -> None:
    cut = f"refused: {TOKEN[:length]}"
    assert without_run_tokens(cut) == (cut if length < len("shr_") + 4 else "refused: [secret]")


def test_a_text_without_a_token_stays_as_it_is() -> None:
    for text in ("", "shr_", "shr_a-b", "no token", "sh_id_secret"):
        assert without_run_tokens(text) == text
