"""The scheduler of processes: greenlets that hand over at every call of a port, in simulated time."""

from collections import defaultdict
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

from greenlet import getcurrent, greenlet
from tests.simulation.world.faults import CallFaults, Role, fraction

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant

#: The time limits of the functions, as in template.yaml (tests/simulation/world/test_platform.py).
LIMITS_MS: Final[dict[Role, int]] = {
    "api": 25 * SECOND_MS,
    "tick": 55 * SECOND_MS,
    "sweep": 120 * SECOND_MS,
    "deliver": 90 * SECOND_MS,
}

#: The end of a process without a limit: an instant that never comes.
NEVER: Final[Instant] = 10**15


#: The reason for which a process is killed when its time limit is over.
TIME_LIMIT: Final = "time limit"

#: How long it takes at most until an environment with frozen threads is used again. Mostly it is used again
#: soon.
_IDLE_MS_MAX: Final = 12 * MINUTE_MS

#: This number picks the chance that an environment is used again.
_THAW: Final = 9


class Killed(BaseException):
    """The process ended at this call. It is no Exception, so that no handler of errors catches it."""


@dataclass(eq=False, slots=True)
class Machine:
    """The machine that a process runs on. Its clock is `ahead_ms` ahead of true time."""

    name: str
    ahead_ms: int = 0


@dataclass(eq=False, slots=True)
class Process:
    """One invocation of a function, and what the platform knows of it.

    The process is killed at `ends_at`, and does nothing until `frozen_until`. `when_killed` is called once,
    with the reason. `turn` and `tokens` count its calls and the ids that it was given. `is_held_up` says that
    a fault happened at one of its calls, and `slowed_ms` how much longer its calls took because stores were
    slow. No fault happens at the calls of a process that `is_spared`, and no outage stops them.

    When the invocation is over, threads that it has left behind are frozen. They go on within a later
    invocation (`host`) on the same machine. `began_at` is when it began. A sweeper has the instant at which
    the tick that invoked it began.
    """

    name: str
    role: Role
    machine: Machine
    ends_at: Instant
    when_killed: Callable[[str], None]
    faults: CallFaults
    turn: int = 0
    tokens: int = 0
    frozen_until: Instant = 0
    is_dead: bool = False
    is_over: bool = False
    is_held_up: bool = False
    is_spared: bool = False
    slowed_ms: int = 0
    host: "Process | None" = None
    began_at: Instant = 0

    @property
    def invocation(self) -> "Process":
        """The invocation within which the threads of this process run now."""
        return self.host or self


@dataclass(eq=False, slots=True)
class Strand:
    """One thread of a process. It has a `body` until it begins.

    `is_leaving` says that it has read its job for the last time before a request leaves.
    """

    process: Process
    greenlet: greenlet = field(repr=False)
    body: Callable[[], None] | None = field(repr=False)
    is_leaving: bool = False


class Scheduler:
    """Keeps true time and resumes strands at their instants.

    Strands of one instant go on in the order in which they asked.
    """

    def __init__(self, now: Instant) -> None:
        self.now = now
        self._heap: list[tuple[Instant, int, Strand | Callable[[], None]]] = []
        self._order = 0
        self._hub = getcurrent()
        self._running: Strand | None = None
        self._until: Instant = now
        self._idle: list[greenlet] = []
        self._frozen: dict[Machine, list[tuple[Instant, Strand]]] = defaultdict(list)
        self.alive: dict[Process, None] = {}

    @property
    def strand(self) -> Strand:
        """The strand that is running. There has to be one."""
        assert self._running is not None, "only a process calls ports"
        return self._running

    def call_at(self, at: Instant, action: Callable[[], None]) -> None:
        """Call `happen` at that instant, outside all processes."""
        self._push(at, action)

    def start(self, process: Process, body: Callable[[], None]) -> None:
        """Begin a process now.

        The body handles its own errors, and an error that it raises ends the simulation. The process may thaw
        threads that earlier processes have left behind on its machine.
        """
        self.alive[process] = None
        frozen = self._frozen.pop(process.machine, [])
        for thaws_at, strand in frozen:
            if thaws_at <= self.now:
                strand.process.host = process
                self._push(self.now, strand)
            else:
                self._frozen[process.machine].append((thaws_at, strand))

        def run() -> None:
            try:
                body()
            except Killed:
                pass
            finally:
                process.is_over = True
                self.alive.pop(process, None)

        self._begin(process, run)

    def sleep(self, duration_ms: int) -> None:
        """Let time pass in the running strand. Raises Killed if its process ends before."""
        strand = self.strand
        process = strand.process
        if process.is_dead:
            raise Killed
        self._push(min(self.now + duration_ms, (process.host or process).ends_at), strand)
        self._hand_over()
        if process.is_dead:
            raise Killed

    def spawn(self, body: Callable[[], None]) -> None:
        """Begin another strand of the running process."""
        # All strands of a process act for the same request.
        self._begin(self.strand.process, body, copy_context())

    def park(self) -> None:
        """Stop the running strand until another one wakes it. Raises Killed if its process ends before."""
        process = self.strand.process
        self._hand_over()
        if process.is_dead:
            raise Killed

    def wake(self, strand: Strand) -> None:
        """Let a parked strand go on."""
        self._push(self.now, strand)

    def freeze(self, duration_ms: int) -> None:
        """Stop all strands of the running process for that long."""
        process = self.strand.process.invocation
        process.frozen_until = max(process.frozen_until, self.now + duration_ms)

    def kill(self, process: Process, reason: str) -> None:
        """Kill the invocation in which a process runs. Its strands stop where they are."""
        process = process.invocation
        if process.is_dead or process.is_over:
            return
        process.is_dead = True
        self.alive.pop(process, None)
        process.when_killed(reason)

    def run(self, until: Instant) -> None:
        """Let everything happen up to and including that instant."""
        heap, self._until = self._heap, until
        while heap and heap[0][0] <= until:
            at, _, coming = heappop(heap)
            self.now = max(self.now, at)
            if isinstance(coming, Strand):
                self._resume(coming)
            else:
                coming()
        self.now = max(self.now, until)

    def end(self) -> None:
        """Kill all processes, so that no greenlet is left."""
        for process in list(self.alive):
            self.kill(process, "the simulation is over")
        for _, strand in (each for frozen in self._frozen.values() for each in frozen):
            strand.process.is_dead = True
            self._push(self.now, strand)
        while self._heap:
            _, _, coming = heappop(self._heap)
            if isinstance(coming, Strand) and coming.body is None:
                self._resume(coming)
        self._idle.clear()

    def _begin(self, process: Process, body: Callable[[], None], context: Context | None = None) -> None:
        """Begin a strand of a process."""
        # Making a greenlet takes longer than most bodies, so each is used again.
        chosen = self._idle.pop() if self._idle else greenlet(self._work, self._hub)
        chosen.gr_context = context
        self._push(self.now, Strand(process, chosen, body))

    def _work(self) -> None:
        """Run the bodies of strands, one after the other."""
        while True:
            strand = self.strand
            body, strand.body = strand.body, None
            assert body is not None, "a strand begins once"
            body()
            self._idle.append(strand.greenlet)
            self._hand_over()

    def _freeze(self, strand: Strand) -> None:
        """Stop a strand whose invocation has answered, until its environment is used again."""
        process = strand.process
        idle_ms = int(_IDLE_MS_MAX * fraction(process.faults.code, _THAW) ** 2)
        self._frozen[process.machine].append((self.now + idle_ms, strand))

    def _push(self, at: Instant, coming: Strand | Callable[[], None]) -> None:
        self._order += 1
        heappush(self._heap, (at, self._order, coming))

    def _hand_over(self) -> None:
        """Stop the running strand, and let what comes next happen.

        If that is a strand of a process in its usual state, it goes on at once, which is half the work. The
        hub does all else. It begins each greenlet, since one begins at the depth of whoever begins it.
        """
        if self._heap:
            at, _, strand = self._heap[0]
            if at <= self._until and isinstance(strand, Strand):
                now, process = max(self.now, at), strand.process
                is_usual = not (process.is_dead or process.is_over or process.host)
                if is_usual and strand.greenlet and process.frozen_until <= now < process.ends_at:
                    heappop(self._heap)
                    is_same = strand is self._running
                    self.now, self._running = now, strand
                    if not is_same:
                        strand.greenlet.switch()
                    return
        self._hub.switch()

    def _resume(self, strand: Strand) -> None:
        process = strand.process
        if not process.is_dead:
            invocation = process.host or process
            if invocation.is_dead:
                process.is_dead = True
            elif invocation.is_over:
                self._freeze(strand)
                return
            elif self.now >= invocation.ends_at:
                self.kill(process, TIME_LIMIT)
                process.is_dead = True
            elif invocation.frozen_until > self.now:
                self._push(min(invocation.frozen_until, invocation.ends_at), strand)
                return
        self._running = strand
        strand.greenlet.switch()
        self._running = None


class MachineClock:
    """ports.Clock of one machine."""

    def __init__(self, scheduler: Scheduler, machine: Machine) -> None:
        self._scheduler = scheduler
        self._machine = machine

    def now(self) -> Instant:
        """Return the present instant by this machine's clock."""
        return self._scheduler.now + self._machine.ahead_ms

    def wait_until(self, instant: Instant) -> None:
        """Let time pass until that instant."""
        left_ms = instant - self.now()
        if left_ms > 0:
            self._scheduler.sleep(left_ms)
