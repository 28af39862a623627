"""The command prints a row for each mutation, and docs/promises.md says how many there are."""

import re
from pathlib import Path
from typing import Final

from tests.models.mutations import MUTATIONS as OF_MODELS
from tests.models.other_mutations import CLOSING_MUTATIONS
from tests.simulation.flow.caught import CAUGHT, SHOWN
from tests.simulation.flow.mutations import MUTATIONS as OF_GATES
from tests.simulation.mutations.search import MUTATIONS, known
from tests.simulation.mutations.table import known_tables

PAGE: Final = (Path(__file__).parents[3] / "docs" / "promises.md").read_text("utf-8")


def test_a_complaint_is_kept_with_each_seed() -> None:
    assert [name for name, each in known().items() if not each.complaint] == []


def test_each_mutation_has_one_row_with_what_catches_or_masks_it() -> None:
    rows = re.findall(r"^\| (.+?) \| .+ \|$", known_tables(), re.MULTILINE)
    heads = ["mutation", "masked mutation", "mutation of gates"]
    assert sorted(rows) == sorted([*heads, *(each.says for each in MUTATIONS.values()), *OF_GATES])


def test_the_page_says_how_many_mutations_there_are_and_what_catches_them() -> None:
    shown, masked = (
        sum(cell is not None for cell in cells)
        for cells in zip(*((each.shown_by, each.masked_by) for each in MUTATIONS.values()), strict=True)
    )
    masked_models = sum(bool(each.masked_by) for each in OF_MODELS)
    rows = {
        "tests/simulation/mutations": (len(MUTATIONS) - shown - masked, shown, masked),
        "tests/simulation/flow": (len(CAUGHT), len(SHOWN), 0),
        "tests/models": (len(OF_MODELS) - masked_models + len(CLOSING_MUTATIONS), 0, masked_models),
    }
    for folder, counts in rows.items():
        cells = " | ".join(map(str, (sum(counts), *counts)))
        assert f"| `{folder}` | {cells} |" in PAGE
