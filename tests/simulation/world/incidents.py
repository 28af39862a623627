"""What goes wrong a few times in a seed: outages, shortages, throttled writes, raised shards and poison."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.workload.bulk_writes import WRITE_MANY
from tests.simulation.workload.bulks import RESUME_MANY, Bulks
from tests.simulation.workload.clients import Step
from tests.simulation.workload.clocks import ClockStep, clock_steps
from tests.simulation.workload.scenario import Scenario
from tests.simulation.workload.updates import Updates
from tests.simulation.world.faults import Mask, Troubles, stream
from tests.simulation.world.functions import Functions
from tests.simulation.world.gate import Gate
from tests.simulation.world.machines import Fleet
from tests.simulation.world.processes import Scheduler
from tests.simulation.world.sqs import Sqs

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant

#: The share of calls that write many jobs whose writes are throttled, and for how long they are at most.
_THROTTLED: Final = 1 / 8
_THROTTLED_MS_MAX: Final = 20 * SECOND_MS

#: The parts of the stack that may have an outage, alone or all at once.
_PORTS: Final = ("jobs", "timers", "leases", "runs", "payloads", "queue")


class Incidents:
    """The incidents of one seed. None begins after calm()."""

    def __init__(
        self,
        *,
        seed: int,
        mask: Mask,
        scenario: Scenario,
        troubles: Troubles,
        scheduler: Scheduler,
        chronicle: Chronicle,
        gate: Gate,
        functions: Functions,
        fleet: Fleet,
        sqs: Sqs,
    ) -> None:
        self._seed = seed
        self._mask = mask
        self._scenario = scenario
        self._troubles = troubles
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._gate = gate
        self._functions = functions
        self._fleet = fleet
        self._sqs = sqs
        self._is_calm = False

    def plan(self, steps: Sequence[Step], ends_at: Instant) -> None:
        """Plan the incidents of the seed, whose clients follow `steps`, up to an instant."""
        self._plan_outages(ends_at)
        self._plan_shortages(ends_at)
        self._plan_throttling(steps, ends_at)
        self._plan_shards(ends_at)
        self._plan_poison(ends_at)
        if "skew" not in self._mask.troubles:
            for step in clock_steps(self._seed, self._scenario.begins_at, ends_at):
                self._scheduler.call_at(step.at, partial(self._step, step))

    def calm(self) -> None:
        """Begin no further incident."""
        self._is_calm = True

    def _plan_outages(self, ends_at: Instant) -> None:
        random = stream(self._seed, "outages")
        level = self._troubles["outages"]
        if not level:
            return
        begins_at = self._scenario.begins_at
        longest_ms = 8 * HOUR_MS if self._scenario.is_sparse else 6 * MINUTE_MS
        for _ in range(random.randint(1, 1 + int(level))):
            at = random.randrange(begins_at, ends_at)
            lasts_ms = int(longest_ms * random.random())
            ports = random.choice(((random.choice(_PORTS),), (random.choice(_PORTS),), _PORTS))
            self._scheduler.call_at(at, partial(self._lose, ports, at + lasts_ms))

    def _plan_shortages(self, ends_at: Instant) -> None:
        random, begins_at = stream(self._seed, "shortages"), self._scenario.begins_at
        for at, lasts_ms in Updates.of(self._seed).shortages(begins_at, ends_at, self._mask):
            self._scheduler.call_at(at, partial(self._run_short, lasts_ms))
        if not self._troubles["shortages"]:
            return
        at = random.randrange(begins_at, ends_at)
        # It lasts long enough for a message to be received in vain as often as it may crash functions.
        longest_ms = 2 * HOUR_MS if self._scenario.is_sparse else 16 * MINUTE_MS
        self._scheduler.call_at(at, partial(self._run_short, int(longest_ms * random.random())))

    def _run_short(self, lasts_ms: int) -> None:
        if not self._is_calm:
            self._chronicle.mishap(f"shortage of {lasts_ms} ms", "Lambda")
            self._functions.run_short(self._scheduler.now + lasts_ms)

    def _lose(self, ports: Sequence[str], until: Instant) -> None:
        if self._is_calm:
            return
        lasts_ms = until - self._scheduler.now
        self._chronicle.mishap(f"outage of {lasts_ms} ms", ", ".join(ports))
        for port in ports:
            self._gate.down[port] = until
        if "runs" in ports:
            # Only batches have progress.
            self._gate.down["batches"] = until

    def _plan_throttling(self, steps: Sequence[Step], ends_at: Instant) -> None:
        random = stream(self._seed, "throttled writes")
        for _ in range(random.randint(1, 3) if self._troubles["throttled writes"] else 0):
            at = random.randrange(self._scenario.begins_at, ends_at)
            port = random.choice(("jobs", "jobs", "timers", "changes"))
            self._scheduler.call_at(at, partial(self._throttle, port, random.randrange(MINUTE_MS)))
        for step in steps if "throttled writes" not in self._mask.troubles else ():
            # Writes of many jobs at once are throttled in any seed.
            is_resume = step.action == RESUME_MANY and Bulks.of(self._seed).is_at_once
            if is_resume and random.random() < 1 / 2 and step.at < ends_at - SECOND_MS:
                self._scheduler.call_at(step.at, partial(self._throttle, "jobs", random.randrange(MINUTE_MS)))
            if step.action == WRITE_MANY and random.random() < _THROTTLED:
                port, lasts_ms = random.choice(("jobs", "timers")), random.randrange(_THROTTLED_MS_MAX)
                self._scheduler.call_at(step.at, partial(self._throttle, port, lasts_ms))

    def _throttle(self, port: str, lasts_ms: int) -> None:
        if not self._is_calm:
            self._chronicle.mishap(f"throttled writes of {lasts_ms} ms", port)
            self._gate.short[port] = self._scheduler.now + lasts_ms

    def _plan_shards(self, ends_at: Instant) -> None:
        random = stream(self._seed, "shards")
        if not self._troubles["raised shards"]:
            return
        for _ in range(random.randint(1, 2)):
            at = random.randrange(self._scenario.begins_at, ends_at)
            self._scheduler.call_at(at, partial(self._raise_shards, random.randint(1, 3)))

    def _raise_shards(self, more: int) -> None:
        if not self._is_calm:
            self._fleet.shards += more
            self._chronicle.mishap("raised shards", f"to {self._fleet.shards}")

    def _step(self, step: ClockStep) -> None:
        if not self._is_calm:
            machine = self._fleet.step(step.code, step.ahead_ms)
            self._chronicle.mishap("clock step", f"{machine.name}, now {step.ahead_ms} ms ahead")
            self._functions.step(machine)

    def _plan_poison(self, ends_at: Instant) -> None:
        random = stream(self._seed, "poison")
        if not self._troubles["poison"]:
            return
        for _ in range(random.randint(1, 4)):
            at = random.randrange(self._scenario.begins_at, ends_at)
            text = random.choice(("", "{}", "[1, 2", '{"v": 1, "kind": "trigger"}', None))
            # A newer message comes back every half a minute to the end, which would fill seeds of weeks.
            is_newer = text is None and not self._scenario.is_sparse
            accept = self._sqs.accept_newer if is_newer else partial(self._sqs.accept, text or "", 0)
            self._scheduler.call_at(at, accept)
