"""How clients cancel, complete and redrive: they look at a job's runs, choose one, and ask."""

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulation.traces.trace import RunAsked, Verb

from sweephand.model.run import Run, State
from sweephand.runs.flagged_list import RunFilter

if TYPE_CHECKING:
    from tests.simulation.workload.verbs import Request

#: The number of runs that a client looks at before it chooses.
_LISTED_MAX = 20


def cancel(request: "Request") -> None:
    """Cancel a run that is not over, if the client sees one."""
    run = _chosen(request, ("running", "retrying", "claimed"))
    if run is not None:
        asked = _asked(request, "cancel", run)
        request.chronicle.of_run(
            asked, lambda: request.api.callbacks.cancel(request.key, run.run_id, "client")
        )


def complete(request: "Request") -> None:
    """Report a run as complete without a token, as a key with the role `write` may."""
    run = _chosen(request, ("running",))
    if run is not None:
        asked = replace(_asked(request, "complete", run), attempt=None)
        reporter = request.api.callbacks
        request.chronicle.of_run(asked, lambda: reporter.complete(request.key, run.run_id, None))


def redrive(request: "Request") -> None:
    """Redrive a run that was given up, if the client sees one."""
    run = _chosen(request, ("failed",))
    if run is not None:
        asked = _asked(request, "redrive", run)
        request.chronicle.of_run(asked, lambda: request.api.redriver.redrive(request.key, run.run_id))


def redrive_many(request: "Request") -> None:
    """Redrive all runs that were given up, of the jobs whose names begin as this one does."""

    def ask() -> None:
        wanted = RunFilter(request.key.namespace, prefix=request.key.name)
        after: str | None = ""
        while after is not None:
            after = request.api.bulk_runs.redrive(wanted, after).reached

    request.chronicle.figures["of runs"] += 1
    now = request.chronicle.now()
    request.chronicle.of_run(RunAsked(now, "redrive many", request.key.name), ask)


def _chosen(request: "Request", states: tuple[State, ...]) -> Run | None:
    page = request.api.runs.page(request.key, None, "", _LISTED_MAX)
    found = [run for run in page.items if run.state in states]
    return request.random.choice(found) if found else None


def _asked(request: "Request", verb: Verb, run: Run) -> RunAsked:
    request.chronicle.figures["of runs"] += 1
    return RunAsked(request.chronicle.now(), verb, run.key.name, run.uid, run.run_id, run.attempts)
