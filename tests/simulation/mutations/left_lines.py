"""Errors with what waits in the line of a missing policy, when its job leaves the policy."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from sweephand.jobs.left_policy import LeftPolicy
from sweephand.model.policy_line import LineClaim, LineEntry, LinePlace
from sweephand.model.work_message import WorkMessage
from sweephand.runs.flow.left_triggers import LeftTriggers, _Walk
from sweephand.runs.flow.left_turn import LeftTurn
from tests.simulation.mutations.registry import mutation
from tests.simulation.workload.policies import FIRST_WITHOUT_POLICY


@mutation("A flow function drops every work message of a missing policy", first=FIRST_WITHOUT_POLICY)
def drops_what_is_left() -> Iterator[None]:
    with patch.object(LeftTriggers, "take_out", lambda *_: 0):
        yield


@mutation("A job that leaves a missing policy sends no work message", first=FIRST_WITHOUT_POLICY)
def leaves_in_silence() -> Iterator[None]:
    with patch.object(LeftPolicy, "_left", lambda *_: None):
        yield


@mutation(
    "Triggers that stay under a missing policy go with those of an entry that leave",
    shown_by="tests/unit/runs/flow/test_left_walks.py"
    "::test_a_walk_that_crashes_anywhere_is_repeated_and_nothing_is_lost",
)
def takes_all_out() -> Iterator[None]:
    take = LeftTriggers._take_out_of

    def all_of_it(walk: LeftTriggers, begun: _Walk, place: LinePlace, entry: LineEntry) -> None:
        gone = tuple(each for each in entry.messages if not begun.stays(each, place.policy))
        take(walk, begun, place, entry._replace(messages=gone))

    with patch.object(LeftTriggers, "_take_out_of", all_of_it):
        yield


@mutation(
    "A walk takes triggers out of a partition that another worker walks",
    shown_by="tests/unit/runs/flow/test_left_walks.py"
    "::test_two_walks_of_one_entry_take_each_trigger_out_once",
)
def walks_without_claims() -> Iterator[None]:
    def unclaimed(_: LeftTriggers, walk: _Walk, __: LinePlace) -> LineClaim:
        return LineClaim(walk.owner, 1 << 45, 0)

    with patch.object(LeftTriggers, "_claim", unclaimed):
        yield


@mutation(
    "A walk of a missing policy's line forgets that it was asked for another one",
    shown_by="tests/unit/runs/flow/test_left_turns.py"
    "::test_a_walk_that_is_asked_meanwhile_has_another_one_follow_at_once",
)
def forgets_who_asked() -> Iterator[None]:
    end = LeftTurn.end

    def in_silence(turn: LeftTurn) -> bool:
        end(turn)
        return False

    with patch.object(LeftTurn, "end", in_silence):
        yield


@mutation(
    "The write of a job that leaves a missing policy sends its work message only after its commit",
    shown_by="tests/unit/runs/flow/test_left_triggers.py"
    "::test_an_api_function_that_crashes_anywhere_leaves_a_message_that_comes_past_its_commit",
)
def tells_only_afterwards() -> Iterator[None]:
    announce = LeftPolicy.announce

    def unsent(self: LeftPolicy, *others: Any) -> WorkMessage | None:
        work, self._work = self._work, _Nowhere()  # type: ignore[assignment]
        try:
            return announce(self, *others)
        finally:
            self._work = work

    with patch.object(LeftPolicy, "announce", unsent):
        yield


class _Nowhere:
    """A WorkQueue that loses every message."""

    def send(self, *_: Any) -> None:
        """Do nothing."""
