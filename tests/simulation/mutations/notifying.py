"""Errors with notifications: of which ends they are sent, when, and under which ids."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.delivering import _at_the_end
from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping,
)

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.trigger import Message, NotifyMessage, Trigger, end_id
from sweephand.runs import notification, notify
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.deadlines import Deadlines
from sweephand.runs.follow_up import FollowUp
from sweephand.runs.received import Outcome


def _notifying(change: Callable[[Sequence[tuple[Message, int]]], Sequence[tuple[Message, int]]]) -> Broken:
    """Change what delivery functions send."""

    def careless(ports: Ports) -> None:
        queue = ports["queue"]

        def send(messages: Sequence[tuple[Message, int]]) -> None:
            left = change(messages)
            if left:
                queue.send(left)

        ports["queue"] = Instead(queue, send=send)

    return built(FollowUp, careless)


@mutation("The end of a run that was given up is not notified")
def notifies_of_no_failure() -> Broken:
    def passed(messages: Sequence[tuple[Message, int]]) -> Sequence[tuple[Message, int]]:
        return [each for each in messages if getattr(each[0], "state", None) != "failed"]

    return _notifying(passed)


@mutation("The end of a run is recorded before its notification is sent")
def records_before_notifying() -> Broken:
    put_off = Deferred()

    def change(ports: Ports) -> None:
        runs: Any = ports["runs"]
        queue: Any = ports.get("queue")

        def then(write: Callable[..., bool]) -> Callable[..., bool]:
            def written(*args: Any) -> bool:
                is_written = write(*args)
                put_off.make()
                return is_written

            return written

        def send(messages: Sequence[tuple[Message, int]]) -> None:
            is_late = any(isinstance(message, NotifyMessage) for message, _ in messages)
            (put_off.of(queue.send) if is_late else queue.send)(messages)

        ports["runs"] = Instead(runs, record=then(runs.record), move=then(runs.move))
        if queue is not None:
            ports["queue"] = Instead(queue, send=send)

    return together(
        built(FollowUp, change), built(Deadlines, change), built(Callbacks, change), _at_the_end(put_off)
    )


@mutation("Each copy of a notification has another id")
def renames_ends() -> Broken:
    numbers = count()

    def named(*args: Any) -> str:
        return f"{end_id(*args)}-{next(numbers)}"

    return everywhere("end_id", named)


@mutation("A notification is sent before the end of its run is recorded")
def notifies_too_early() -> Broken:
    return patch.object(notify, "is_recorded", lambda *_: True)


@mutation("A notification is dropped if the end of its run is not recorded yet")
def notifies_only_at_once() -> Broken:
    return patch.object(notify.Notifier, "_unrecorded", lambda *_: Outcome("dropped"))


@mutation("A chained trigger's id is made of the instant at which it was sent")
@replacing(notify, "Trigger")
def names_chains_by_their_moment(key: JobKey, uid: str, rev: str, _: Instant, **fields: Any) -> Trigger:
    return Trigger(key, uid, rev, fields["armed_at"], **fields)


@mutation(
    "A failure without a record is notified at once, as a success is",
    shown_by="tests/unit/runs/test_notify.py::test_no_notification_is_delivered_of_a_failure_that_was_not_recorded",
)
def notifies_unrecorded_failures() -> Broken:
    return patch.object(
        notify, "is_recorded", lambda told, run: run is None or notification.is_recorded(told, run)
    )


@mutation(
    "The time for which a notification waits for its end's record counts from that end",
    shown_by="tests/unit/runs/test_notify.py::test_a_notification_of_an_end_of_minutes_ago_waits_for_the_record_too",
)
@wrapping(notify.Notifier, "_unrecorded")
def waits_from_the_end_on(
    unrecorded: Callable[..., Outcome], self: notify.Notifier, message: NotifyMessage
) -> Outcome:
    return unrecorded(self, message._replace(not_before=message.ended_at))
