"""How clients pause, resume and delete many jobs: they choose a filter, and ask for page after page."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tests.simulation.traces.trace import Chosen
from tests.simulation.workload.bulks import TEAMS
from tests.simulation.workload.forms import MODES

from sweephand.jobs.bulk import Bulk, BulkResult
from sweephand.jobs.read import Filter

if TYPE_CHECKING:
    from tests.simulation.workload.verbs import Request

#: An action on one page: of an app, and of a filter.
_Ask: TypeAlias = Callable[[Bulk, Filter], BulkResult]


def pause_many(request: "Request") -> None:
    """Pause the jobs that the filter chooses, some of them until an instant."""
    end = request.pause_end()
    _ask(request, lambda bulk, wanted: bulk.pause(wanted, reason=None, who="client", end=end))


def resume_many(request: "Request") -> None:
    """Resume them. Some of these calls say which misfires fire."""
    mode = request.random.choice(MODES)
    request.asking.catchup = mode
    _ask(request, lambda bulk, wanted: bulk.resume(wanted, mode=mode, who="client"))


def delete_many(request: "Request") -> None:
    """Delete them."""
    _ask(request, lambda bulk, wanted: bulk.delete(wanted, who="client"))


def _ask(request: "Request", ask: _Ask) -> None:
    """Ask for one page, and keep the cursor of the next one. After an error the same page is next."""
    cursors, number = request.known.cursors, request.number
    prefix, labels = _chosen(request)
    chosen = Chosen(prefix, labels, cursors.get(number, ""))
    wanted = Filter(request.key.namespace, prefix, labels, chosen.after)
    request.chronicle.figures["bulk calls"] += 1

    def counted() -> tuple[int, str | None]:
        done = ask(request.api.bulk, wanted)
        return done.count, done.reached

    reached = request.chronicle.of_many(request.asking, chosen, counted)
    if reached is None:
        cursors.pop(number, None)
    else:
        cursors[number] = reached


def _chosen(request: "Request") -> tuple[str, dict[str, str]]:
    """Return the filter: by the beginning of names, by a label, or by both. It is the same for every page."""
    stem = request.key.name.rpartition("-")[0] + "-"
    team = {"team": request.random.choice(TEAMS)}
    if request.bulks.is_at_once:
        return stem, {}
    return request.random.choice(((stem, {}), (stem, {}), ("", team), (stem, team), (request.key.name, {})))
