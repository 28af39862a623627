"""Builds the site of the documentation.

    make docs

Sphinx writes the pages. The Markdown of each lies beside it.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from infra.local.places import LOCAL, ROOT
from infra.site import diagrams
from infra.site.contents import contents
from infra.site.pages import INDEX, Page, SiteError, navigation, parent
from infra.site.sections import Section, sections

from sweephand.web.operations import description
from sweephand_client.commands.docs import SITE

_WORK: Final = ROOT / "build" / "docs"
#: Where Sphinx builds. What is there becomes the site once it is whole.
_BUILT: Final = _WORK / "built"
_SOURCE: Final = _WORK / "source"
_DRAWINGS: Final = _WORK / "diagrams"
_SPHINX: Final = LOCAL / "venvs" / "docs" / "bin" / "sphinx-build"
_CONFIGURATION: Final = ROOT / "infra" / "site" / "sphinx"
_MINISEARCH: Final = LOCAL / "docs" / "minisearch.js"

#: What tells Sphinx the page before another one and the page after it.
_HIDDEN: Final = "\n```{{toctree}}\n:hidden:\n\n{}\n```\n"


def build(site: Path) -> None:
    """Write the site into a folder. SiteError says what is wrong with the pages.

    The folder has the site before, or the whole new one.
    """
    tree = contents(json.loads(description()))
    found = tree.pages
    diagrams.draw((page.text for page in found.values()), _DRAWINGS)
    _write_source(found)
    _copy(tree.files, _SOURCE)
    shutil.rmtree(_BUILT, ignore_errors=True)
    _run_sphinx()
    _copy(tree.files, _BUILT)
    for page in found.values():
        (_BUILT / page.place).write_text(page.text, encoding="utf-8")
    (_BUILT / "llms.txt").write_text(_llms(found), encoding="utf-8")
    static = _BUILT / "_static"
    shutil.copy(_MINISEARCH, static / "minisearch.js")
    (static / "sections.js").write_text(_sections(found), encoding="utf-8")
    # Sphinx's own index, and what only developers of Sphinx need.
    for name in ("searchindex.js", "objects.inv", ".buildinfo"):
        (_BUILT / name).unlink()
    for path in static.rglob("*.map"):
        path.unlink()
    shutil.rmtree(site, ignore_errors=True)
    _BUILT.rename(site)


def _write_source(found: Mapping[str, Page]) -> None:
    """Write what Sphinx reads: the pages with drawings, and the navigation."""
    below = {place: [each for each in found if parent(each) == place] for place in found}
    listed = navigation(found[INDEX])
    tops = {heading: [each for each in places if parent(each) is None] for heading, places in listed.items()}
    below[INDEX] = list(chain.from_iterable(tops.values()))
    shutil.rmtree(_SOURCE, ignore_errors=True)
    for place, page in found.items():
        text = diagrams.with_drawings(page.text, _DRAWINGS)
        if below[place]:
            text += _HIDDEN.format("\n".join(below[place]))
        path = _SOURCE / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = {
        heading: {_name(each): [_name(inner) for inner in below[each]] for each in places}
        for heading, places in tops.items()
    }
    (_SOURCE / "navigation.json").write_text(json.dumps(names), encoding="utf-8")


def _name(place: str) -> str:
    """How Sphinx calls a page."""
    return place.removesuffix(".md")


def _copy(files: Mapping[str, Path], folder: Path) -> None:
    for place, path in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / place)


def _run_sphinx() -> None:
    options = ("--quiet", "--fail-on-warning", "--keep-going", "--fresh-env", "--jobs=2")
    folders = ("-d", _WORK / "doctrees", "-c", _CONFIGURATION, _SOURCE, _BUILT)
    done = subprocess.run([_SPHINX, *options, *folders], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SiteError(f"Sphinx failed\n{done.stdout}{done.stderr}")


def _llms(found: Mapping[str, Page]) -> str:
    """What llms.txt says: each page that the index names, by the heading of the index."""
    lines = [
        "# Sweephand",
        "",
        "> A job scheduler that runs in your own AWS account. These are its pages as Markdown.",
    ]
    for heading, purposes in navigation(found[INDEX]).items():
        lines += ["", f"## {heading}", ""]
        lines += [f"- [{found[place].title}]({place}): {purpose}" for place, purpose in purposes.items()]
    return "\n".join(lines) + "\n"


def _sections(found: Mapping[str, Page]) -> str:
    """What search.js searches. The first section of a page has the purpose that the index says."""
    purposes = {place: text for each in navigation(found[INDEX]).values() for place, text in each.items()}
    rows = [
        (_name(place), page.title, section.anchor, *_plain(section, purposes.pop(place, "")))
        for place, page in found.items()
        if place != INDEX
        for section in sections((_BUILT / place).with_suffix(".html").read_text(encoding="utf-8"))
    ]
    return f"const SECTIONS = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def _plain(section: Section, purpose: str) -> Iterator[str]:
    yield from (" ".join(text.split()) for text in (section.heading, section.text, purpose))


def main() -> int:
    """The exit code: 0, or 1 with a sentence that says what to do."""
    try:
        build(ROOT / SITE)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(SITE / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
