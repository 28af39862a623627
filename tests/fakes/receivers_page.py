"""The applications of docs/receivers.md."""

from typing import Any, Final

from tests.unit.docs.blocks import ROOT, blocks

PAGE: Final = ROOT / "docs" / "receivers.md"

#: What the block of each framework has in it, and no other block.
FRAMEWORKS: Final = {
    "FastAPI": "FastAPI()",
    "Flask": "Flask(",
    "Django": "urlpatterns",
    "Lambda": "handler =",
}


def text_of(part: str) -> str:
    """The one block of Python of the page that has this in it."""
    [found] = [each.text for each in blocks(PAGE, "python") if part in each.text]
    return found


def names_of(framework: str, namespace: str) -> dict[str, Any]:
    """The names that the application of a framework defines, as the receiver of a namespace."""
    names: dict[str, Any] = {"__name__": "app"}
    text = text_of(FRAMEWORKS[framework]).replace('"billing"', repr(namespace))
    exec(compile(text, f"{PAGE.name}: {framework}", "exec"), names)  # noqa: S102 - a page of ours
    return names
