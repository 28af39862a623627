"""Jobs that leave a policy which is closed, in some seeds that end so: a client patches them all."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Final

from tests.fakes.world import key_of
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.recorder import Asking
from tests.simulation.workload.policies import Policies
from tests.simulation.world.functions import Functions
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import BadRequestError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.definition import Definition
from sweephand.web.http.operation import Services

#: The client asks again after so long, until a patch is answered.
_AGAIN_MS: Final = 5 * SECOND_MS

#: The numbers of its requests follow those of all others.
_FIRST: Final = 1 << 40


class PolicyLeavers:
    """Takes the policy out of all jobs of a seed, in rounds. After the last one, nobody names it."""

    def __init__(
        self, *, policies: Policies, scheduler: Scheduler, chronicle: Chronicle, functions: Functions
    ) -> None:
        self._policies = policies
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._calls = 0

    def plan(self, names: AbstractSet[str], calm_at: Instant) -> None:
        """At the world's beginning: plan the rounds for the jobs of those names."""
        for at in self._policies.left_at(calm_at):
            for name in sorted(names):
                self._scheduler.call_at(at, partial(self._patch, name))

    def _patch(self, name: str) -> None:
        self._calls += 1

        def ask(api: Services, asking: Asking) -> tuple[str, str]:
            written = api.writer.patch(
                key_of(name), _without_policy, caller="client", requested_at=asking.asked_at
            )
            self._chronicle.figures["left a policy"] += written.outcome == "replaced"
            return written.job.uid, written.job.rev

        def answered(error: Exception | str | None) -> None:
            # There may be no job of that name.
            if error is not None and not isinstance(error, BadRequestError):
                self._scheduler.call_at(self._scheduler.now + _AGAIN_MS, partial(self._patch, name))

        self._functions.api("patch", name, _FIRST + self._calls, ask, answered)


def _without_policy(before: Definition) -> Definition:
    return replace(
        before, written={name: value for name, value in before.written.items() if name != "policy"}
    )
