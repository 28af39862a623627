"""Consumers that have accepted a trigger. They report on it in time, late, twice, wrongly, or never."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.recorder import Asking
from tests.simulation.traces.trace import RunAsked, Verb
from tests.simulation.workload.scenario import is_for_weeks
from tests.simulation.world.faults import fraction, mixed
from tests.simulation.world.functions import Functions
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import BadRequestError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Attempt
from sweephand.model.job import JobKey
from sweephand.model.run import Run
from sweephand.web.http.operation import Services


class Manner(NamedTuple):
    """How one kind of consumer works on a trigger, and how frequent it is (`weight`).

    `ends` are its last reports, and there are none if it dies before. It works for `for_ms` at most. `beats`
    says whether it sends heartbeats meanwhile. A hasty one sends all reports at once.
    """

    weight: int
    ends: tuple[Verb, ...]
    for_ms: int
    beats: bool = False
    is_hasty: bool = False


_MANNERS: Final = (
    Manner(10, ("complete",), 3 * SECOND_MS),
    Manner(2, ("fail",), 20 * SECOND_MS),
    # The work takes longer than any of the shorter time-outs and the grace, and heartbeats keep the run
    # alive.
    Manner(2, ("complete",), 6 * MINUTE_MS, beats=True),
    Manner(1, ("fail",), 3 * MINUTE_MS, beats=True),
    # Late: it is silent until another attempt has long been made.
    Manner(2, ("complete",), 7 * MINUTE_MS),
    Manner(1, ("fail",), 7 * MINUTE_MS),
    # It dies at once, or after a while.
    Manner(1, (), 0),
    Manner(1, (), 2 * MINUTE_MS, beats=True),
    # It sends heartbeats and never ends.
    Manner(2, (), HOUR_MS, beats=True),
    # It repeats a report, or sends reports that contradict each other.
    Manner(1, ("complete", "complete"), 30 * SECOND_MS),
    Manner(1, ("fail", "fail", "complete"), 20 * SECOND_MS),
    Manner(1, ("complete", "fail"), 20 * SECOND_MS),
    Manner(2, ("heartbeat", "complete", "heartbeat", "fail"), MINUTE_MS, is_hasty=True),
)
_BY_WEIGHT: Final = tuple(manner for manner in _MANNERS for _ in range(manner.weight))

#: In seeds that last for weeks consumers work for days. Some take longer than allowed, and some die.
_MANNERS_FOR_WEEKS: Final = (
    *[Manner(1, ("complete",), 90 * HOUR_MS)] * 3,
    *[Manner(1, ("complete",), 23 * HOUR_MS)] * 3,
    Manner(1, ("complete",), 3 * SECOND_MS),
    Manner(1, ("fail",), 30 * HOUR_MS),
    Manner(1, ("complete",), 130 * HOUR_MS),
    Manner(1, (), 0),
)

#: In a calm consumers are done at once.
_PROMPT: Final = Manner(1, ("complete",), SECOND_MS)

#: The times between two heartbeats.
_BEATS_MS: Final = (10 * SECOND_MS, 15 * SECOND_MS, 35 * SECOND_MS)

#: How often a consumer repeats a report that got no clear answer, and how soon at most.
_AGAIN_MAX: Final = 4
_AGAIN_MS_MAX: Final = 5 * SECOND_MS

#: The share of consumers that go on reporting after an answer that tells them to stop.
_STUBBORN: Final = 0.3


@dataclass(frozen=True, slots=True)
class _Work:
    """One trigger that a consumer has accepted and works on."""

    key: JobKey
    uid: str
    run_id: str
    attempt: int
    token: str
    code: int
    manner: Manner

    def steps(self) -> Iterator[tuple[int, Verb]]:
        """Return the consumer's reports, each with the time since the report before."""
        lasts_ms = int(self.manner.for_ms * fraction(self.code, 1))
        if self.manner.beats:
            apart_ms = _BEATS_MS[mixed(self.code, 2) % len(_BEATS_MS)]
            while lasts_ms > apart_ms:
                lasts_ms -= apart_ms
                yield apart_ms, "heartbeat"
        for verb in self.manner.ends:
            yield lasts_ms, verb
            lasts_ms = 0 if self.manner.is_hasty else int(20 * SECOND_MS * fraction(self.code, 3))


class Workers:
    """All consumers that are at work. Each of their reports is a request to the API."""

    def __init__(
        self, *, scheduler: Scheduler, chronicle: Chronicle, functions: Functions, seed: int
    ) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._seed = seed
        self._is_calm = False
        self._manners = _MANNERS_FOR_WEEKS if is_for_weeks(seed) else _BY_WEIGHT

    def calm(self) -> None:
        """Let consumers that begin from now on be done at once."""
        self._is_calm = True

    def begin(self, attempt: Attempt, code: int) -> None:
        """Let a consumer work on an attempt that it has accepted."""
        assert attempt.run_token is not None, "only with it can it be reported on"
        trigger = attempt.trigger
        code = mixed(self._seed, code)
        manner = _PROMPT if self._is_calm else self._manners[code % len(self._manners)]
        work = _Work(
            trigger.key, trigger.uid, trigger.run_id, attempt.number, attempt.run_token, code, manner
        )
        self._go_on(work, work.steps(), 0)

    def _go_on(self, work: _Work, steps: Iterator[tuple[int, Verb]], said: int) -> None:
        following = next(steps, None)
        if following is not None:
            delay_ms, verb = following
            say = partial(self._say, work, verb, said, 0, steps)
            self._scheduler.call_at(self._scheduler.now + delay_ms, say)
            if work.manner.is_hasty:
                self._scheduler.call_at(
                    self._scheduler.now + delay_ms, partial(self._go_on, work, steps, said + 1)
                )

    def _say(self, work: _Work, verb: Verb, said: int, tries: int, steps: Iterator[tuple[int, Verb]]) -> None:
        code = mixed(work.code, said, tries)
        asked = RunAsked(self._scheduler.now, verb, work.key.name, work.uid, work.run_id, work.attempt)
        self._chronicle.figures["reports"] += 1

        def ask(api: Services, _: Asking) -> None:
            self._chronicle.of_run(asked, lambda: _report(api, work, verb))

        def answered(error: Exception | str | None) -> None:
            if work.manner.is_hasty:
                return
            if error is None:
                self._go_on(work, steps, said + 1)
            elif isinstance(error, BadRequestError):
                if fraction(work.code, 4) < _STUBBORN:
                    ends = (step for step in steps if step[1] != "heartbeat")
                    self._go_on(work, ends, said + 1)
            elif tries < _AGAIN_MAX:
                again = partial(self._say, work, verb, said, tries + 1, steps)
                self._scheduler.call_at(self._scheduler.now + 1 + code % _AGAIN_MS_MAX, again)

        self._functions.api(verb, work.key.name, code, ask, answered)


def _report(api: Services, work: _Work, verb: Verb) -> Run:
    reporter = api.callbacks
    match verb:
        case "heartbeat":
            return reporter.heartbeat(work.key, work.run_id, work.token)
        case "complete":
            return reporter.complete(work.key, work.run_id, work.token)
        case _:
            is_final = fraction(work.code, 5) < 1 / 4
            reason = f"It failed at attempt {work.attempt}."
            return reporter.fail(work.key, work.run_id, work.token, reason=reason, is_final=is_final)
