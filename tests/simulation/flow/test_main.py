"""The command that runs seeds ends with an error if a seed has a complaint."""

from collections.abc import Iterator

import pytest
from tests.simulation.flow import __main__ as command
from tests.simulation.flow.many import Outcome


@pytest.mark.parametrize(("complaints", "code"), [({}, 0), ({"lost": 2}, 1)])
def test_the_command_ends_with_one_if_a_seed_has_a_complaint(
    complaints: dict[str, int], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcomes(seeds: range, *_: object) -> Iterator[Outcome]:
        return (Outcome(seed, {"triggers": 1}, complaints if seed == 8 else {}) for seed in seeds)

    monkeypatch.setattr(command, "outcomes", outcomes)
    monkeypatch.setattr("sys.argv", ["flow", "--first", "7", "--seeds", "3"])
    assert command.main() == code
