"""`make verify` runs seeds of each kind of world that the simulators have, and all of what is sampled."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.conftest import outside_of_sample
from tests.simulation import workload
from tests.simulation.flow.many import KINDS
from tests.simulation.world import faults

MAKEFILE: Final = (Path(__file__).parents[3] / "Makefile").read_text("utf-8")


def listed(name: str) -> list[str]:
    """The words of a variable of the Makefile."""
    [line] = [each for each in MAKEFILE.splitlines() if each.startswith(f"{name} := ")]
    return line.partition(" := ")[2].split()


def test_it_begins_at_the_first_seed_of_each_kind_of_world() -> None:
    modules = [import_module(f"{workload.__name__}.{each.name}") for each in iter_modules(workload.__path__)]
    firsts = {
        value
        for module in (faults, *modules)
        for name, value in vars(module).items()
        if name.startswith("FIRST_") and isinstance(value, int)
    }
    assert sorted(map(int, listed("WORLDS"))) == sorted({0} | firsts)


def test_it_runs_each_kind_of_world_with_one_policy() -> None:
    assert listed("FLOW_WORLDS") == list(KINDS)


def test_it_runs_every_case_that_is_sampled() -> None:
    assert "SWEEPHAND_WHOLE=1 $(IN_VENV)/python -m pytest -m sampled" in MAKEFILE
    assert "SWEEPHAND_SAMPLE" not in MAKEFILE


@pytest.mark.parametrize(("parts", "cases"), [(1, 4), (2, 1), (3, 7), (6, 86)])
def test_as_many_samples_as_there_are_parts_have_each_case_once(parts: int, cases: int) -> None:
    def case(name: str, *marks: Any) -> Any:
        return SimpleNamespace(path=Path("test_long.py"), name=name, get_closest_marker=dict(marks).get)

    sampled = [
        case(f"case {number}", ("sampled", pytest.mark.sampled(parts).mark)) for number in range(cases)
    ]
    items = [case("short"), *sampled]
    ran = [
        each.name
        for number in range(40, 40 + parts)
        for each in items
        if each not in list(outside_of_sample(items, number))
    ]
    assert sorted(ran) == sorted(["short"] * parts + [each.name for each in sampled])
