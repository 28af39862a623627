"""docs/capacity.md: prose that people write, and blocks that the model writes between two markers each."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "capacity.md"

_BLOCK: Final = re.compile(r"<!-- `make capacity`: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


class UnknownBlockError(Exception):
    """The page has a marker for which there is no block, or lacks one."""


def renewed(page: str, blocks: Mapping[str, Callable[[], Sequence[str]]]) -> str:
    """The page with every block written again. UnknownBlockError: page and blocks have different names."""
    names = [match[1] for match in _BLOCK.finditer(page)]
    if sorted(names) != sorted(blocks):
        raise UnknownBlockError(f"the page has the blocks {names}, and not {sorted(blocks)}")

    def made(match: re.Match[str]) -> str:
        lines = "\n".join(blocks[match[1]]())
        return f"<!-- `make capacity`: {match[1]} -->\n{lines}\n<!-- end -->"

    return _BLOCK.sub(made, page)
