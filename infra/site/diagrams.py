"""Draws the Mermaid diagrams of pages as SVG, for light and for dark screens."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from infra import chromium
from infra.local.places import LOCAL
from infra.site.pages import SiteError
from playwright.sync_api import Error, Page

#: Mermaid in one file, without the kinds of diagrams that are large (requirements/docs.json).
MERMAID: Final = LOCAL / "docs" / "mermaid.js"

#: The themes of Mermaid, by the class of Furo that shows each: its name, the colour of Furo's paper, and
#: colours for the lines of a chart, all of which are seen on that paper.
_THEMES: Final = {
    "only-light": ("neutral", "#fff", "#0b57a4,#b45309,#15803d,#86198f"),
    "only-dark": ("dark", "#131416", "#82b8f5,#f0bf74,#7fd6ad,#e9a8f0"),
}

#: A wide drawing shrinks to the column, but not below this part of its width: its words stay readable.
_SHRINKS_TO: Final = 0.6

_DIAGRAM: Final = re.compile(r"^```mermaid\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)

_START: Final = """([theme, paper, plotColorPalette]) => mermaid.initialize({
    startOnLoad: false, securityLevel: "strict", theme, fontFamily: "system-ui, sans-serif",
    themeVariables: { fontSize: "15px", edgeLabelBackground: paper, xyChart: { plotColorPalette } },
})"""
_DRAW: Final = "async ([name, text]) => (await mermaid.render(name, text)).svg"


def draw(texts: Iterable[str], folder: Path) -> None:
    """Draw the diagrams of these pages that the folder does not have yet.

    SiteError if a diagram has an error, and if there is no Chromium.
    """
    wanted = {found for text in texts for found in _DIAGRAM.findall(text)}
    missing = sorted(each for each in wanted if not all(path.exists() for path in _files(folder, each)))
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        for path, svg in _drawn(missing, folder):
            path.write_text(svg, encoding="utf-8")


def with_drawings(text: str, folder: Path) -> str:
    """Markdown whose diagrams are the drawings of the folder."""

    def shown(found: re.Match[str]) -> str:
        drawings = zip(_THEMES, _files(folder, found[1]), strict=True)
        blocks = (
            f'<div class="diagram {kind}">{path.read_text(encoding="utf-8")}</div>' for kind, path in drawings
        )
        # A blank line would end a block of HTML.
        return re.sub(r"\n\s*\n", "\n", "\n".join(blocks)) + "\n"

    return _DIAGRAM.sub(shown, text)


def _files(folder: Path, diagram: str) -> list[Path]:
    """The drawings of a diagram. Their names change with the diagram, and with how it is drawn."""
    drawn = f"{diagram}{_START}{_THEMES}{_SHRINKS_TO}{MERMAID.stat().st_size}"
    digest = sha256(drawn.encode()).hexdigest()[:12]
    return [folder / f"{digest}-{theme}.svg" for theme, *_ in _THEMES.values()]


def _drawn(diagrams: Iterable[str], folder: Path) -> Iterator[tuple[Path, str]]:
    program = chromium.found()
    if program is None:
        raise SiteError(f"Chromium, which draws the diagrams, is not installed: {chromium.INSTALL}")
    with chromium.running(program) as browser:
        page = browser.new_page()
        page.add_script_tag(path=MERMAID)
        for number, theme in enumerate(_THEMES.values()):
            page.evaluate(_START, list(theme))
            for diagram in diagrams:
                path = _files(folder, diagram)[number]
                yield path, _svg(page, path.stem, diagram)


def _svg(page: Page, name: str, diagram: str) -> str:
    try:
        # The id of an element begins with a letter.
        svg = str(page.evaluate(_DRAW, [f"d{name}", diagram]))
    except Error as error:
        raise SiteError(f"Mermaid cannot draw this diagram: {error.message}\n{diagram}") from error
    return re.sub(
        r"max-width: ([\d.]+)px;",
        lambda found: f"{found[0]} min-width: {float(found[1]) * _SHRINKS_TO:.0f}px;",
        svg,
        count=1,
    )
