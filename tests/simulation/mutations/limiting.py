"""Errors of flow policies: slots that are not asked for, kept or freed, and lines that lose triggers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, together, wrapping
from tests.simulation.workload.policies import FIRST_WITH_POLICY

from sweephand.flow.direct_slots import DirectSlots
from sweephand.flow.gates import Gates as FlowGates
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.permit import Permit
from sweephand.model.gate import Gate, GateChange
from sweephand.model.policy import Policy
from sweephand.runs.delivery import Delivery, Stop
from sweephand.runs.flow_intake import LineDelivery
from sweephand.runs.gates import Gates
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled

#: A limit that no seed reaches.
_BOUNDLESS: Final = 1_000


@mutation(
    "The delivery function delivers triggers of a job with a policy without a permit", first=FIRST_WITH_POLICY
)
@wrapping(Gates, "alive")
def asks_for_no_permit(
    alive: Callable[..., Delivery | Stop], self: Gates, delivery: Delivery
) -> Delivery | Stop:
    read = delivery.read
    if delivery.permit is None and read.job is not None:
        written = {name: value for name, value in read.job.definition.written.items() if name != "policy"}
        job = replace(read.job, definition=replace(read.job.definition, written=written))
        delivery = delivery._replace(read=read._replace(job=job))
    return alive(self, delivery)


@mutation("A function opens requests for which it has no slots", first=FIRST_WITH_POLICY)
def counts_no_open_requests() -> Broken:
    return patch.object(HeldSlots, "size", property(lambda _: _BOUNDLESS))


@mutation("An asynchronous run keeps its slot only until its consumer has answered", first=FIRST_WITH_POLICY)
def frees_permits_at_the_answer() -> Broken:
    return patch.object(Permit, "keep", lambda *_: True)


@mutation("Nobody frees the slot of a run that is over", first=FIRST_WITH_POLICY)
def frees_no_permits() -> Broken:
    return everywhere("give_back_of_run", lambda *_: None)


@mutation("Triggers that wait for a policy are put into no line", first=FIRST_WITH_POLICY)
def puts_nothing_into_the_line() -> Broken:
    return patch.object(FlowGates, "enqueue", lambda *_: None)


@mutation("A message is acknowledged before the line of a policy holds its triggers", first=FIRST_WITH_POLICY)
@wrapping(Intake, "_put_into_lines")
def acknowledges_before_the_line_has_it(
    put: Callable[..., list[Handled]], handler: Intake, handled: Sequence[Handled]
) -> list[Handled]:
    lined = [each for each in handled if each.outcome.into is not None]
    handler._queue.acknowledge([each.received.receipt for each in lined])
    return put(handler, handled)


@mutation("A function deletes an entry and does not mark the runs that are over", first=FIRST_WITH_POLICY)
def marks_no_progress_of_entries() -> Broken:
    return patch.object(LineDelivery, "flush", lambda _: None)


@mutation("A trigger that need not wait takes a slot of a full gate", first=FIRST_WITH_POLICY)
def takes_slots_that_are_not_free() -> Broken:
    def boundless(change: GateChange, *_: object) -> GateChange:
        return change

    return together(
        everywhere("with_expired", boundless), patch.object(Gate, "free", lambda _, share, __: share)
    )


@mutation("A trigger whose slot came too late for its attempt is in no line", first=FIRST_WITH_POLICY)
def forgets_triggers_that_keep_waiting() -> Broken:
    def last(_: HeldSlots) -> bool:
        return False

    def forgotten(handler: Intake, slots: DirectSlots, lined: Handled, *rest: Any) -> Handled:
        is_late = patch.object(HeldSlots, "last", property(last))
        with is_late, patch.object(handler, "_put_into_lines", list):
            return deliver(handler, slots, lined, *rest)

    deliver = Intake._deliver_with
    return patch.object(Intake, "_deliver_with", forgotten)


@mutation("A delivery function gives a slot back before its request is over", first=FIRST_WITH_POLICY)
def gives_slots_back_early() -> Broken:
    def early(slots: DirectSlots) -> Permit | None:
        if (permit := take(slots)) is not None:
            slots._slots.give_back(1)
            slots._gates.leave(slots._slots.name, 1)
        return permit

    take = DirectSlots.take
    kept = patch.object(DirectSlots, "_give_back_idle", lambda _: None)
    return together(patch.object(DirectSlots, "take", early), kept)


@mutation(
    "A delivery function keeps the slots that it took",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/flow/test_direct_slots.py::"
    "test_slots_go_back_when_half_are_idle_and_nobody_is_called_where_nobody_waits",
)
def keeps_direct_slots() -> Broken:
    return patch.object(DirectSlots, "_give_back_idle", lambda _: None)


@mutation(
    "A delivery function gives slots back and calls nobody",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/flow/test_direct_slots.py::"
    "test_whoever_gives_slots_back_calls_if_a_trigger_has_come_to_wait",
)
@wrapping(DirectSlots, "_give_back_idle")
def calls_nobody_after_direct_slots(give: Callable[..., None], slots: DirectSlots) -> None:
    with patch.object(FlowGates, "call", lambda *_, **__: None):
        give(slots)


@mutation("The gates of a paused policy keep their shares", first=FIRST_WITH_POLICY)
def serves_a_paused_policy() -> Broken:
    return patch.object(Policy, "share", Policy.share_of_limit)
