"""The machines that functions run on: each with a clock of its own, and the production code wired to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.fakes.doubles import OneSecret
from tests.simulation.consumers import Consumers
from tests.simulation.faults import SKEW_MAX_MS, Role, Troubles, is_at_margins, stream
from tests.simulation.processes import LIMITS_MS, Machine, MachineClock, Scheduler
from tests.simulation.sqs import Sqs
from tests.simulation.stores import Ports

from sweephand.jobs.bulk import Bulk
from sweephand.jobs.commit import Commits
from sweephand.jobs.expiry import Completions
from sweephand.jobs.on_demand import Demands
from sweephand.jobs.pause import Pauser
from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer
from sweephand.model.wire import encode
from sweephand.ports import Ids, RunStore, Sweepers
from sweephand.runs.auto_pause import JobPauses
from sweephand.runs.callbacks import Reporter
from sweephand.runs.deliver import Deliverer
from sweephand.runs.flow.overlap_queue import Turns
from sweephand.runs.intake import BatchHandler
from sweephand.runs.redrive import Redriver
from sweephand.runtime import api, delivery, wheel
from sweephand.wheel.shards import ShardCount
from sweephand.wheel.sweep import Sweeper
from sweephand.wheel.tick import Ticker

#: Machines of each role: as many as differ in what the others must bear.
_MACHINES: Final = 3

SWEEPERS_MAX: Final = 4

#: Of seeds with skewed clocks some have small ones: seconds matter where half a minute hides them.
_SKEWS: Final = (0.05, 1.0, 1.0)

#: Of those, in so many the API's clocks are behind and all others ahead: both margins of the protocol are for
#: a commit that comes late, so most where the API has most of the trouble.
_APART: Final = 0.2
_APART_IN_FOCUS: Final = 0.6


class ProcessIds:
    """ports.Ids by each process's own chance: what one is given does not hang on what others were."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def token(self) -> str:
        """Digits: which of its process, and the process's code."""
        process = self._scheduler.strand.process
        process.tokens += 1
        return f"{process.tokens:04d}{process.faults.code % 10**12:012d}"

    def secret(self) -> str:
        """43 digits."""
        return f"{self.token():0>43}"

    def fraction(self) -> float:
        """From 0 up to 1."""
        return self._scheduler.strand.process.faults.random.random()


@dataclass(frozen=True, slots=True)
class Services:
    """What an API process can do for its client."""

    writer: Writer
    pauser: Pauser
    resumer: Resumer
    bulk: Bulk
    demands: Demands
    reporter: Reporter
    redriver: Redriver
    runs: RunStore


class Fleet:
    """All machines. `shards` is the number that the deployed functions have been told of last."""

    def __init__(
        self,
        *,
        seed: int,
        scheduler: Scheduler,
        ports: Ports,
        sqs: Sqs,
        consumers: Consumers,
        troubles: Troubles,
        shards: int,
        sweepers_max: int = SWEEPERS_MAX,
    ) -> None:
        self._sweepers_max = sweepers_max
        self._scheduler = scheduler
        self._ports = ports
        self._sqs = sqs
        self._consumers = consumers
        self.ids: Ids = ProcessIds(scheduler)
        self.shards = shards
        skew = stream(seed, "skew")
        level = troubles["skew"] and skew.choice(_SKEWS)
        are_apart = skew.random() < (_APART_IN_FOCUS if "api" in troubles.focus else _APART)
        if troubles["skew"] and is_at_margins(seed):
            level, are_apart = 1.0, True

        def ahead_ms(role: Role) -> int:
            # Most clocks are as wrong as may be: what a margin is for needs two that are, one each way.
            wrong = skew.choice((skew.uniform(-1, 1), -1, 1))
            if are_apart:
                wrong = -1 if role == "api" else 1
            return int(level * SKEW_MAX_MS * wrong)

        self._machines = self._begun(ahead_ms)
        self._services: dict[Machine, Services] = {}
        self._handlers: dict[Machine, BatchHandler] = {}

    def calm(self) -> None:
        """Every process begins on a machine with the right time from now on."""
        self._machines = self._begun(lambda _: 0)

    def pick(self, role: Role, code: int) -> Machine:
        """A machine that serves that role."""
        return self._machines[role][code % _MACHINES]

    def clock(self, machine: Machine) -> MachineClock:
        """The machine's clock."""
        return MachineClock(self._scheduler, machine)

    def services(self, machine: Machine) -> Services:
        """What the API function keeps on that machine from one request to the next."""
        if machine not in self._services:
            self._services[machine] = self._services_of(machine)
        return self._services[machine]

    def handler(self, machine: Machine) -> BatchHandler:
        """What the delivery function keeps on that machine from one batch to the next."""
        if machine not in self._handlers:
            self._handlers[machine] = self._handler_of(machine)
        return self._handlers[machine]

    def sweeper(self, machine: Machine) -> Sweeper:
        """What a sweep is made of."""
        ports = self._ports
        return Sweeper(
            jobs=ports.jobs,
            timers=ports.timers,
            leases=ports.leases,
            runs=ports.runs,
            queue=ports.queue,
            clock=self.clock(machine),
            concurrently=wheel._concurrently,
        )

    def ticker(self, machine: Machine, sweepers: Sweepers) -> Ticker:
        """What a tick is made of, by the latest deployment."""
        return Ticker(
            leases=self._ports.leases,
            sweeper=self.sweeper(machine),
            sweepers=sweepers,
            clock=self.clock(machine),
            shards=self.shards,
            sweepers_max=self._sweepers_max,
        )

    def audit(self, machine: Machine) -> PayloadAudit:
        """What a step of the audit is made of."""
        return PayloadAudit(
            jobs=self._ports.jobs,
            payloads=self._ports.payloads,
            audits=self._ports.audits,
            clock=self.clock(machine),
        )

    def _begun(self, ahead_ms: Callable[[Role], int]) -> dict[Role, list[Machine]]:
        return {
            role: [Machine(f"{role}-{number}", ahead_ms(role)) for number in range(_MACHINES)]
            for role in LIMITS_MS
        }

    def _services_of(self, machine: Machine) -> Services:
        clock, ports = self.clock(machine), self._ports
        counts: dict[int, ShardCount] = {}

        def shards() -> int:
            # A deployment that raises the number brings new processes.
            wanted = self.shards
            if wanted not in counts:
                counts[wanted] = ShardCount(leases=ports.leases, clock=clock, wanted=wanted)
            return counts[wanted]()

        ids = self.ids
        commits = Commits(
            jobs=ports.jobs,
            changes=ports.changes,
            timers=ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            clock=clock,
        )
        writer = Writer(
            jobs=ports.jobs, changes=ports.changes, commits=commits, clock=clock, ids=ids, shards=shards
        )
        pauser = Pauser(jobs=ports.jobs, changes=ports.changes, clock=clock, ids=ids)
        completions = Completions(jobs=ports.jobs, runs=ports.runs, clock=clock, ids=ids)
        resumer = Resumer(jobs=ports.jobs, runs=ports.runs, commits=commits, completions=completions, ids=ids)
        return Services(
            writer,
            pauser,
            resumer,
            Bulk(
                jobs=ports.jobs,
                pauser=pauser,
                resumer=resumer,
                writer=writer,
                clock=clock,
                concurrently=api._concurrently,
            ),
            Demands(jobs=ports.jobs, queue=ports.queue, payloads=ports.payloads, clock=clock, ids=ids),
            Reporter(
                jobs=ports.jobs,
                runs=ports.runs,
                turns=Turns(slots=ports.slots, runs=ports.runs, queue=ports.queue, clock=clock, ids=ids),
                queue=ports.queue,
                clock=clock,
                ids=ids,
            ),
            Redriver(jobs=ports.jobs, runs=ports.runs, queue=ports.queue, clock=clock),
            ports.runs,
        )

    def _handler_of(self, machine: Machine) -> BatchHandler:
        clock, ports = self.clock(machine), self._ports
        deliverer = Deliverer(
            jobs=ports.jobs,
            runs=ports.runs,
            slots=ports.slots,
            timers=ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            targets=self._consumers,
            signing=OneSecret(),
            pauses=JobPauses(jobs=ports.jobs, changes=ports.changes, clock=clock, ids=self.ids),
            letters=encode,
            clock=clock,
            ids=self.ids,
        )
        return BatchHandler(
            deliverer=deliverer,
            jobs=ports.jobs,
            queue=ports.queue,
            decode=self._sqs.decode,
            clock=clock,
            concurrently=delivery._concurrently,
        )
