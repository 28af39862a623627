"""The tables of docs/reliability.md name each mutation, and what catches it."""

import re
from pathlib import Path
from typing import Final

from tests.simulation.mutations.search import MUTATIONS, known
from tests.simulation.mutations.table import MASKED_HEAD

PAGE: Final = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text("utf-8")


def rows(head: str) -> dict[str, tuple[str, str]]:
    """The table below that line of titles: by the first cell of each row, the other two."""
    _, found, rest = PAGE.partition(head)
    assert found, f"the page has no table {head}"
    table, _, _ = rest.partition("\n\n")
    cells = re.findall(r"^\| (.+?) \| (.*?) ?\| (.+) \|$", table, re.MULTILINE)
    assert len({first for first, _, _ in cells}) == len(cells), "a mutation has two rows"
    return {first: (second, third) for first, second, third in cells}


def test_the_table_names_what_catches_each_mutation() -> None:
    seeds = known()
    expected = {}
    for name, each in MUTATIONS.items():
        if each.shown_by is not None:
            _, _, test = each.shown_by.rpartition("::")
            expected[each.says] = ("", f"the unit test `{test}` fails")
        elif each.masked_by is None:
            expected[each.says] = (str(seeds[name]), "")
    found = {
        says: (seed, "" if seed else complaint)
        for says, (seed, complaint) in rows(
            "| mutation | a seed that catches it | its complaint |\n|---|---|---|"
        ).items()
    }
    assert found == expected


def test_the_table_of_masked_mutations_names_what_masks_each() -> None:
    found = {says: masked_by for says, (masked_by, _) in rows(MASKED_HEAD).items()}
    masked = {each.says: each.masked_by for each in MUTATIONS.values() if each.masked_by is not None}
    assert found == masked
