"""The pages of the site: which there are, where each is on the site, and where its links lead there."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from infra.local.places import ROOT

#: The page that the site begins with. It says in which order the other pages come.
INDEX: Final = "index.md"

#: Where the pages are that would not have a good name of their own on the site.
_PLACES: Final = {
    "docs/README.md": INDEX,
    "README.md": "overview.md",
    "SECURITY.md": "security-policy.md",
    "CHANGELOG.md": "changelog.md",
    "client/README.md": "package.md",
    "tests/README.md": "tests.md",
    "docs/decisions/README.md": "decisions.md",
}

_FENCED: Final = re.compile(r"^( *)```.*?^\1```$", flags=re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_TITLE: Final = re.compile(r"^# (.+)$", flags=re.MULTILINE)
#: What is around the purpose of a page in a line of the index.
_PURPOSE: Final = re.compile(r"^- |:? \[.*$")
_SECTION: Final = re.compile(r"^## (.+)$", flags=re.MULTILINE)


class SiteError(Exception):
    """The site cannot be built. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: where it is on the site, and its Markdown with links as they are there."""

    place: str
    text: str

    @property
    def title(self) -> str:
        """The first heading."""
        found = _TITLE.search(self.text)
        if found is None:
            raise SiteError(f"{self.place} has no line that begins with `# `. That line is its title.")
        return found[1].replace("`", "")


@dataclass(frozen=True, slots=True)
class Tree:
    """The pages of a checkout, and the other files that they link to, by their places on the site."""

    pages: dict[str, Page]
    files: dict[str, Path]


def read(root: Path = ROOT) -> Tree:
    """All pages of a checkout. SiteError for a link to a file that does not exist."""
    names = {*_PLACES, *(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))}
    places = {name: _PLACES.get(name, name.removeprefix("docs/")) for name in sorted(names)}
    tree = Tree({}, {})
    for name, place in places.items():
        text = (root / name).read_text(encoding="utf-8")
        tree.pages[place] = Page(place, _relinked(root, name, text, places, tree.files))
    return tree


def navigation(index: Page) -> dict[str, dict[str, str]]:
    """What the index has below each heading: the places of pages, each with what its readers want to do.

    Each line of the index says that of the pages to which it links. A page has its place where it is first.
    """
    _, *parts = _SECTION.split(index.text)
    found: dict[str, dict[str, str]] = {heading: {} for heading in parts[::2]}
    homes: dict[str, dict[str, str]] = {}
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        for line in text.splitlines():
            for place in dict.fromkeys(_LINK.findall(line)):
                home = homes.setdefault(place, found[heading])
                home[place] = "; ".join(filter(None, [home.get(place), _PURPOSE.sub("", line).strip()]))
    return found


def parent(place: str) -> str | None:
    """The page below which the navigation has a page: that with the name of its folder."""
    folder = posixpath.dirname(place)
    return f"{folder}.md" if folder else None


def _relinked(root: Path, name: str, text: str, places: Mapping[str, str], files: dict[str, Path]) -> str:
    """The text of a page with links as they are on the site. Adds the files among them to `files`."""
    here = posixpath.dirname(places[name])

    def led(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[0]))
        place = places.get(target)
        if place is None:
            if not (root / target).is_file():
                raise SiteError(f"{name} links to {found[0]}, which does not exist.")
            place = f"files/{target}"
            files[place] = root / target
        return posixpath.relpath(place, here or ".")

    ends = [0, *(end for block in _FENCED.finditer(text) for end in block.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    # Every second part is a block of code.
    parts[::2] = (_LINK.sub(led, part) for part in parts[::2])
    return "".join(parts)
