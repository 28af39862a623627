"""Flow policies in a seed: jobs that name one, and an operator who changes it. Only some seeds have that.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from tests.simulation.workload.flows import Flows
from tests.simulation.workload.lanes import also_has
from tests.simulation.workload.on_demand import OnDemand
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.policy import PRIORITIES, PolicyKey, Rate

#: The jobs of these seeds have policies.
FIRST_WITH_POLICY: Final = 3_200_000
_AFTER_POLICIES: Final = 3_300_000

#: The policies of these seeds have `by`, and some of their changes are for another one.
FIRST_WITH_KEYS: Final = 3_270_000
_BY: Final = ("job", "host", "label:tier", "label:tier")
_TIERS: Final = ("a", "b", "c", "")
_OTHER_BY: Final = 0.4

#: In these seeds, the policy is deleted in the end, and stays closed. In half of them, a client takes it out
#: of all jobs. In the others, jobs that name it stay under its limit.
FIRST_CLOSED: Final = 3_800_000
_AFTER_CLOSED: Final = 3_900_000
_LEFT: Final = 0.5

#: The last minutes before the calm, in which that happens; how often the client does it then; and how long
#: after the beginning of the calm it does so again. By then all other writes are over.
_CLOSED_MS: Final = 10 * MINUTE_MS
_LEFT_ROUNDS: Final = 3
_LEFT_AFTER_MS: Final = (10 * SECOND_MS, 2 * MINUTE_MS)

#: So have those of this share of the seeds with lanes.
_WITH_LANES: Final = 1 / 3

#: The policy of a seed.
POLICY: Final = PolicyKey("ns", "limited")

#: The share of definitions that name it, and of those that give a priority.
_NAMED: Final = 0.75
_PRIORITY: Final = 0.4

#: How many flow functions run at once. It is fewer than there are gates in some seeds.
_FUNCTIONS: Final = (1, 2, 4, 8)

_LIMITS: Final = (1, 2, 3, 5, 12, 40)
_RATES: Final = (None, None, None, Rate(5, SECOND_MS), Rate(60, MINUTE_MS))

#: The notifications of other jobs fire a job up to so often in a minute, each time with its whole batch. The
#: job before it may follow another one, and others send under the same policy.
_FOLLOWED_EACH_MINUTE: Final = 20

#: The share of seeds in which the policy is changed, how often at most, and the share of deletions.
_CHANGED: Final = 0.5
_CHANGES_MAX: Final = 3
_DELETED: Final = 0.3
_DELETED_S_MAX: Final = 100

#: The share of seeds in which the policy is paused, how often at most, and for how long at most.
_PAUSED: Final = 0.4
_PAUSES_MAX: Final = 2
_PAUSE_MS_MAX: Final = 6 * MINUTE_MS

#: A write of the policy is over after this, one way or another.
_AGAIN_MS: Final = MINUTE_MS


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy of a seed. `limits` is None in a seed without one."""

    seed: int
    limits: PolicyLimits | None = None
    functions_max: int = 0

    @classmethod
    def of(cls, seed: int) -> "Policies":
        """Return that of a seed. A seed that lasts for days has none."""
        has_one = (
            FIRST_WITH_POLICY <= seed < _AFTER_POLICIES
            or FIRST_CLOSED <= seed < _AFTER_CLOSED
            or also_has(seed, "policies", _WITH_LANES)
        )
        if not has_one or Scenario.of(seed).is_sparse:
            return cls(seed)
        random = stream(seed, "policies")
        limits = PolicyLimits(random.choice(_LIMITS), random.choice(_RATES))
        if _AFTER_POLICIES <= seed < FIRST_CLOSED:
            # Floods go on while a backlog waits for its rate, so such a seed would have no end.
            limits = replace(limits, rate=None)
        if FIRST_WITH_KEYS <= seed < _AFTER_POLICIES:
            limits = replace(limits, by=stream(seed, "policies/by").choice(_BY))
        return cls(seed, limits, random.choice(_FUNCTIONS))

    @property
    def ends_closed(self) -> bool:
        """Whether the policy is deleted in the end."""
        return self.limits is not None and FIRST_CLOSED <= self.seed < _AFTER_CLOSED

    def left_at(self, calm_at: Instant) -> Sequence[Instant]:
        """Return when a client takes the policy out of all jobs that name it."""
        random = stream(self.seed, "policies/left")
        if not self.ends_closed or random.random() >= _LEFT:
            return ()
        before = [calm_at - random.randrange(_CLOSED_MS) for _ in range(_LEFT_ROUNDS)]
        return [*before, *(calm_at + after for after in _LEFT_AFTER_MS)]

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with a policy."""
        random = stream(self.seed, f"policies/{number}")
        if self.limits is None or random.random() >= _NAMED:
            return written
        if random.random() < _PRIORITY:
            written = written | {"priority": random.choice(PRIORITIES)}
        if self.limits.by is not None:
            tier = stream(self.seed, f"policies/tier/{number}").choice(_TIERS)
            written = written | {"labels": written.get("labels", {}) | {"tier": tier}}
        return self._within_rate(written) | {"policy": POLICY.name}

    def _within_rate(self, written: dict[str, Any]) -> dict[str, Any]:
        """Return the definition with a smaller batch, if the job may follow others and there is a rate.

        Batches that keep coming faster than the rate would leave a line that never becomes empty.
        """
        rate = None if self.limits is None else self.limits.rate
        are_followed = Flows.of(self.seed).is_on or OnDemand.of(self.seed).is_on
        if rate is None or "batch" not in written or not are_followed:
            return written
        count_max = rate.limit * MINUTE_MS // rate.per_ms // _FOLLOWED_EACH_MINUTE
        batch = written["batch"]
        return written | {"batch": batch | {"count": min(batch["count"], count_max)}}

    def plan_pauses(
        self, begins_at: Instant, calm_at: Instant, scheduler: Scheduler, switch: Callable[..., None]
    ) -> None:
        """At the world's beginning: plan the pauses of the policy. `switch` pauses it, or resumes it.

        In the calm it is not paused.
        """
        random = stream(self.seed, "policies/pauses")
        if self.limits is None or random.random() >= _PAUSED:
            return
        for _ in range(random.randint(1, _PAUSES_MAX)):
            at = random.randrange(begins_at, calm_at)
            scheduler.call_at(at, partial(switch, pauses=True))
            resumes_at = min(at + random.randrange(_PAUSE_MS_MAX), calm_at)
            scheduler.call_at(resumes_at, partial(switch, pauses=False))
        for at in (calm_at, calm_at + _AGAIN_MS):
            scheduler.call_at(at, partial(switch, pauses=False))

    def plan(
        self, begins_at: Instant, calm_at: Instant, scheduler: Scheduler, change: Callable[..., None]
    ) -> None:
        """At the world's beginning: plan the changes of the policy.

        In the calm it is what it was at first, or deleted. `change` writes limits, and None deletes the
        policy.
        """
        limits, random = self.limits, stream(self.seed, "policies/changes")
        if limits is None:
            return
        last = None if self.ends_closed else limits
        for at in (calm_at, calm_at + _AGAIN_MS):
            # An earlier write may still be under way in the first moments of the calm.
            scheduler.call_at(at, partial(change, last))
        if self.ends_closed:
            scheduler.call_at(calm_at - random.randrange(_CLOSED_MS), partial(change, None))
        if random.random() >= _CHANGED:
            return
        for _ in range(random.randint(1, _CHANGES_MAX)):
            at = random.randrange(begins_at, calm_at)
            if random.random() < _DELETED:
                scheduler.call_at(at, partial(change, None))
                at = min(at + random.randrange(_DELETED_S_MAX) * SECOND_MS, calm_at)
            changed = replace(limits, concurrent_max=random.choice(_LIMITS))
            if limits.by is not None and random.random() < _OTHER_BY:
                changed = replace(changed, by=random.choice((None, *_BY)))
            scheduler.call_at(at, partial(change, changed))
