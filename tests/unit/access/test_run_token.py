"""A run token in an Authorization header is distinguished from keys and from other texts."""

import pytest

from sweephand.access.run_token import run_token, sent_run_token
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
