"""What clients ask for, and when: a plan made in advance, so that no mishap changes what is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Final, TypeAlias

from tests.fakes.world import definition, key_of
from tests.simulation.chronicle import Chronicle
from tests.simulation.faults import Mask
from tests.simulation.flows import CANCEL, COMPLETE, REDRIVE, REDRIVE_MANY, Flows
from tests.simulation.forms import (
    BOUND,
    CATCH_UPS,
    DENSE,
    LISTS,
    MARGINAL,
    MODES,
    PATCHES,
    RETRIES,
    SPARSE,
    SPARSE_PATCHES,
)
from tests.simulation.functions import Functions
from tests.simulation.machines import Services
from tests.simulation.overlapping import Overlapping
from tests.simulation.processes import Scheduler
from tests.simulation.recorder import Asking
from tests.simulation.runs_asked import cancel, complete, redrive, redrive_many
from tests.simulation.trace import Verb

from sweephand.errors import BadRequestError
from sweephand.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.jobs.definition import Definition, Payload
from sweephand.jobs.job import JobKey
from sweephand.jobs.write import Written

#: Instants at which cron schedules fire, and how far around them a client may ask.
ROUND_MS: Final = 20 * SECOND_MS
AROUND_MS: Final = 2_500

#: Whose key all clients have.
CLIENT: Final = "client"

#: How long before a tick requests are asked for that it may overtake.
BEFORE_TICK_MS: Final = 8 * SECOND_MS
HALF_MS: Final = MINUTE_MS // 2

#: How long after one they are asked for that it may have overtaken.
AFTER_TICK_MS: Final = 35 * SECOND_MS

#: Data over 2 KB is kept apart from the job.
_LARGE: Final = 3_000

#: The chance that a client asks again after an error, how often it does, and how soon.
_AGAIN: Final = 0.7
_AGAIN_MAX: Final = 3
_AGAIN_MS_MAX: Final = 6 * SECOND_MS


@dataclass(slots=True)
class Known:
    """What the clients of a name know of it: what they asked for last, and the revision last told."""

    definition: Definition | None = None
    rev: str | None = None


@dataclass(slots=True)
class Request:
    """One request: to which services, about which job, and when by their clock.

    Its `random` is the same whenever it is repeated. What it asks for is told to `known`.
    """

    services: Services
    key: JobKey
    asking: Asking
    random: Random
    known: Known
    number: int
    is_sparse: bool
    is_at_margins: bool
    chronicle: Chronicle
    flows: Flows
    overlapping: Overlapping

    @property
    def at(self) -> Instant:
        """When it was asked, by the clock of who serves it."""
        return self.asking.asked_at

    def new_definition(self) -> Definition:
        """A definition unlike all others by its data."""
        random = self.random
        forms = SPARSE if self.is_sparse else random.choice((DENSE, DENSE, BOUND))
        written = dict(random.choice(forms))
        if not self.is_sparse and random.random() < 1 / 20:
            written = {"schedule": self._instants()}
        if self.is_at_margins and random.random() < 1 / 2:
            written = dict(random.choice(MARGINAL), dueTime=f"{random.randrange(60, 300)}s")
        if (catch_up := random.choice(CATCH_UPS)) is not None:
            written["catchup"] = catch_up
        written["retry"] = random.choice(RETRIES)
        if (history := random.random()) < 1 / 2:
            written["history"] = "failures" if history < 1 / 4 else "full"
        written |= self.overlapping.written(self.key.name, random)
        written = self.flows.added(written, self.key.name, self.number, is_sparse=self.is_sparse)
        self.known.definition = definition(data=self.new_data(), **written)
        return self.known.definition

    def _instants(self) -> list[str]:
        """A list that begins about now."""
        apart_s, number = self.random.choice(LISTS)
        begins_at = self.at - self.at % SECOND_MS + self.random.randrange(-2, 300) * SECOND_MS
        return [rfc3339(begins_at + each * apart_s * SECOND_MS) for each in range(number)]

    def new_data(self) -> str:
        """JSON that names the request."""
        filling = "x" * _LARGE if self.random.random() < 1 / 4 else ""
        return f'"{self.number}{filling}"'

    def put(self, written: Definition, *, if_match: str | None = None, if_absent: bool = False) -> Written:
        """PUT it."""
        return self.services.writer.put(
            self.key,
            written,
            caller=CLIENT,
            requested_at=self.at,
            if_match=if_match,
            if_absent=if_absent,
        )


#: Does what is asked, and returns the uid and revision that the client is told of, None if of none.
Ask: TypeAlias = Callable[[Request], tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a client may ask: how often, compared with the others."""

    verb: Verb
    weight: float
    ask: Ask


def _told(written: Written) -> tuple[str, str]:
    return written.job.uid, written.job.rev


def _put(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition()))


def _put_data(request: Request) -> tuple[str, str]:
    """The same with other data: the series goes on."""
    last = request.known.definition or request.new_definition()
    renewed = definition(data=request.new_data(), **{k: v for k, v in last.written.items() if k != "target"})
    request.known.definition = renewed
    return _told(request.put(renewed))


def _put_equal(request: Request) -> tuple[str, str]:
    return _told(request.put(request.known.definition or request.new_definition()))


def _put_if_match(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition(), if_match=request.known.rev or "*"))


def _create(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition(), if_absent=True))


def _delete(request: Request) -> None:
    request.services.writer.delete(request.key, who=CLIENT, requested_at=request.at)


def _delete_if_match(request: Request) -> None:
    request.services.writer.delete(
        request.key, who=CLIENT, requested_at=request.at, if_match=request.known.rev
    )


def _patch(request: Request) -> tuple[str, str]:
    """Some fields anew, beside a label that makes it a change."""
    fields = request.random.choice(SPARSE_PATCHES if request.is_sparse else PATCHES)
    fields = fields | request.overlapping.patched(request.key.name, request.random)
    labels = {"patch": str(request.number)}

    def patched(before: Definition) -> Definition:
        return replace(before, written={**before.written, **fields, "labels": labels})

    return _told(request.services.writer.patch(request.key, patched, caller=CLIENT, requested_at=request.at))


def _pause(request: Request) -> tuple[str, str]:
    pauser = request.services.pauser
    job = pauser.pause(request.key, reason=None, who=CLIENT, requested_at=request.at)
    return job.uid, job.rev


def _resume(request: Request) -> tuple[str, str]:
    mode = request.random.choice(MODES)
    request.asking.catchup = mode
    job = request.services.resumer.resume(request.key, who=CLIENT, requested_at=request.at, mode=mode)
    return job.uid, job.rev


def _trigger(request: Request) -> tuple[str, str]:
    payload = Payload.of(request.new_data())
    trigger = request.services.demands.trigger(
        request.key, payload=payload, requested_at=request.at, check_data=lambda _: None
    )
    return trigger.uid, trigger.rev


def _backfill(request: Request) -> None:
    since = request.at - request.random.randrange(4 * MINUTE_MS)
    request.services.demands.backfill(
        request.key, since=since - MINUTE_MS, until=since, requested_at=request.at
    )


#: All that clients ask for, by name. A new verb is one more entry.
ACTIONS: Final[Mapping[str, Action]] = {
    "put": Action("replace", 5, _put),
    "put with other data": Action("replace", 3, _put_data),
    "put the same": Action("replace", 1, _put_equal),
    "put if match": Action("replace", 1, _put_if_match),
    "create": Action("replace", 2, _create),
    "patch": Action("patch", 2, _patch),
    "pause": Action("pause", 1.5, _pause),
    "resume": Action("resume", 2.5, _resume),
    "trigger": Action("trigger", 0.7, _trigger),
    "backfill": Action("backfill", 0.5, _backfill),
    "delete": Action("delete", 1.5, _delete),
    "delete if match": Action("delete", 0.5, _delete_if_match),
    # Of runs is asked by a plan of its own (flows.py).
    CANCEL: Action("cancel", 0, cancel),
    COMPLETE: Action("complete", 0, complete),
    REDRIVE: Action("redrive", 0, redrive),
    REDRIVE_MANY: Action("redrive many", 0, redrive_many),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the plan: `number` names it when a seed is shrunk."""

    number: int
    at: Instant
    action: str
    name: str


def plan(
    random: Random,
    *,
    begins_at: Instant,
    ends_at: Instant,
    jobs: int,
    writes: int,
    is_at_margins: bool,
    flows: Flows,
) -> list[Step]:
    """What clients will ask: each job is created near the beginning; later writes come in bursts.

    What they ask of runs is numbered behind the rest.
    """
    names = [f"job-{number}" for number in range(jobs)]
    wished = [(begins_at + random.randrange(90 * SECOND_MS), "put", name) for name in names]
    actions = list(ACTIONS)
    weights = [ACTIONS[each].weight for each in actions]
    while len(wished) < writes:
        at = begins_at + random.randrange(ends_at - begins_at)
        if is_at_margins and random.random() < 1 / 2:
            # A tick has just passed the places at which this will be armed, if its margin is gone.
            at += HALF_MS - at % MINUTE_MS + random.randrange(AFTER_TICK_MS)
        elif random.random() < 1 / 3:
            # Much is due at these instants: what races with its delivery is asked for just then.
            at = max(begins_at, at - at % ROUND_MS + random.randrange(-AROUND_MS, AROUND_MS))
        elif random.random() < 1 / 4:
            # In many seeds a tick comes with each minute, or half past it, and overtakes a commit if it can.
            at += HALF_MS - at % HALF_MS - random.randrange(BEFORE_TICK_MS)
        name = random.choice(names)
        apart_ms = random.choice((200, 2_000, 20_000))
        for _ in range(random.choice((1, 1, 2, 3, 5))):
            wished.append((at, random.choices(actions, weights)[0], name))
            at = min(at + random.randrange(apart_ms), ends_at)
    of_runs = flows.asked(names, begins_at, ends_at)
    return [Step(number, *each) for number, each in enumerate([*sorted(wished), *of_runs])]


class Clients:
    """Carries out a plan: each step is a request, asked again after an error or not."""

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
    ) -> None:
        self._seed = seed
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._mask = mask
        self._is_sparse = is_sparse
        self._is_at_margins = is_at_margins
        self._flows = flows
        self._overlapping = Overlapping.of(seed)
        self._known: dict[str, Known] = {}
        self.ends_at: Instant = 0

    def follow(self, steps: list[Step], ends_at: Instant) -> None:
        """Have all steps happen when their time has come, none after `ends_at`."""
        self.ends_at = ends_at
        for step in steps:
            if step.number not in self._mask.actions and step.at <= ends_at:
                self._scheduler.call_at(step.at, partial(self._take, step, 0))

    def _take(self, step: Step, tries: int) -> None:
        action = ACTIONS[step.action]
        random = Random(f"{self._seed}/step/{step.number}")  # noqa: S311 - has to be repeatable
        again = Random(f"{self._seed}/again/{step.number}/{tries}")  # noqa: S311 - same
        known = self._known.setdefault(step.name, Known())
        self._chronicle.figures["client requests"] += 1

        def ask(services: Services, asking: Asking) -> tuple[str, str] | None:
            request = Request(
                services,
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
            )
            told = action.ask(request)
            if told is not None:
                known.rev = told[1]
            return told

        def answered(error: Exception | str | None) -> None:
            if error is None or isinstance(error, BadRequestError) or tries == _AGAIN_MAX:
                return
            if again.random() < _AGAIN:
                at = self._scheduler.now + again.randrange(_AGAIN_MS_MAX)
                if at <= self.ends_at:
                    self._scheduler.call_at(at, partial(self._take, step, tries + 1))

        self._functions.api(action.verb, step.name, step.number << 8 | tries, ask, answered)
