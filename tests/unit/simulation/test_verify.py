"""`make verify` runs seeds of each kind of world that the simulators have."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

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
