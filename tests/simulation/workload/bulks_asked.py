"""How clients pause, resume and delete many jobs: they choose them, and ask for page after page."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tests.simulation.traces.trace import Chosen
from tests.simulation.workload.bulks import TEAMS
from tests.simulation.workload.forms import MODES

from sweephand.jobs.bulk import Bulk, BulkResult, Filter

if TYPE_CHECKING:
    from tests.simulation.workload.verbs import Request

#: What is asked for: of whom, and of which jobs.
_Ask: TypeAlias = Callable[[Bulk, Filter], BulkResult]


def pause_many(request: "Request") -> None:
    """Pause those that are chosen."""
    _ask(request, lambda bulk, wanted: bulk.pause(wanted, reason=None, who="client"))


def resume_many(request: "Request") -> None:
    """Resume them, and say now and then what becomes of what fell due."""
    mode = request.random.choice(MODES)
    request.asking.catchup = mode
    _ask(request, lambda bulk, wanted: bulk.resume(wanted, mode=mode, who="client"))


def delete_many(request: "Request") -> None:
    """Delete them."""
    _ask(request, lambda bulk, wanted: bulk.delete(wanted, who="client"))


def _ask(request: "Request", ask: _Ask) -> None:
    """Ask for one page, and keep where the next one begins; after an error it is this one."""
    cursors, number = request.known.cursors, request.number
    prefix, labels = _chosen(request)
    chosen = Chosen(prefix, labels, cursors.get(number, ""))
    wanted = Filter(request.key.namespace, prefix, labels, chosen.after)
    request.chronicle.figures["bulk calls"] += 1

    def counted() -> tuple[int, str | None]:
        done = ask(request.app.bulk, wanted)
        return done.count, done.reached

    reached = request.chronicle.of_many(request.asking, chosen, counted)
    if reached is None:
        cursors.pop(number, None)
    else:
        cursors[number] = reached


def _chosen(request: "Request") -> tuple[str, dict[str, str]]:
    """By the beginning of their names, by a label, or by both: the same at every page."""
    stem = request.key.name.rpartition("-")[0] + "-"
    team = {"team": request.random.choice(TEAMS)}
    if request.bulks.is_at_once:
        return stem, {}
    return request.random.choice(((stem, {}), (stem, {}), ("", team), (stem, team), (request.key.name, {})))
