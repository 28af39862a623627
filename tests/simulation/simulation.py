"""One seed's world from beginning to end: a time of faults, then a calm in which all promises must hold."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from tests.simulation.oracle.oracle import judged
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.trace import Event, Mishap, Requested
from tests.simulation.workload.backlogs import Backlog, Slowdowns, slow_spell
from tests.simulation.workload.bulk_writes import BulkWrites
from tests.simulation.workload.bulks import Bulks
from tests.simulation.workload.bundling import Bundling, Packs
from tests.simulation.workload.circles import Circles
from tests.simulation.workload.clients import HALF_MS, Clients, plan
from tests.simulation.workload.drills import Audits, Drill
from tests.simulation.workload.flows import Flows
from tests.simulation.workload.lanes import Lanes
from tests.simulation.workload.policies import Policies
from tests.simulation.workload.quotas import Quotas
from tests.simulation.workload.scenario import Scenario
from tests.simulation.workload.switching import Switching
from tests.simulation.workload.weeks import WINDING_DOWN_MS
from tests.simulation.workload.windows import Windows
from tests.simulation.world.auditing import Auditing
from tests.simulation.world.bounds import bounds_of
from tests.simulation.world.consumers import Consumers
from tests.simulation.world.delivery_queues import DeliveryQueues, StackQueues
from tests.simulation.world.faults import NO_MASK, Mask, Troubles, mixed, stream
from tests.simulation.world.flow_functions import FlowPort
from tests.simulation.world.functions import Functions
from tests.simulation.world.gate import Call, Gate
from tests.simulation.world.incidents import Incidents
from tests.simulation.world.machines import SWEEPERS_MAX, Fleet
from tests.simulation.world.operator import Operator
from tests.simulation.world.policy_leavers import PolicyLeavers
from tests.simulation.world.processes import Scheduler
from tests.simulation.world.removals import Removals
from tests.simulation.world.rest import is_at_rest, misstatements
from tests.simulation.world.sqs import Sqs
from tests.simulation.world.staleness import stumbling
from tests.simulation.world.stores import MakePorts, memory
from tests.simulation.world.threads import in_strands
from tests.simulation.world.tick_times import TickTimes
from tests.simulation.world.wire import wire
from tests.simulation.world.workers import Workers

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, DIRECT_WINDOW_MS, HORIZON_MS

Mutation = Callable[[], AbstractContextManager[object]]

#: A message that was sent before the calm is due within this time. After it no trigger comes twice.
ECHO_MS: Final = DIRECT_WINDOW_MS + HORIZON_MS + CLOCK_SKEW_MAX_MS

#: This much more calm shows whether every chain of timers lives.
CALM_MS: Final = 5 * MINUTE_MS

#: A world that has not come to rest after this time never will. Jobs that follow each other one at a time can
#: still be behind after six hours, if each run of them crashes functions.
UNREST_MAX_MS: Final = 10 * HOUR_MS

#: Nor will one with more events or deliveries than this. A seed mostly has a few thousand. Seed 3300295 has
#: 32,000: triggers without a place in a full line come every 15 minutes, and crowds fall due meanwhile.
EVENTS_MAX: Final = 50_000

#: The same for seeds that last for days: a held trigger is put back each quarter of an hour.
EVENTS_OVER_DAYS_MAX: Final = 90_000

#: Triggers that are due within this time of the end may still be under way.
MARGIN_MS: Final = 90 * SECOND_MS

#: One seed in this many runs on the production adapters over clients in memory. It takes three times as long.
_WIRE_EVERY: Final = 20

#: The share of seeds in which tick wakes at the very end of its minute.
_SLIPPING: Final = 0.15

#: This number picks the chances of the queue of work messages, and these pick those of two lanes.
_WORK: Final = 43
_OTHER_LANES: Final = (47, 53)


@dataclass(slots=True)
class Result:
    """The result of a seed. It has no complaints if every promise was kept."""

    seed: int
    mask: Mask
    events: Sequence[Event]
    figures: dict[str, int]
    complaints: list[str]
    actions: int
    calls: list[Call] = field(default_factory=list)


def run(
    seed: int,
    *,
    mutation: Mutation | None = None,
    mask: Mask = NO_MASK,
    stores: MakePorts | None = None,
    is_telling: bool = False,
) -> Result:
    """Run one seed. The same seed and mask always give the same trace, in any process.

    `mutation` breaks production code while the seed runs. Without `stores` the seed chooses: mostly the
    stores in memory, and in some seeds the production adapters. `is_telling` keeps calls for the story.
    """
    with bounds_of(seed, mask), (mutation or nullcontext)():
        is_on_wire = seed % _WIRE_EVERY == _WIRE_EVERY - 1 or BulkWrites.of(seed).are_on_wire
        # Settings have to be there before the world begins, which takes a store in memory.
        has_settings = Quotas.of(seed).are_on or Windows.of(seed).are_on
        is_on_wire = is_on_wire and not has_settings and Drill.of(seed) is None and Audits.of(seed) is None
        chosen = stores or (wire if is_on_wire else memory)
        simulation = Simulation(seed, mask, chosen, is_telling=is_telling)
        with in_strands(simulation.scheduler), simulation.stumbling():
            return simulation.run()


class Simulation:
    """One world, used once."""

    def __init__(self, seed: int, mask: Mask, stores: MakePorts, *, is_telling: bool) -> None:
        self._seed = seed
        self._mask = mask
        self._backlog = backlog = Backlog.of(seed)
        packs = Packs.of(seed)
        scenario = packs.scenario(Bundling.of(seed).scenario(Scenario.of(seed)))
        scenario = Switching.of(seed).scenario(BulkWrites.of(seed).scenario(scenario))
        scenario = Windows.of(seed).scenario(Lanes.of(seed).scenario(scenario))
        drill = Drill.of(seed)
        scenario = scenario if drill is None else drill.scenario(scenario)
        self._scenario = scenario = scenario if backlog is None else backlog.scenario(scenario)
        troubles = Troubles.of(seed, mask)
        if scenario.is_sparse:
            is_for_weeks = scenario.is_for_weeks
            troubles = troubles.for_weeks() if is_for_weeks else troubles.for_days(scenario.minutes)
        self._troubles = troubles
        self.scheduler = scheduler = Scheduler(scenario.begins_at)
        self._chronicle = chronicle = Chronicle(scheduler)
        self._gate = Gate(scheduler, chronicle, troubles, seed, is_telling=is_telling)
        lanes = Lanes.of(seed)
        self._sqs = Sqs(scheduler, chronicle, troubles, seed)
        others = [Sqs(scheduler, chronicle, troubles, mixed(seed, each)) for each in _OTHER_LANES]
        self._queues = DeliveryQueues(self._sqs, *(others if lanes.are_on else ()))
        self._work = Sqs(scheduler, chronicle, troubles, mixed(seed, _WORK))
        minutes = min(scenario.minutes, mask.minutes or scenario.minutes)
        self._calm_at = scenario.begins_at + minutes * MINUTE_MS
        chronicle.quotas.quotas = Quotas.of(seed)
        if scenario.is_for_weeks:
            chronicle.removals = Removals(scheduler, seed, self._calm_at + DAY_MS)
        ports = stores(self._gate, chronicle, self._queues)
        self._leases = ports.leases
        self._consumers = Consumers.of(scheduler, chronicle, self._gate, troubles, seed)
        self._consumers.bundled = self._sqs.bundled
        self._fleet = Fleet(
            seed=seed,
            scheduler=scheduler,
            ports=ports,
            sqs=self._sqs,
            consumers=self._consumers,
            troubles=troubles,
            shards=scenario.shards,
            sweepers_max=backlog.sweepers_max if backlog else SWEEPERS_MAX,
            flow_queue=FlowPort(self._gate, self._work),
            stack_queues=self._gate.wrapped(StackQueues(self._queues, self._work), "queue"),
            **({} if chronicle.removals is None else {"expiry_switch": chronicle.removals}),
        )
        self._functions = Functions(
            scheduler=scheduler,
            chronicle=chronicle,
            gate=self._gate,
            ports=ports,
            queues=self._queues,
            fleet=self._fleet,
            troubles=troubles,
            deliveries_at_once=scenario.deliveries_at_once,
        )
        self._incidents = Incidents(
            seed=seed,
            mask=mask,
            scenario=scenario,
            troubles=troubles,
            scheduler=scheduler,
            chronicle=chronicle,
            gate=self._gate,
            functions=self._functions,
            fleet=self._fleet,
            sqs=self._sqs,
        )
        self._policies = Policies.of(seed)
        self._flow = self._functions.flow(self._work, max(1, self._policies.functions_max))
        self._clients = Clients(
            seed=seed,
            scheduler=scheduler,
            chronicle=chronicle,
            functions=self._functions,
            mask=mask,
            is_sparse=scenario.is_sparse,
            is_at_margins=scenario.is_at_margins,
            flows=Flows.of(seed),
            bulks=Bulks.of(seed),
        )
        self._operator = None
        if drill is not None:
            self._operator = Operator(
                drill=drill, scheduler=scheduler, chronicle=chronicle, functions=self._functions
            )
        self._workers = Workers(
            scheduler=scheduler, chronicle=chronicle, functions=self._functions, seed=seed
        )
        self._consumers.begin = self._workers.begin
        self._is_calm = False
        self._missing_until: Instant = 0
        self._tick_times: TickTimes | None = None

    def stumbling(self) -> AbstractContextManager[None]:
        """Let some timers fail to expand once, during the run."""
        return stumbling(self.scheduler, self._chronicle, self._troubles)

    def run(self) -> Result:
        """Run the world through its faults and its calm, and judge its trace."""
        scenario, scheduler = self._scenario, self.scheduler
        full_end = scenario.begins_at + scenario.minutes * MINUTE_MS
        steps = plan(
            self._seed,
            begins_at=scenario.begins_at,
            ends_at=full_end,
            jobs=scenario.jobs,
            writes=scenario.writes,
            is_at_margins=scenario.is_at_margins,
        )
        if self._backlog is not None:
            steps = self._backlog.steps(scenario.begins_at)
        self._clients.follow(steps, self._calm_at)
        if scenario.is_sparse:
            # In a seed that lasts for days, most minutes have no tick.
            span_ms = scenario.minutes * MINUTE_MS
            self._chronicle.add(Mishap(scheduler.now, f"no ticks of {span_ms} ms", "EventBridge"))
        Circles.of(self._seed).note(scheduler.now, self._chronicle.add)
        self._begin_ticking()
        slowdowns = Slowdowns(scheduler, self._chronicle, self._gate)
        if self._backlog is not None:
            slowdowns.plan_backlog(self._backlog, self._calm_at, self._miss_until)
        elif self._troubles["slow stores"]:
            slowdowns.plan(*slow_spell(self._seed, scenario.begins_at, full_end))
        self._incidents.plan(steps, full_end)
        if self._policies.limits is not None:
            self._flow.begin_with(self._policies.limits)
        self._policies.plan_pauses(scenario.begins_at, self._calm_at, scheduler, self._flow.switch)
        self._policies.plan(scenario.begins_at, self._calm_at, scheduler, self._flow.change)
        PolicyLeavers(
            policies=self._policies, scheduler=scheduler, chronicle=self._chronicle, functions=self._functions
        ).plan({step.name for step in steps}, self._calm_at)
        if self._operator is not None:
            self._operator.plan()
        audits = Audits.of(self._seed)
        if audits is not None:
            written_at: dict[str, list[Instant]] = {}
            for step in steps:
                written_at.setdefault(step.name, []).append(step.at)
            Auditing(
                audits=audits,
                scheduler=scheduler,
                chronicle=self._chronicle,
                functions=self._functions,
                written_at=written_at,
            ).plan()
        Windows.of(self._seed).plan(scheduler, self._chronicle.namespaces, self._chronicle.add)
        Switching.of(self._seed).plan(scheduler, self._calm_at, self._functions.switch_off)
        while scheduler.now < self._calm_at and not self._is_endless:
            scheduler.run(min(scheduler.now + HOUR_MS, self._calm_at))
        self._calm_down()
        through, complaints = self._await_rest()
        # A worker of a line may wait for more work. It counts when it ends.
        at_work = sum(each.role == "deliver" for each in scheduler.alive)
        self._chronicle.figures["uncounted calls"] += at_work
        scheduler.end()
        complaints += [*self._functions.complaints, *self._chronicle.bucket.complaints()]
        complaints += [*self._chronicle.flow.watch.complaints, *self._chronicle.quotas.complaints]
        tale = Tale(self._chronicle.events, through, self._calm_at)
        complaints += judged(tale)
        complaints += misstatements(self._chronicle, tale, self._seed, scheduler.now)
        figures = self._chronicle.figures
        figures.update(self._chronicle.flow.watch.figures)
        requests = (each for each in self._chronicle.events if isinstance(each, Requested))
        figures["triggers"] = len({each.trigger_id for each in requests})
        figures["simulated minutes"] = (scheduler.now - scenario.begins_at) // MINUTE_MS
        return Result(
            seed=self._seed,
            mask=self._mask,
            events=self._chronicle.events,
            figures=dict(figures),
            complaints=complaints,
            actions=len(steps),
            calls=self._gate.calls or [],
        )

    def _miss_until(self, until: Instant) -> None:
        self._missing_until = until

    def _begin_ticking(self) -> None:
        random = stream(self._seed, "ticks")
        # EventBridge wakes tick at about the same second of each minute. By a clock that is half a minute
        # wrong, a minute begins at the half.
        phase_ms = random.choice((0, HALF_MS, random.randrange(MINUTE_MS)))
        if self._scenario.is_at_margins:
            phase_ms = HALF_MS
        if self._scenario.is_for_weeks:
            self._tick_times = TickTimes(
                scheduler=self.scheduler,
                chronicle=self._chronicle,
                troubles=self._troubles,
                random=random,
                phase_ms=phase_ms,
                tick=self._functions.tick,
                is_off=lambda: self._functions.are_off,
            )
            self._tick_times.begin()
            self.scheduler.call_at(self._calm_at - WINDING_DOWN_MS, self._wind_down)
            return
        slips = stream(self._seed, "slips")
        if slips.random() < _SLIPPING or self._backlog is not None:
            # Some ticks then read their clock in the next minute.
            phase_ms = MINUTE_MS - slips.randrange(1, 800)
        first_at = self._scenario.begins_at // MINUTE_MS * MINUTE_MS + MINUTE_MS + phase_ms
        self.scheduler.call_at(first_at, lambda: self._wake(random, first_at))

    def _wind_down(self) -> None:
        """Let work that takes days end before the calm, which lasts for hours."""
        self._consumers.wind_down()
        self._workers.calm()

    def _wake(self, random: Random, at: Instant) -> None:
        """Wake tick for a minute, unless the wake-up goes missing."""
        levels, figures = self._troubles, self._chronicle.figures
        is_sparse = self._scenario.is_sparse
        missing, double, minutes, jitter = (
            random.random(),
            random.random(),
            random.random(),
            random.randrange(1_000),
        )
        if not self._is_calm and at >= self._missing_until and missing < 0.05 * levels["missed ticks"]:
            span_ms = int((10 * HOUR_MS if is_sparse else 9 * MINUTE_MS) * minutes**2) + MINUTE_MS
            self._missing_until = at + span_ms
            self._chronicle.mishap(f"no ticks of {span_ms} ms", "EventBridge")
        # Most minutes of a day are alike, so the simulation skips many of them.
        is_skipped = is_sparse and not self._is_calm and minutes < 7 / 8
        if self._is_calm or (at >= self._missing_until and not is_skipped):
            self.scheduler.call_at(at + jitter, partial(self._functions.tick, at))
            if not self._is_calm and double < 0.1 * levels["double ticks"]:
                figures["double ticks"] += 1
                self.scheduler.call_at(at + jitter * 20, partial(self._functions.tick, at + 1))
        elif not is_skipped:
            figures["ticks missed"] += 1
        self.scheduler.call_at(at + MINUTE_MS, lambda: self._wake(random, at + MINUTE_MS))

    def _calm_down(self) -> None:
        self._is_calm = True
        self._chronicle.calm_at = self.scheduler.now
        for part in (
            self._incidents,
            self._gate,
            self._consumers,
            self._workers,
            self._fleet,
            self._functions,
            self._queues,
            self._work,
        ):
            part.calm()
        if self._tick_times is not None:
            self._tick_times.calm()
        self._chronicle.bucket.expire()

    def _await_rest(self) -> tuple[Instant, list[str]]:
        """Go on until no work of before the calm is left. Return up to when everything must be delivered."""
        scheduler = self.scheduler
        enough_at = self._calm_at + ECHO_MS + CALM_MS
        if self._scenario.is_sparse:
            enough_at += 3 * HOUR_MS
        while not self._is_endless and scheduler.now <= enough_at + UNREST_MAX_MS:
            scheduler.run(max(enough_at, scheduler.now + MINUTE_MS))
            through = scheduler.now - MARGIN_MS
            is_line_empty = self._flow.is_at_rest(through, self._chronicle, self._queues)
            if is_line_empty and is_at_rest(self._queues, self._chronicle, self._calm_at, through):
                return scheduler.now - MARGIN_MS, list(self._sqs.lost_newer())
        return scheduler.now - MARGIN_MS, ["no rest: messages of before the calm are still under way"]

    @property
    def _is_endless(self) -> bool:
        most = EVENTS_OVER_DAYS_MAX if self._scenario.is_sparse else EVENTS_MAX
        return max(len(self._chronicle.events), self._chronicle.figures["batches"]) > most
