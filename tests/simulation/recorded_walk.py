"""The random walk of tests/fakes, told as a trace, so that the oracle can judge it."""

from tests.fakes.walk import DEFINITIONS, ECHO_MS, MINUTE, Walk
from tests.simulation.oracle import judge
from tests.simulation.recorder import Recorder

from sweephand.ports import Answer
from sweephand.timing import CLOCK_SKEW_MAX_MS


class RecordedWalk(Walk):
    """A walk that keeps its events: the same seed takes the same steps as the walk that keeps none."""

    def __init__(self, seed: int, *, trouble: float = 0.04) -> None:
        super().__init__(seed, trouble=trouble)
        self.recorder = Recorder.of(self.world)

    def judged(self) -> list[str]:
        """Let nothing go wrong any more until all is done; what the oracle then complains of."""
        world = self.world
        self._skew_clocks()
        world.queue.reappear()
        world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
        calm_at = world.clock.time
        world.run_until(calm_at + ECHO_MS + 5 * MINUTE)
        return judge(self.recorder.events, through=world.clock.time - CLOCK_SKEW_MAX_MS, calm_at=calm_at)

    def _put(self) -> None:
        self._puts += 1
        name, clock = self._name(), self.world.api_clock
        written = self.random.choice(DEFINITIONS)
        asking = self.recorder.asking("replace", name, asked_at=clock.now(), ahead_ms=clock.ahead_ms)
        with asking as answer:
            job = self.world.put(name, data=str(self._puts), **written).job
            answer.uid, answer.rev = job.uid, job.rev

    def _delete(self) -> None:
        if self.random.random() < 1 / 2:
            name, clock = self._name(), self.world.api_clock
            asking = self.recorder.asking("delete", name, asked_at=clock.now(), ahead_ms=clock.ahead_ms)
            with asking:
                self.world.delete(name)
