"""What is on the site: the pages of the checkout, and the reference of the API."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from infra.local.places import ROOT
from infra.site.pages import INDEX, SiteError, Tree, navigation, parent, read
from infra.site.reference import reference


def contents(document: Mapping[str, Any], root: Path = ROOT) -> Tree:
    """All pages. `document` is the OpenAPI document. SiteError if the index does not lead to a page."""
    tree, resources = read(root), reference(document)
    links = (f"- Calls, fields and answers: [{page.title}]({place})." for place, page in resources.items())
    index = tree.pages[INDEX]
    # On GitHub there is no reference that the index could name.
    complete = replace(index, text="\n".join([index.text, "## Look up a call", "", *links, ""]))
    pages = tree.pages | resources | {INDEX: complete}
    listed = {place for places in navigation(complete).values() for place in places}
    missing = [place for place in pages if place != INDEX and not {place, parent(place)} & listed]
    if missing:
        raise SiteError(f"docs/README.md has no link to {', '.join(missing)}.")
    return replace(tree, pages=pages)
