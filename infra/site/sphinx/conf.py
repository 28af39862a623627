"""How Sphinx builds the site. `python -m infra.site` writes what it reads, and starts it."""

import json
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_HERE = Path(__file__).parent

project = "Sweephand"
root_doc = "index"
extensions = ["myst_parser"]
# The anchors of headings are those of GitHub.
myst_heading_anchors = 4
# Pygments knows neither crontabs nor the ellipsis in Python. Alarms are small headings on purpose.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
templates_path = [str(_HERE / "templates")]
pygments_style = "default"
html_theme = "furo"
html_title = "Sweephand"
html_static_path = [str(_HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [(each, {"defer": "defer"}) for each in ("keys.js", "tabs.js")]
html_theme_options = {"top_of_page_buttons": ["view"]}
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_permalinks_icon = "#"


def setup(app: Sphinx) -> None:
    """Make the navigation in less time."""
    app.connect("html-page-context", _use_navigation, priority=400)  # before Furo's, which has 500


def _use_navigation(app: Sphinx, pagename: str, _: str, context: dict[str, Any], __: Any) -> None:
    """Give Furo the navigation as Sphinx writes it.

    For each page Sphinx copies the headings of all pages, which takes half of a build.
    """
    listed: dict[str, dict[str, list[str]]] = json.loads(
        (Path(app.srcdir) / "navigation.json").read_text("utf-8")
    )

    def item(place: str, below: list[str]) -> str:
        is_current = pagename == place or pagename in below
        inner = f"<ul>{''.join(item(each, []) for each in below)}</ul>" if below else ""
        title = escape(app.env.titles[place].astext())
        link = f'<a class="reference internal" href="{context["pathto"](place)}">{title}</a>'
        return f'<li class="toctree-l1{" current" * is_current}">{link}{inner}</li>'

    context["toctree"] = lambda **_: "".join(
        f'<p class="caption"><span class="caption-text">{escape(heading)}</span></p>'
        f"<ul>{''.join(item(*each) for each in places.items())}</ul>"
        for heading, places in listed.items()
    )
