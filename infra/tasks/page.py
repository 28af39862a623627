"""The table of the tasks on docs/console.md."""

from collections.abc import Mapping, Sequence
from typing import Final

from infra.local.places import ROOT
from infra.tasks.results import TASKS, count
from infra.tasks.steps import Place, Task, Where

PAGE: Final = ROOT / "docs" / "console.md"

HEADING: Final = "## Twenty tasks"

_INTRODUCTION: Final = (
    "How many programs a shell calls for a task, and how many clicks, choices and texts the console takes, "
    "from the overview on: at the commit `086fb506`, and now. `python -m infra.tasks` performs each way on "
    "`sweephand dev`, checks what came of it, and writes this table."
)

_HEAD: Final = ("task", "commands before", "now", "steps before", "now")

_WHERE: Final[Sequence[Where]] = ("commands", "clicks")
_PLACES: Final[Sequence[Place]] = [(where, is_now) for where in _WHERE for is_now in (False, True)]


def rendered(page: str, performed: Mapping[str, Mapping[str, str]]) -> str:
    """The page with its table as it was performed. The section ends at the next heading, or with the page."""
    begin, _, rest = page.partition(HEADING)
    _, mark, after = rest.partition("\n## ")
    section = f"{HEADING}\n\n{_INTRODUCTION}\n\n{table(performed)}\n\n{_notes(performed)}\n"
    return f"{begin}{section}{mark}{after}" if mark else begin + section


def table(performed: Mapping[str, Mapping[str, str]]) -> str:
    """The rows of the tasks, and their sums."""
    rows = [[task.name, *(_cell(performed, task, place) for place in _PLACES)] for task in TASKS]
    lines = [_HEAD, ["---", *(["---:"] * len(_PLACES))], *rows, ["**in sum**", *_sums(performed)]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _cell(performed: Mapping[str, Mapping[str, str]], task: Task, place: tuple[Where, bool]) -> str:
    way = task.ways()[place]
    if not way.exists:
        return "-"
    found = count(performed, task, place)
    return "not performed" if found is None else str(found)


def _sums(performed: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The sums over the tasks that could be done before and can be done now, in the same place."""
    found: list[str] = []
    for where in _WHERE:
        counts = [[count(performed, task, (where, is_now)) for is_now in (False, True)] for task in TASKS]
        both = [pair for pair in counts if None not in pair]
        found += [str(sum(pair[at] or 0 for pair in both)) for at in (0, 1)]
    return found


def _notes(performed: Mapping[str, Mapping[str, str]]) -> str:
    """What a dash stands for, and how many tasks are new."""
    new = [
        sum(
            not task.ways()[where, False].exists and count(performed, task, (where, True)) is not None
            for task in TASKS
        )
        for where in _WHERE
    ]
    return (
        "A dash stands for what cannot be done there, or only one thing after the other. The sums count the "
        f"tasks that both commits can do. {new[0]} tasks are new in the command line, and {new[1]} in the "
        "console."
    )
