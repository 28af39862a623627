"""The blocks of code of the documentation."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]

#: The pages that tell their readers what to type or to send.
PAGES: Final = (
    ROOT / "README.md",
    ROOT / "client" / "README.md",
    ROOT / "tests" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "targets").glob("*.md")),
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its page, its number among the page's blocks, its language, its text."""

    page: Path
    number: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where the block is, for the name of a test."""
        return f"{self.page.relative_to(ROOT)}-{self.number}"


#: Those within a list are indented in the page.
_BLOCK: Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """The text of a page, with empty lines in place of its blocks of code."""
    return _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"))


def blocks(page: Path, language: str | None = None) -> Iterator[Block]:
    """The blocks of a page, of one language or of all."""
    for number, each in enumerate(_BLOCK.finditer(page.read_text("utf-8")), 1):
        if language is None or each[2] == language:
            text = re.sub(rf"^{each[1]}", "", each[3], flags=re.MULTILINE)
            yield Block(page, number, each[2], text)


def all_blocks(language: str | None = None) -> list[Block]:
    """The blocks of all pages, of one language or of all."""
    return [block for page in PAGES for block in blocks(page, language)]


def examples(page: Path) -> list[tuple[Block, Block, Block]]:
    """The examples of a page for the command line, HTTP and Python: three blocks with nothing between them.

    The site shows them as tabs (infra/site/sphinx/static/tabs.js).
    """
    text, found = page.read_text("utf-8"), list(blocks(page))
    return [
        (shell, http, python)
        for shell, http, python in zip(found, found[1:], found[2:], strict=False)
        if f"```sh\n{shell.text}```\n\n```sh\n{http.text}```\n\n```python\n{python.text}```" in text
    ]


def commands(block: str) -> Iterator[str]:
    """The commands of a shell script: lines that belong together as one."""
    lines: list[str] = []
    for line in block.splitlines():
        lines.append(line)
        if line.endswith("\\"):
            continue
        with suppress(ValueError):  # an open quotation: the command goes on
            shlex.split("\n".join(lines).replace("\\\n", " "))
            yield "\n".join(lines)
            lines = []
    assert not lines, f"a command that does not end: {lines}"
