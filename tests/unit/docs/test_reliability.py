"""docs/reliability.md names checks and tests that there are, and the worlds that `make verify` runs."""

import re
from typing import Final

from infra.local.places import ROOT
from tests.simulation.oracle.oracle import CHECKS
from tests.unit.simulation.test_verify import listed

PAGE: Final = (ROOT / "docs" / "reliability.md").read_text("utf-8")


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


def test_each_promise_names_tests_that_there_are() -> None:
    for promise, held in [*CHECKED, *OTHERS]:
        named = [each.split("::") for each in re.findall(r"`(tests/\w[^` ]+)`", held)]
        assert named, promise
        for path, *names in named:
            assert (ROOT / path).exists(), path
            assert not names or f"\ndef {names[0]}(" in (ROOT / path).read_text("utf-8"), names


def test_the_list_of_worlds_is_that_of_the_long_proofs() -> None:
    firsts = re.findall(r"^- (\d+): ", section("### The simulator"), re.MULTILINE)
    assert firsts == listed("WORLDS")
