"""What may be wrong with bundles: acknowledging, splitting, reading and waiting."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, together, wrapping

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model import wire
from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, OtherMessage, TriggerMessage
from sweephand.runs.delivery import Delivery, JobRead
from sweephand.runs.due_queue import Pending, ReadGroup
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, Outcome, Received


def _opening(change: Callable[[Intake, Received, BundleMessage], Handled | None]) -> Broken:
    """Before a bundle is opened or sent again whole, `change` may deal with it."""
    whole = Intake._whole

    def changed(handler: Intake, received: Received, bundle: BundleMessage) -> Handled | None:
        return change(handler, received, bundle) or whole(handler, received, bundle)

    return patch.object(Intake, "_whole", changed)


@mutation("A bundle is acknowledged before its triggers are settled")
def acknowledges_bundles_first() -> Broken:
    def acknowledge(handler: Intake, received: Received, _: BundleMessage) -> None:
        handler._queue.acknowledge([received.receipt])

    return _opening(acknowledge)


@mutation("A bundle that is received again is not split, so a poison trigger ends the others too")
@wrapping(Intake, "_whole")
def splits_no_bundle(
    whole: Callable[..., Handled | None], handler: Intake, received: Received, bundle: BundleMessage
) -> Handled | None:
    return whole(handler, received._replace(receives=1), bundle)


@mutation(
    "The triggers of a bundle that is received again lose their counts of crashes",
    shown_by="tests/unit/runs/test_bundles.py::"
    "test_a_bundle_that_comes_again_is_split_with_its_crashes_before_anything_else",
)
def forgets_crashes_of_bundles() -> Broken:
    return everywhere("singles_of", lambda bundle, _: list(bundle.triggers))


@mutation("The triggers of a bundle are delivered when the first of them is due")
@wrapping(wire, "read_bundle")
def delivers_bundles_at_once(read: Callable[..., BundleMessage], fields: Any) -> BundleMessage:
    bundle = read(fields)
    return BundleMessage(tuple(each._replace(not_before=bundle.not_before) for each in bundle.triggers))


@mutation("The jobs of a bundle are read once, when it arrives")
def reads_jobs_once_for_a_bundle() -> Broken:
    work, read_jobs = Pending.work, ReadGroup._read
    last_at: dict[ReadGroup, Instant] = {}

    def takes(group: ReadGroup, due_at: Instant) -> bool:
        last_at[group] = due_at
        return True

    def read_early(group: ReadGroup) -> Mapping[JobKey, JobRead]:
        group._first_at -= MINUTE_MS
        reads = read_jobs(group)
        # To every check of its age the read is as young as the last trigger needs it.
        return {key: JobRead(read.job, max(read.at, last_at.get(group, 0))) for key, read in reads.items()}

    def wait(pending: Pending, deadline: Instant) -> Delivery | OtherMessage:
        found = work(pending, deadline)
        if pending.group is not None and isinstance(pending.message, TriggerMessage):
            pending.group._clock.wait_until(pending.message.not_before)
        return found

    return together(
        patch.object(ReadGroup, "takes", takes),
        patch.object(ReadGroup, "_read", read_early),
        patch.object(Pending, "work", wait),
    )


@mutation("A trigger that waits too long for a thread is not sent to another function")
@replacing(Intake, "_send_late")
def drops_what_gets_no_thread(_: Intake, late: Sequence[Pending]) -> list[Handled]:
    return [Handled(each.received, Outcome("postponed")) for each in late]
