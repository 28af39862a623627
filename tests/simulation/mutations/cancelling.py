"""Errors with a cancel: it is forgotten, or it does not stop the next attempt."""

from collections.abc import Callable
from unittest.mock import patch

from tests.fakes import memory
from tests.simulation.mutations.registry import Broken, everywhere, mutation, together, wrapping

from sweephand.model import run as run_model
from sweephand.model.run import Guard, Run, WriteCondition
from sweephand.runs.callbacks import Callbacks


@mutation("A cancelled run is tried again if its next attempt was on its way")
def claims_what_was_cancelled() -> Broken:
    claim_condition = run_model.claim_condition

    def careless(run: Run, now: int) -> WriteCondition:
        asked = claim_condition(run, now)
        cancelled = Guard(frozenset({"cancelled"}), {}, attempts_below=run.attempts)
        return asked._replace(guards=(*asked.guards, cancelled))

    return together(
        everywhere("claim_condition", careless), patch.object(memory, "claim_condition", careless)
    )


@mutation("The API acknowledges a cancel and writes nothing")
@wrapping(Callbacks, "_end")
def forgets_cancels(
    end: Callable[..., Run], reporter: Callbacks, read: Callable[[], Run], change: Callable[..., Run]
) -> Run:
    is_cancel = "cancel" in change.__qualname__
    return change(read(), None) if is_cancel else end(reporter, read, change)
