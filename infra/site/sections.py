"""Reads what the search finds, section by section, in the HTML that Sphinx has written."""

from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
#: What is no text of a page.
_LEFT_OUT: Final = ("svg", "script", "style")


@dataclass(slots=True)
class Section:
    """A section of a page: its anchor, its heading, and its text without the sections within it."""

    anchor: str
    heading: str = ""
    text: str = ""


class _Reader(HTMLParser):
    """Reads the sections of a page. Each is an element of HTML, and some lie within others."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Section] = []
        self._open: list[Section] = []
        self._left_out = 0
        self._is_heading = False
        self._is_permalink = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            section = Section(dict(attrs).get("id") or "")
            self.found.append(section)
            self._open.append(section)
        self._left_out += tag in _LEFT_OUT
        self._is_heading |= tag in _HEADINGS
        self._is_permalink |= ("class", "headerlink") in attrs

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._open.pop()
        self._left_out -= tag in _LEFT_OUT
        self._is_heading &= tag not in _HEADINGS
        self._is_permalink &= tag != "a"

    def handle_data(self, data: str) -> None:
        if not self._open or self._left_out or self._is_permalink:
            return
        if self._is_heading:
            self._open[-1].heading += data
        else:
            self._open[-1].text += data


def sections(html: str) -> list[Section]:
    """The sections of a page, each with its white space as it is."""
    reader = _Reader()
    reader.feed(html)
    return reader.found
