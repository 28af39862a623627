"""docs/promises.md names checks, tests and commands that there are, and the worlds of `make verify`."""

import re
from importlib.util import find_spec
from typing import Final

import pytest
from infra.local.places import ROOT
from tests.simulation.oracle.oracle import CHECKS
from tests.unit.simulation.test_verify import MAKEFILE, listed

PAGE: Final = (ROOT / "docs" / "promises.md").read_text("utf-8")


def section(heading: str) -> str:
    """The text below a heading, up to the next one."""
    return PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]


def promises(text: str) -> list[tuple[str, str]]:
    """The items of a list: each promise, and what holds it."""
    found = [re.fullmatch(r"- \*\*(.+)\*\*: (.+)", line) for line in text.splitlines() if line[:2] == "- "]
    assert found
    assert None not in found
    return [(each[1], each[2]) for each in found if each]


CHECKED, OTHERS = map(promises, section("## The promises").split("\n\nThese promises have no check"))


def test_each_promise_names_checks_that_there_are() -> None:
    checks = {f"{each.__module__.rpartition('.')[2]}.{each.__name__}" for each in CHECKS}
    for promise, held in CHECKED:
        found = re.findall(r"`(\w+\.\w+)`", held.partition(" (")[0])
        assert found, promise
        assert set(found) <= checks, promise


def ids_in(text: str) -> list[str]:
    """The files, folders and tests that a text names."""
    return re.findall(r"`(tests/\w[^` ]+)`", text)


def test_each_promise_names_a_test() -> None:
    for promise, held in [*CHECKED, *OTHERS]:
        assert ids_in(held), promise


@pytest.mark.parametrize("named", sorted(set(ids_in(PAGE))))
def test_each_test_of_the_page_is_there(named: str) -> None:
    path, *names = named.split("::")
    assert (ROOT / path).exists()
    assert not names or f"\ndef {names[0]}(" in (ROOT / path).read_text("utf-8")


def test_each_command_of_the_page_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", PAGE)) <= targets
    assert set(re.findall(r"\bFIRST=(\d+)", PAGE)) <= set(listed("WORLDS"))
    modules = re.findall(r"-m ([\w.]+)", PAGE)
    assert modules
    for module in modules:
        assert find_spec(module) is not None, module


def test_the_list_of_worlds_is_that_of_the_long_proofs() -> None:
    firsts = re.findall(r"^- (\d+): ", section("### The simulator"), re.MULTILINE)
    assert firsts == listed("WORLDS")
