"""The table of docs/concepts.md names every change of a run's state that the stores allow, and no other."""

import re
from typing import Final

from infra.local.places import ROOT

from sweephand.model.run import TRANSITIONS

_ROW: Final = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)


def test_the_life_of_a_trigger_is_the_one_that_the_stores_allow() -> None:
    section = (ROOT / "docs" / "concepts.md").read_text().partition("## The life of a trigger")[2]
    told = {state: set(re.findall(r"`(\w+)`", follows)) for state, follows in _ROW.findall(section)}
    assert told == {state: set(row) - {state} for state, row in TRANSITIONS.items()}
