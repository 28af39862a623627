"""The pictures and tables of docs/internals.md and docs/concepts.md agree with the code."""

import re
import tomllib
from typing import Final

from infra.local.places import ROOT

from sweephand.model.run import INITIAL_STATES, OVER_STATES, TRANSITIONS

PAGE: Final = (ROOT / "docs" / "internals.md").read_text("utf-8")
PACKAGE: Final = ROOT / "layers" / "sweephand" / "python" / "sweephand"


def arrows() -> dict[tuple[str, str], set[str]]:
    """The arrows of the state diagram: from where to where, and the ways that label each."""
    _, _, rest = PAGE.partition("```mermaid\nstateDiagram-v2\n")
    picture, fence, _ = rest.partition("```")
    assert fence, "the page has no state diagram"
    found = {}
    for line in picture.splitlines():
        arrow = re.fullmatch(r"    (\S+) --> (\S+?)(?:: (.+))?", line)
        assert arrow, f"a line that is no arrow: {line}"
        found[arrow[1], arrow[2]] = set(arrow[3].split(", ")) if arrow[3] else set()
    return found


def rooms() -> list[str]:
    """The rooms in the page's list, from top to bottom."""
    section = PAGE.partition("## The rooms of the package\n")[2].partition("\n## ")[0]
    return re.findall(r"^- `(\w+)`: ", section, re.MULTILINE)


def rooms_of_the_client() -> list[str]:
    """The rooms in the page's list of the client, from top to bottom."""
    section = PAGE.partition("## The rooms of the client\n")[2].partition("\n## ")[0]
    return re.findall(r"^- `(\w+)`: ", section, re.MULTILINE)


def layers(package: str = "sweephand") -> list[str]:
    """The rooms of a package in the order that import-linter holds."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (order,) = (each["layers"] for each in contracts if each.get("containers") == [package])
    return [room for layer in order for room in layer.split(" | ")]


def test_the_state_diagram_has_the_arrows_of_the_table_and_no_others() -> None:
    drawn = {ends: ways for ends, ways in arrows().items() if "[*]" not in ends}

    assert drawn == {(state, to): set(ways) for state, row in TRANSITIONS.items() for to, ways in row.items()}


def test_the_state_diagram_begins_and_ends_where_the_table_does() -> None:
    assert {to for since, to in arrows() if since == "[*]"} == INITIAL_STATES
    assert {since for since, to in arrows() if to == "[*]"} == OVER_STATES


def test_every_room_is_mapped_in_the_order_of_imports() -> None:
    assert rooms() == layers()


def test_every_room_of_the_client_is_mapped_in_the_order_of_imports() -> None:
    assert rooms_of_the_client() == layers("sweephand_client")


def test_every_room_within_a_room_is_named() -> None:
    inner = {path.parent for path in PACKAGE.glob("*/*/*.py")}
    section = PAGE.partition("## The rooms of the package\n")[2].partition("\n## ")[0]

    assert inner
    for path in inner:
        (row,) = (line for line in section.splitlines() if line.startswith(f"- `{path.parent.name}`: "))
        assert f"`{path.name}`" in row, path


def test_every_module_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE))

    missing = {
        each
        for each in named
        if not each.startswith("tests/") and not (PACKAGE / each.removeprefix("sweephand/")).is_file()
    }
    assert missing == set()


def test_a_module_of_the_package_has_15_to_400_lines() -> None:
    lines = {
        path.relative_to(PACKAGE): len(path.read_text("utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
        if path.name != "__init__.py"
    }

    assert lines
    assert {path: count for path, count in lines.items() if not 15 <= count <= 400} == {}


def test_the_tables_of_items_have_every_kind_of_partition() -> None:
    """A partition key begins with a word and a `#`. Sort keys begin with a time, a number or a name."""
    _, *tables = PAGE.split("| item | pk | sk |\n")
    rows = [row for table in tables for row in table.partition("\n\n")[0].splitlines()[1:]]
    listed = {word for row in rows for word in re.findall(r"`([a-z-]+)#", row.split(" | ")[1])}
    written = {
        word
        for path in (PACKAGE / "storage").glob("*.py")
        for words in re.findall(r'f"([a-z-]+)#|kind = "(\w+)" if .+ else "(\w+)"', path.read_text("utf-8"))
        for word in words
        if word
    }

    assert listed >= {"jobs", "line", "shard"}
    assert written == listed


_ROW: Final = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)


def test_the_life_of_a_trigger_is_the_one_that_the_stores_allow() -> None:
    section = (ROOT / "docs" / "concepts.md").read_text().partition("## The life of a trigger")[2]
    told = {state: set(re.findall(r"`(\w+)`", follows)) for state, follows in _ROW.findall(section)}
    assert told == {state: set(row) - {state} for state, row in TRANSITIONS.items()}
