"""What clients ask for, and when. The plan is made in advance, so that no fault changes it."""

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from tests.fakes.world import key_of
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.recorder import Asking
from tests.simulation.workload.batches import Batches
from tests.simulation.workload.bulk_writes import BulkWrites
from tests.simulation.workload.bulks import Bulks
from tests.simulation.workload.bundling import Bundling, Packs
from tests.simulation.workload.calendars import Calendars
from tests.simulation.workload.flows import Flows
from tests.simulation.workload.lanes import Lanes
from tests.simulation.workload.leaving import Leaving, ShortLives
from tests.simulation.workload.modes import Modes
from tests.simulation.workload.on_demand import OnDemand
from tests.simulation.workload.overlapping import Overlapping
from tests.simulation.workload.policies import Policies
from tests.simulation.workload.updates import Updates
from tests.simulation.workload.verbs import ACTIONS, Known, Request
from tests.simulation.workload.watches import Watches
from tests.simulation.workload.weeks import Weeks
from tests.simulation.world.faults import Mask, stream
from tests.simulation.world.functions import Functions
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import BadRequestError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.web.http.operation import Services

#: Instants at which cron schedules fire, and how far from them a client may ask.
ROUND_MS: Final = 20 * SECOND_MS
AROUND_MS: Final = 2_500

#: How long before a tick a client asks, so that the tick may overtake the request.
BEFORE_TICK_MS: Final = 8 * SECOND_MS
HALF_MS: Final = MINUTE_MS // 2

#: How long after a tick a client asks, so that the request may have overtaken the tick.
AFTER_TICK_MS: Final = 35 * SECOND_MS

#: The chance that a client asks again after an error, how often it does at most, and how soon.
_AGAIN: Final = 0.7
_AGAIN_MAX: Final = 3
_AGAIN_MS_MAX: Final = 6 * SECOND_MS

#: The largest number of pages of a bulk call. There are fewer jobs.
_PAGES_MAX: Final = 15


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the plan. `number` names it when a seed is shrunk."""

    number: int
    at: Instant
    action: str
    name: str


def plan(
    seed: int, *, begins_at: Instant, ends_at: Instant, jobs: int, writes: int, is_at_margins: bool
) -> list[Step]:
    """Return what clients will ask. They create each job near the beginning, and later writes come in bursts.

    The numbers of steps go by kind. The first kinds are writes of jobs, actions on runs, bulk calls, changes
    of mode, and triggers of jobs on demand. Then come updates of a job as often as it fires, and creations
    that a deletion follows at once. The last are jobs that fire together, and calls that write many jobs.
    """
    random, weeks = stream(seed, "plan"), Weeks.of(seed)
    names = [f"job-{number}" for number in range(jobs)]
    if weeks.is_on:
        return [Step(number, *each) for number, each in enumerate(weeks.asked(names, begins_at, ends_at))]
    wished = [(begins_at + random.randrange(90 * SECOND_MS), "put", name) for name in names]
    actions = list(ACTIONS)
    weights = [ACTIONS[each].weight for each in actions]
    while len(wished) < writes:
        at = begins_at + random.randrange(ends_at - begins_at)
        if is_at_margins and random.random() < 1 / 2:
            # A tick has just passed the places at which this job will be armed, if the margin is gone.
            at += HALF_MS - at % MINUTE_MS + random.randrange(AFTER_TICK_MS)
        elif random.random() < 1 / 3:
            # Much is due at these instants, so requests at these instants race with deliveries.
            at = max(begins_at, at - at % ROUND_MS + random.randrange(-AROUND_MS, AROUND_MS))
        elif random.random() < 1 / 4:
            # In many seeds a tick comes at the full or half minute, and may overtake a commit.
            at += HALF_MS - at % HALF_MS - random.randrange(BEFORE_TICK_MS)
        name = random.choice(names)
        apart_ms = random.choice((200, 2_000, 20_000))
        for _ in range(random.choice((1, 1, 2, 3, 5))):
            wished.append((at, random.choices(actions, weights)[0], name))
            at = min(at + random.randrange(apart_ms), ends_at)
    steps = sorted(wished)
    for kind in (Flows, Bulks, Modes, OnDemand, Updates, ShortLives, Calendars):
        steps += kind.of(seed).asked(names, begins_at, ends_at)
    for other in (Bundling, BulkWrites, Lanes):
        steps += other.of(seed).asked(begins_at, ends_at)
    return [Step(number, *each) for number, each in enumerate(steps)]


class Clients:
    """Carries out a plan. Each step is a request, which the client may repeat after an error."""

    def __init__(
        self,
        *,
        seed: int,
        scheduler: Scheduler,
        chronicle: Chronicle,
        functions: Functions,
        mask: Mask,
        is_sparse: bool,
        is_at_margins: bool,
        flows: Flows,
        bulks: Bulks,
    ) -> None:
        self._seed = seed
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._mask = mask
        self._is_sparse = is_sparse
        self._is_at_margins = is_at_margins
        self._flows = flows
        self._bulks = bulks
        self._leaving = Leaving.of(seed)
        self._modes = Modes.of(seed)
        self._on_demand = OnDemand.of(seed)
        self._bundling = Bundling.of(seed)
        self._packs = Packs.of(seed)
        self._bulk_writes = BulkWrites.of(seed)
        self._batches = Batches.of(seed)
        self._policies = Policies.of(seed)
        self._lanes = Lanes.of(seed)
        self._watches = Watches.of(seed)
        self._calendars = Calendars.of(seed)
        self._overlapping = Overlapping.of(seed)
        self._weeks = Weeks.of(seed)
        self._known: dict[str, Known] = {}
        self.ends_at: Instant = 0

    def follow(self, steps: list[Step], ends_at: Instant) -> None:
        """Plan all steps for their times. No step happens after `ends_at`."""
        self.ends_at = ends_at
        for step in steps:
            if step.number not in self._mask.actions and step.at <= ends_at:
                self._scheduler.call_at(step.at, partial(self._take, step, 0))

    def _take(self, step: Step, tries: int, page: int = 0) -> None:
        action = ACTIONS[step.action]
        random = Random(f"{self._seed}/step/{step.number}")  # noqa: S311 - has to be repeatable
        again = Random(f"{self._seed}/again/{step.number}/{tries}")  # noqa: S311 - same
        known = self._known.setdefault(step.name, Known())
        self._chronicle.figures["client requests"] += 1

        def ask(api: Services, asking: Asking) -> tuple[str, str] | None:
            request = Request(
                api,
                key_of(step.name),
                asking,
                random,
                known,
                step.number,
                self._is_sparse,
                self._is_at_margins,
                self._chronicle,
                self._flows,
                self._overlapping,
                self._bulks,
                self._leaving,
                self._weeks,
                self._modes,
                self._on_demand,
                self._bundling,
                self._packs,
                self._bulk_writes,
                self._batches,
                self._policies,
                self._lanes,
                self._watches,
                self._calendars,
            )
            told = action.ask(request)
            if told is not None:
                known.rev = told[1]
            return told

        def answered(error: Exception | str | None) -> None:
            if error is None:
                if step.number in known.cursors and page < _PAGES_MAX:
                    self._scheduler.call_at(self._scheduler.now, partial(self._take, step, tries, page + 1))
                return
            if isinstance(error, BadRequestError) or tries == _AGAIN_MAX:
                return
            if again.random() < _AGAIN:
                at = self._scheduler.now + again.randrange(_AGAIN_MS_MAX)
                if at <= self.ends_at:
                    self._scheduler.call_at(at, partial(self._take, step, tries + 1, page))

        self._functions.api(action.verb, step.name, step.number << 8 | page << 4 | tries, ask, answered)
