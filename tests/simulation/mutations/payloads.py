"""Errors in removing data that no job refers to."""

from collections.abc import Callable
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, Ports, built, mutation, together, wrapping

from sweephand.base.timing import PAYLOAD_GRACE_MS
from sweephand.jobs import commit, payload_audit
from sweephand.jobs.payload_audit import Audited, PayloadAudit
from sweephand.model.definition import StoredPayload
from sweephand.ports.jobs import PayloadPlace
from sweephand.storage.payloads import PayloadsInPlaces


@mutation("The audit confuses a job with another job of the same name")
def audits_by_name() -> Broken:
    return patch.object(payload_audit, "refers", lambda job, *_: job is not None)


@mutation("The audit marks no data as dead")
def audits_nothing() -> Broken:
    return patch.object(PayloadAudit, "step", lambda _: Audited(0, 0))


@mutation("The audit marks data as dead whose job is not committed yet", first=2_400)
def audits_young_payloads() -> Broken:
    def change(ports: Ports) -> None:
        clock = ports["clock"]
        ports["clock"] = Instead(clock, now=lambda: clock.now() + 2 * PAYLOAD_GRACE_MS)

    return built(PayloadAudit, change)


@mutation(
    "A write marks the replaced data as dead without a check whether a job refers to it",
    shown_by="tests/unit/jobs/test_payloads.py::test_a_creation_that_is_repeated_behind_a_delete_keeps_its_data",
)
def discards_without_looking() -> Broken:
    return together(
        patch.object(commit, "refers", lambda *_: False),
        patch.object(commit, "may_come_back", lambda *_: False),
    )


@mutation(
    "The audit discards data before it has copied it to its new place",
    shown_by="tests/unit/jobs/test_payloads.py::test_a_move_that_fails_halfway_is_done_again_and_loses_nothing",
)
@wrapping(PayloadAudit, "_move")
def moves_by_discarding_first(
    move: Callable[..., bool], self: PayloadAudit, place: PayloadPlace, payload: StoredPayload
) -> bool:
    first, text = self._places[0], place.get(payload.uid, payload.ref)
    if text is None or place.is_discarded(payload.uid, payload.ref):
        return move(self, place, payload)
    place.discard(payload.uid, payload.ref)
    first.put(payload.uid, payload.ref, text)
    return True


@mutation(
    "A delivery looks for data only where new data is written",
    shown_by="tests/unit/jobs/test_payloads.py::test_payloads_go_from_the_bucket_to_a_table_and_back_with_triggers_in_flight",
)
def reads_one_place() -> Broken:
    return patch.object(PayloadsInPlaces, "get", lambda self, *name: self._places[0].get(*name))
