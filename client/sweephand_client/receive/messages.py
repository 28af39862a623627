"""Does the work of a delivery that has no answer by HTTP: a message of a queue, or an event."""

from typing import Any

from sweephand_client.http.errors import ConflictError, GoneError
from sweephand_client.receive.outcomes import ACCEPTED, FinalError, Gone
from sweephand_client.receive.receiver import Answer, Receiver
from sweephand_client.receive.run import Run


class NotDoneError(Exception):
    """A message was not done: nobody handles it, or another process works on it."""


def perform(receiver: Receiver, run: Run) -> Any:
    """What the handler has returned, None for a duplicate.

    With `"completion": "async"`, callbacks say how the work ended. Else an error is raised, so that the queue
    or Lambda tries again.
    """
    work = receiver.claimed(run)
    if isinstance(work, Answer):
        if work.body:
            _fail(receiver, run, NotDoneError(work.body.decode()))
        return None
    try:
        returned = work.done()
        if returned is None and run.token is not None and not run.is_reported:
            run.complete()
        receiver.settled(work, returned)
    except Exception as error:  # noqa: BLE001 - a callback tells of it, or it is raised
        receiver.failed(work, error)
        _fail(receiver, run, error)
        return None
    except BaseException:
        receiver.release(work)
        raise
    return None if returned is ACCEPTED else returned


def _fail(receiver: Receiver, run: Run, error: Exception) -> None:
    """Tell of the error by a callback, or raise it."""
    if run.token is None:
        raise error
    try:
        run.fail(receiver.reason(error), retry=not isinstance(error, FinalError | Gone))
    except (GoneError, ConflictError):
        receiver.log.warning("%s of %s is over.", run.run_id, run.job)
