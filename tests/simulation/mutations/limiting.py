"""Errors of flow policies: permits that are not asked for, kept or freed, and lines that lose triggers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

from sweephand.model.policy_line import LineClaim
from sweephand.runs.flow.pace import Pace
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.run_permits import RunPermits
from tests.simulation.mutations.registry import mutation
from tests.simulation.workload.policies import FIRST_WITH_POLICY
from tests.simulation.world.processes import LIMITS_MS

from sweephand.runs import intake
from sweephand.runs.delivery import Delivery, Stop
from sweephand.runs.gates import Gates
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled
from sweephand.wheel import sending
from sweephand.wheel.sending import LineUp

#: A limit that no seed reaches.
_BOUNDLESS: Final = 1_000


@mutation(
    "The delivery function delivers triggers of a job with a policy without a permit", first=FIRST_WITH_POLICY
)
def asks_for_no_permit() -> Iterator[None]:
    alive = Gates.alive

    def unlimited(self: Gates, delivery: Delivery) -> Delivery | Stop:
        read = delivery.read
        if delivery.permit is None and read.job is not None:
            written = {name: value for name, value in read.job.definition.written.items() if name != "policy"}
            job = replace(read.job, definition=replace(read.job.definition, written=written))
            delivery = delivery._replace(read=read._replace(job=job))
        return alive(self, delivery)

    with patch.object(Gates, "alive", unlimited):
        yield


@mutation("A worker does not count the requests that it has open", first=FIRST_WITH_POLICY)
def counts_no_open_requests() -> Iterator[None]:
    with patch.object(Permits, "free", lambda *_: _BOUNDLESS):
        yield


@mutation(
    "An asynchronous run keeps its permit only until its consumer has answered", first=FIRST_WITH_POLICY
)
def frees_permits_at_the_answer() -> Iterator[None]:
    with patch.object(Permits, "keep", lambda *_: True):
        yield


@mutation("Nobody frees the permit of a run that is over", first=FIRST_WITH_POLICY)
def frees_no_permits() -> Iterator[None]:
    with patch.object(RunPermits, "free", lambda *_: None):
        yield


@mutation(
    "The sweeper takes triggers out of its messages and puts them into no line", first=FIRST_WITH_POLICY
)
def puts_nothing_into_the_line() -> Iterator[None]:
    def dropped(messages: Any, jobs: Any) -> Any:
        sending.take_line_triggers(messages, jobs)
        return {}

    with patch("sweephand.wheel.sweep.take_line_triggers", dropped):
        yield


@mutation(
    "A worker of a line does not see that stores are slow, and Lambda ends it",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/runs/flow/test_slow_stores.py::test_a_worker_ends_before_its_function_when_its_stores_become_slow",
)
def trusts_slow_stores() -> Iterator[None]:
    with patch.object(Pace, "timed", lambda _, call: call()):
        yield


@mutation("A message is acknowledged before the line of a policy holds its triggers", first=FIRST_WITH_POLICY)
def acknowledges_before_the_line_has_it() -> Iterator[None]:
    put = Intake._put_into_lines

    def acknowledged(handler: Intake, handled: Sequence[Handled]) -> list[Handled]:
        lined = [each for each in handled if each.outcome.into is not None]
        handler._queue.acknowledge([each.received.receipt for each in lined])
        return put(handler, handled)

    with patch.object(Intake, "_put_into_lines", acknowledged):
        yield


@mutation(
    "A worker deletes an entry and does not write its triggers that have to wait", first=FIRST_WITH_POLICY
)
def drops_what_a_pause_holds() -> Iterator[None]:
    with patch.object(LineUp, "put_all", lambda *_: None):
        yield


@mutation(
    "A held trigger stays in the line of a policy that its job has left",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/runs/flow/test_line_bundles.py::test_held_triggers_do_not_wait_for_a_policy_that_their_job_has_left",
)
def holds_triggers_in_a_line_that_their_job_has_left() -> Iterator[None]:
    not_alive = Gates.not_alive

    def stays(self: Gates, delivery: Delivery) -> Stop:
        permit, read = delivery.permit, delivery.read
        if permit is not None and read.job is not None and read.job.paused_at is not None:
            written = {**read.job.definition.written, "policy": permit.key.name}
            job = replace(read.job, definition=replace(read.job.definition, written=written))
            delivery = delivery._replace(read=read._replace(job=job))
        return not_alive(self, delivery)

    with patch.object(Gates, "not_alive", stays):
        yield


@mutation(
    "A worker of a line forgets that an earlier one crashed after it had begun other entries",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/runs/flow/test_crashed_workers.py::test_the_run_that_a_crashed_worker_began_ends_after_its_job_was_deleted",
)
def forgets_crashed_workers() -> Iterator[None]:
    with patch.object(LineClaim, "may_have_begun", lambda *_: False):
        yield


@mutation(
    "One thread puts triggers into lines for as long as that takes",
    first=FIRST_WITH_POLICY,
    shown_by="tests/unit/runs/flow/test_line_bundles.py::test_triggers_that_one_thread_cannot_put_into_a_line_in_time_are_sent_to_other_functions",
)
def puts_into_lines_for_as_long_as_it_takes() -> Iterator[None]:
    with patch.object(intake, "THREAD_WAIT_MAX_MS", LIMITS_MS["deliver"]):
        yield
