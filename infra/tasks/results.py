"""What was performed: how many steps each way took, and by which digest of its steps."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infra.tasks.changing import TASKS as CHANGING
from infra.tasks.looking import TASKS as LOOKING
from infra.tasks.running import TASKS as RUNNING
from infra.tasks.steps import Place, Task

TASKS: Final = (*LOOKING, *RUNNING, *CHANGING)

RESULTS: Final = Path(__file__).with_name("results.json")

#: The digests of the ways that were performed, by task and way.
Performed = dict[str, dict[str, str]]


def load() -> Performed:
    """What was performed so far."""
    found: Performed = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def save(performed: Mapping[str, Mapping[str, str]]) -> None:
    """Keep it, in the order of the tasks and without ways that are no more."""
    kept = {
        task.name: {
            named(place): performed[task.name][named(place)]
            for place, way in task.ways().items()
            if way.exists and named(place) in performed.get(task.name, {})
        }
        for task in TASKS
    }
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def named(place: Place) -> str:
    """The name of a way in the file."""
    where, is_now = place
    return where if is_now else f"{where} before"


def count(performed: Mapping[str, Mapping[str, str]], task: Task, place: Place) -> int | None:
    """The steps of a way that was performed as it is; None for one that was not, or that does not exist."""
    way = task.ways()[place]
    is_performed = performed.get(task.name, {}).get(named(place)) == way.digest
    return way.size if way.exists and is_performed else None
