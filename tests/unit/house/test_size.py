"""The size of each part and of the pages, and what counts as a line of code."""

from infra.local.places import ROOT
from infra.size import CEILINGS, WORDS_MAX, Size, measured, pages, size_of, words

MODULE = '''"""What it does.

On three lines.
"""

import json  # a comment beside code

# A comment.
TEXT = """Two
lines"""


def read(text: str) -> object:
    """What it returns."""
    from decimal import Decimal

    return json.loads(text, parse_float=Decimal)
'''


def test_lines_of_code_are_counted_without_comments_docstrings_and_blank_lines() -> None:
    assert size_of(MODULE) == Size(lines=6, modules=1, inner_imports=1)


def test_no_part_is_larger_than_its_ceiling() -> None:
    for part, size in measured().items():
        most = CEILINGS[part]
        assert size.lines <= most.lines, part
        assert size.modules <= most.modules, part
        assert size.inner_imports <= most.inner_imports, part


def test_the_pages_have_no_more_words_than_their_ceiling() -> None:
    assert {ROOT / "README.md", ROOT / "tests/README.md", ROOT / "client/README.md"} < set(pages())
    assert words() <= WORDS_MAX
