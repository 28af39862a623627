"""The runs of a job and its line, event by event, and the rules in force."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.simulation.oracle.lives import Life
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import InLine, LineStored, Requested, RunStored, TimerStored

#: A delivery function is ended after 90 s, so what it had read is no older when it acts.
PROCESS_MS = 91_000

#: Other triggers do not wait for a run without activity for this long, by clocks that differ.
ABANDONED_MS = 3_600_000
SIMULATED_SKEW_MS = 60_000

#: How many triggers may wait by default (semantics.md, `waitLimit`).
WAIT_LIMIT_DEFAULT = 100

#: The states after which a run is over.
OVER = {"succeeded", "failed", "skipped", "cancelled"}

Event = Requested | RunStored | LineStored


class Rule(NamedTuple):
    """The job's setting for triggers that come due while a run of it is not over."""

    mode: str
    limit: int


@dataclass(slots=True)
class Begun:
    """A run that is not over: since when, its last activity, and its state if it has one.

    `back_at` is when it began, or was active again after an hour of silence.
    """

    since: int
    seen_at: int
    state: str | None = None
    back_at: int = 0


@dataclass(slots=True)
class Turns:
    """The runs of one job and its line at one point of the trace.

    `begun` are the runs that are not over, and `over` says when the others were. `lines` is every line up to
    now. `held_since` is when the present holder was given the line. `abandoned` has the triggers that lost
    the line for an hour without activity, and when. `waiting` are those that wait and had no turn yet, and
    since when. `places` is the last place of each in the line. `requested` are those of which a request left.
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
        """Whether the revision with which a trigger came into the line does not owe it any more."""
        place = self.places.get(trigger_id)
        return place is not None and is_taken_back(self.life, place, at)

    def _is_unseen(self, holder: str, at: int) -> bool:
        """Whether the holder of the line showed no activity for an hour before the present event."""
        run = self.begun.get(holder)
        is_back = run is None or run.back_at >= at - PROCESS_MS
        silent_since = self.held_since if run is None or is_back else run.seen_at
        return at - silent_since >= ABANDONED_MS - SIMULATED_SKEW_MS

    def retry_at(self, trigger_id: str, at: int) -> int:
        """Return when the latest retry of a trigger that the wheel had by then is due, or 0.

        Two copies of an attempt may each have stored one, and the record names either.
        """
        known = [each for each in self.retries.get(trigger_id, ()) if each.at <= at]
        latest_at = max((each.at for each in known), default=0)
        return min((each.due_at for each in known if each.at >= latest_at - PROCESS_MS), default=0)

    def is_claimed(self, trigger_id: str) -> bool:
        """Whether a function has claimed an attempt of it."""
        run = self.begun.get(trigger_id)
        return run is not None and run.state == "claimed"

    def met_late(self, trigger_id: str) -> bool:
        """Whether a run went on as the line was taken from its trigger, after an hour without activity."""
        run, taken_at = self.begun.get(trigger_id), self.abandoned.get(trigger_id)
        return run is not None and taken_at is not None and abs(run.back_at - taken_at) <= PROCESS_MS

    def is_back_behind(self, trigger_id: str, other: str) -> bool:
        """Whether the line was taken from a trigger, and another had begun when the first one came back."""
        run, others = self.begun.get(trigger_id), self.begun.get(other)
        holds = self.holder is not None and self.holder.trigger_id == other
        if run is None or others is None or not holds or trigger_id not in self.abandoned:
            return False
        return others.since <= run.seen_at

    def has_lost_turn(self, trigger_id: str) -> bool:
        """Whether the line was taken from a trigger before its last activity, and it has not come back."""
        run, taken_at = self.begun.get(trigger_id), self.abandoned.get(trigger_id)
        if run is None or taken_at is None or run.seen_at < taken_at:
            return False
        line = self.lines[-1]
        return all(each.trigger_id != trigger_id for each in (line.holder, *line.waiting) if each is not None)

    @property
    def holder(self) -> InLine | None:
        """The holder of the line."""
        return self.lines[-1].holder if self.lines else None

    def lines_since(self, at: int) -> Iterator[LineStored]:
        """Return every line that stood at that instant or since, the last one first."""
        for line in reversed(self.lines):
            yield line
            if line.at < at:
                return

    def fresh_in(self, line: LineStored) -> list[InLine]:
        """Return the triggers of the schedule that wait in a line and had no turn: the rule is for them.

        A trigger whose run is over waits no more. It is recorded as skipped before the line is written
        without it, and other functions may write the line in between.
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
    """Return the id of the trigger of an event."""
    return event.trigger_id if isinstance(event, Requested) else f"{event.uid}-{event.run_id}"


def rules(life: Life, from_at: int, to_at: int) -> list[Rule]:
    """Return the rules in force at some instant between two.

    After the job's end they are those of the last version.
    """
    stood = list(life.stood(from_at, to_at)) or [len(life.writes) - 1]
    written = (life.writes[number].definition for number in stood)
    return [Rule(each.get("overlap", "allow"), each.get("waitLimit", WAIT_LIMIT_DEFAULT)) for each in written]


def may_overlap(life: Life, from_at: int, to_at: int) -> bool:
    """Whether runs that began in between may have been allowed to overlap."""
    return any(each.mode == "allow" for each in rules(life, from_at - PROCESS_MS, to_at))


def is_taken_back(life: Life, place: InLine, at: int) -> bool:
    """Whether the revision with which a trigger came into its job's line does not owe it any more."""
    if place.is_asked_for or place.attempt > 1:
        return False
    reigns = (life.reign(place.rev, number) for number in life.stood(at - PROCESS_MS, at))
    return any(reign is None or not reign.owns(place.due_at) for reign in reigns)


def moments(tale: Tale) -> Iterator[tuple[Turns, Event]]:
    """Return each event of each job whose runs take turns at some time, and the state just before it."""
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
