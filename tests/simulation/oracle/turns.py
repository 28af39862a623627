"""The runs of a job and its line, as a trace shows them moment by moment, and the rules in force."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.simulation.oracle.lives import Life
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import (
    InLine,
    LineStored,
    Requested,
    RunStored,
    TimerStored,
)

#: A delivery function is ended after 90 s: what it had read is no older when it acts.
PROCESS_MS = 91_000

#: A run of which nothing was seen for so long is not waited for, by clocks that differ.
ABANDONED_MS = 3_600_000
SIMULATED_SKEW_MS = 60_000

#: How many may wait where a job does not say (semantics.md, `waitLimit`).
WAIT_LIMIT_DEFAULT = 100

#: The states after which a run is over.
OVER = {"succeeded", "failed", "skipped", "cancelled"}

Event = Requested | RunStored | LineStored


class Rule(NamedTuple):
    """What a job says of triggers that come due while a run of it is not over."""

    mode: str
    limit: int


@dataclass(slots=True)
class Begun:
    """A run that is not over: since when, when something was seen of it last, and its state if it has one.

    `back_at` is when it began, or was heard of again after an hour of silence.
    """

    since: int
    seen_at: int
    state: str | None = None
    back_at: int = 0


@dataclass(slots=True)
class Turns:
    """The runs of one job and its line, as they are at one moment of the trace.

    `begun` are the runs that are not over, `over` says when the others were. `lines` is every line up to
    now, `held_since` when the last was given to who holds it, `abandoned` from whom it was taken since
    nothing was seen of them, and when. `waiting` are those that were seen waiting and had no turn yet, and
    since when; `places` is what was last in the line of each. `requested` are those of which a request left.
    """

    life: Life
    retries: Mapping[str, Sequence[TimerStored]]
    begun: dict[str, Begun] = field(default_factory=dict)
    over: dict[str, int] = field(default_factory=dict)
    lines: list[LineStored] = field(default_factory=list)
    held_since: int = 0
    abandoned: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, tuple[InLine, int]] = field(default_factory=dict)
    had_turn: set[str] = field(default_factory=set)
    places: dict[str, InLine] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Go on by one event."""
        if isinstance(event, LineStored):
            self._take_line(event)
            return
        trigger_id = id_of(event)
        if isinstance(event, Requested):
            self.requested.add(trigger_id)
        if isinstance(event, RunStored) and event.state == "released" and trigger_id not in self.requested:
            # Its claim was undone, and no request of it had left: it has not begun.
            self.begun.pop(trigger_id, None)
        elif isinstance(event, RunStored) and event.state in OVER:
            self.begun.pop(trigger_id, None)
            self.waiting.pop(trigger_id, None)
            self.over[trigger_id] = event.at
        elif isinstance(event, RunStored) or trigger_id not in self.over:
            self.over.pop(trigger_id, None)
            run = self.begun.setdefault(trigger_id, Begun(event.at, event.at, back_at=event.at))
            if event.at - run.seen_at >= ABANDONED_MS - SIMULATED_SKEW_MS:
                run.back_at = event.at
            run.seen_at = event.at
            if isinstance(event, RunStored):
                run.state = event.state

    def _take_line(self, event: LineStored) -> None:
        if event.holder is not None:
            if self.holder is None or self.holder.trigger_id != event.holder.trigger_id:
                if self.holder is not None and self._is_unseen(self.holder.trigger_id, event.at):
                    self.abandoned[self.holder.trigger_id] = event.at
                self.held_since = event.at
            self.had_turn.add(event.holder.trigger_id)
            self.waiting.pop(event.holder.trigger_id, None)
            self.places[event.holder.trigger_id] = event.holder
        self.lines.append(event)
        for each in event.waiting:
            self.places[each.trigger_id] = each
            if each.trigger_id not in self.over:
                self.waiting.setdefault(each.trigger_id, (each, event.at))

    def is_taken_back(self, trigger_id: str, at: int) -> bool:
        """Whether the revision by which a trigger came into the line does not owe it any more."""
        place = self.places.get(trigger_id)
        return place is not None and is_taken_back(self.life, place, at)

    def _is_unseen(self, holder: str, at: int) -> bool:
        """Whether nothing was seen for an hour of who holds the line, but for what came just now."""
        run = self.begun.get(holder)
        is_back = run is None or run.back_at >= at - PROCESS_MS
        silent_since = self.held_since if run is None or is_back else run.seen_at
        return at - silent_since >= ABANDONED_MS - SIMULATED_SKEW_MS

    def retry_at(self, trigger_id: str, at: int) -> int:
        """When the latest retry of a trigger is due that the wheel had been given by then; 0 if none."""
        return max((each.due_at for each in self.retries.get(trigger_id, ()) if each.at <= at), default=0)

    def is_claimed(self, trigger_id: str) -> bool:
        """Whether somebody has claimed an attempt of it."""
        run = self.begun.get(trigger_id)
        return run is not None and run.state == "claimed"

    def met_late(self, trigger_id: str) -> bool:
        """Whether a run went on as the line was taken from its trigger, which had been waited for in vain."""
        run, taken_at = self.begun.get(trigger_id), self.abandoned.get(trigger_id)
        return run is not None and taken_at is not None and abs(run.back_at - taken_at) <= PROCESS_MS

    def is_back_behind(self, trigger_id: str, other: str) -> bool:
        """Whether the line was taken from a trigger, and another had begun with it when that came back."""
        run, others = self.begun.get(trigger_id), self.begun.get(other)
        holds = self.holder is not None and self.holder.trigger_id == other
        if run is None or others is None or not holds or trigger_id not in self.abandoned:
            return False
        return others.since <= run.seen_at

    @property
    def holder(self) -> InLine | None:
        """Who holds the line."""
        return self.lines[-1].holder if self.lines else None

    def lines_since(self, at: int) -> Iterator[LineStored]:
        """Every line that stood at that moment or since, the last one first."""
        for line in reversed(self.lines):
            yield line
            if line.at < at:
                return

    def fresh_in(self, line: LineStored) -> list[InLine]:
        """Of those that wait in a line who came by the schedule and had no turn: the rule is for them.

        One whose run is over waits no more: it is recorded as skipped before the line is written without it,
        and others may write the line in between.
        """
        return [
            each
            for each in line.waiting
            if each.attempt == 1
            and not each.is_asked_for
            and each.trigger_id not in self.had_turn
            and each.trigger_id not in self.begun
            and each.trigger_id not in self.over
        ]


def id_of(event: Requested | RunStored) -> str:
    """The id of the trigger that it tells of."""
    return event.trigger_id if isinstance(event, Requested) else f"{event.uid}-{event.run_id}"


def rules(life: Life, from_at: int, to_at: int) -> list[Rule]:
    """The rules that stood at some moment between two instants; those of the last version after its end."""
    stood = list(life.stood(from_at, to_at)) or [len(life.writes) - 1]
    written = (life.writes[number].definition for number in stood)
    return [Rule(each.get("overlap", "allow"), each.get("waitLimit", WAIT_LIMIT_DEFAULT)) for each in written]


def may_overlap(life: Life, from_at: int, to_at: int) -> bool:
    """Whether runs that began in between may have been let run beside each other."""
    return any(each.mode == "allow" for each in rules(life, from_at - PROCESS_MS, to_at))


def is_taken_back(life: Life, place: InLine, at: int) -> bool:
    """Whether the revision by which a trigger came into its job's line does not owe it any more."""
    if place.is_asked_for or place.attempt > 1:
        return False
    reigns = (life.reign(place.rev, number) for number in life.stood(at - PROCESS_MS, at))
    return any(reign is None or not reign.owns(place.due_at) for reign in reigns)


def moments(tale: Tale) -> Iterator[tuple[Turns, Event]]:
    """Each event of each job whose runs take turns at some time, and how things were just before it."""
    retries: dict[str, list[TimerStored]] = defaultdict(list)
    for timer in tale.timers:
        if timer.kind == "retry":
            retries[timer.trigger_id].append(timer)
    for uid, events in tale.turns_of.items():
        life = tale.lives.get(uid)
        if life is None or all(each.definition.get("overlap", "allow") == "allow" for each in life.writes):
            continue
        turns = Turns(life, retries)
        for event in events:
            yield turns, event
            turns.take(event)
