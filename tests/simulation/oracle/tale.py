"""A trace, ordered for the checks."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from tests.simulation.oracle.lives import Life, lives_of
from tests.simulation.traces.rare_events import BatchEnded, BulkWriteAnswered, Marked, TimerLost, TimersLost
from tests.simulation.traces.trace import (
    Buried,
    Concluded,
    CursorStored,
    Event,
    LineStored,
    Mishap,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    TimerStored,
)

Kind = TypeVar("Kind", bound=Event)

#: The direct window of arming (300 s), a sweep's horizon (180 s) and the difference of clocks (90 s). No
#: message that was sent before the calm lies further ahead. Until then any message may come twice.
ECHO_MS = 570_000

#: How the trace calls a clock that steps.
CLOCK_STEPPED = "clock step"

#: A part of the reason of a notification that is given up because its chain is as long as allowed.
TOO_LONG = "chainLengthMax"

#: What a kill is called that a trigger caused. Its id follows.
_KILLS = "making a request of "


@dataclass(frozen=True)
class Tale:
    """The events, and the bounds for judging them.

    Every trigger due up to `through` had calm time to be delivered. From `calm_at` on no fault happened, if
    it is given.
    """

    events: Sequence[Event]
    through: int
    calm_at: int | None

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of one kind, in order."""
        kinds = [each for each in self._by_type if issubclass(each, kind)]
        if len(kinds) == 1:
            return cast("list[Kind]", list(self._by_type[kinds[0]]))
        return [event for event in self.events if isinstance(event, kind)] if kinds else []

    @cached_property
    def _by_type(self) -> dict[type[Event], list[Event]]:
        # About 60 rules ask for a kind each, and a trace has thousands of events.
        by_type: dict[type[Event], list[Event]] = {}
        for event in self.events:
            by_type.setdefault(type(event), []).append(event)
        return by_type

    @property
    def echo_ends_at(self) -> int | None:
        """From when on no message of before the calm is left."""
        return None if self.calm_at is None else self.calm_at + ECHO_MS

    @cached_property
    def ends_at(self) -> int:
        """When the trace ends."""
        return max([self.through, *(event.at for event in self.events)])

    @cached_property
    def lives(self) -> dict[str, Life]:
        """The jobs by uid."""
        return lives_of(self.events)

    @cached_property
    def requests(self) -> list[Requested]:
        """All requests to consumers."""
        return self.of(Requested)

    @cached_property
    def requests_of(self) -> dict[str, list[Requested]]:
        """Requests to consumers, by trigger id."""
        return _grouped(self.requests)

    @cached_property
    def conclusions_of(self) -> dict[str, list[Concluded]]:
        """Answers of consumers, by trigger id."""
        return _grouped(self.of(Concluded))

    @cached_property
    def buried(self) -> dict[str, str]:
        """The reasons of dead letters by trigger id."""
        letters = (each for each in self.of(Buried) if each.of == "trigger")
        return {each.trigger_id: each.reason for each in letters if each.trigger_id is not None}

    @cached_property
    def burials(self) -> dict[str, list[int]]:
        """When each trigger was given up. It is given up again if the function that does so crashes."""
        found: dict[str, list[int]] = defaultdict(list)
        for each in self.of(Buried):
            if each.of == "trigger" and each.trigger_id is not None:
                found[each.trigger_id].append(each.at)
        return found

    @cached_property
    def buried_at(self) -> dict[str, int]:
        """When each trigger was given up last."""
        return {trigger_id: burials[-1] for trigger_id, burials in self.burials.items()}

    @cached_property
    def ranges_buried(self) -> list[tuple[str, tuple[int, int]]]:
        """The ranges that were given up as one message: uid, first and last due time."""
        return [(each.uid, each.due_range) for each in self.of(Buried) if each.due_range is not None]

    @cached_property
    def given_up(self) -> dict[str, set[str]]:
        """What of a trigger was given up: itself, a `deadline`, a reported `failure`, to `notify` of it."""
        found: dict[str, set[str]] = defaultdict(set)
        for each in self.of(Buried):
            if each.trigger_id is not None:
                found[each.trigger_id].add(each.of)
        return found

    @cached_property
    def ended_chains(self) -> set[str]:
        """The triggers of whose ends nobody was told, because their chains are as long as allowed."""
        letters = (each for each in self.of(Buried) if each.of == "notify" and TOO_LONG in each.reason)
        return {each.trigger_id for each in letters if each.trigger_id is not None}

    @cached_property
    def run_asked(self) -> list[RunAsked]:
        """All actions on runs."""
        return self.of(RunAsked)

    @cached_property
    def run_asked_of(self) -> dict[tuple[str, str], list[RunAsked]]:
        """The same by uid and run id."""
        found: dict[tuple[str, str], list[RunAsked]] = defaultdict(list)
        for each in self.run_asked:
            for run in self.meant_by(each):
                found[run].append(each)
        return found

    def meant_by(self, asked: RunAsked) -> list[tuple[str, str]]:
        """The runs that an action may have meant, by uid and run id.

        By a name alone it is the run that began last, of all jobs that have had the job's name.
        """
        uids = self.namesakes[asked.name, asked.run_id] if asked.is_by_name else set()
        return [(uid, asked.run_id) for uid in sorted({asked.uid} | uids)]

    @cached_property
    def namesakes(self) -> dict[tuple[str, str], set[str]]:
        """The uids of a run's name, by the names of job and run."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for (uid, run_id), stored in self.runs_of.items():
            found[stored[0].name, run_id].add(uid)
        return found

    @cached_property
    def ended_by_hand(self) -> set[str]:
        """The triggers whose runs ended because a caller reported them as complete without a token."""
        by_hand = (each for each in self.run_asked if each.verb == "complete" and each.attempt is None)
        return {
            f"{asked.uid}-{asked.run_id}"
            for asked in by_hand
            if any(
                each.state == "succeeded" and each.at >= asked.at
                for each in self.runs_of.get((asked.uid, asked.run_id), [])
            )
        }

    @cached_property
    def run_answers(self) -> list[RunAnswered]:
        """The answers to actions on runs."""
        return self.of(RunAnswered)

    @cached_property
    def run_answers_of(self) -> dict[tuple[str, str], list[RunAnswered]]:
        """The same by uid and run id."""
        found: dict[tuple[str, str], list[RunAnswered]] = defaultdict(list)
        for each in self.run_answers:
            found[each.asked.uid, each.asked.run_id].append(each)
        return found

    @cached_property
    def redriven_from(self) -> dict[str, int]:
        """The first attempt that a redrive made of each trigger that was redriven."""
        return {
            f"{uid}-{run_id}": next(each.attempts for each in stored if is_redrive(each))
            for (uid, run_id), stored in self.runs_of.items()
            if any(is_redrive(each) for each in stored)
        }

    @cached_property
    def redrives_of(self) -> Counter[str]:
        """How often a redrive took up each trigger that was given up."""
        counts = {
            f"{uid}-{run_id}": sum(map(is_redrive, stored)) for (uid, run_id), stored in self.runs_of.items()
        }
        return Counter(counts)

    def has_clock_stepped(self, since: int, until: int) -> bool:
        """Return whether a clock has stepped between two instants."""
        return any(since <= each <= until for each in self._clock_steps)

    @cached_property
    def _clock_steps(self) -> list[int]:
        return [each.at for each in self.of(Mishap) if each.kind == CLOCK_STEPPED]

    @cached_property
    def killed_at(self) -> list[int]:
        """When a trigger ended the function that made its request."""
        return [each.at for each in self.of(Mishap) if killer_of(each) is not None]

    @cached_property
    def runs_of(self) -> dict[tuple[str, str], list[RunStored]]:
        """What was stored of each run, by uid and run id."""
        runs: dict[tuple[str, str], list[RunStored]] = defaultdict(list)
        for each in self.of(RunStored):
            runs[each.uid, each.run_id].append(each)
        return runs

    def runs_at(self, uid: str, due_at: int) -> list[RunStored]:
        """Return what was stored last of each run of a job that was due then."""
        return [
            stored[-1]
            for (of, run_id), stored in self.runs_of.items()
            if of == uid and run_id.startswith(str(due_at))
        ]

    @cached_property
    def turns_of(self) -> dict[str, list[Requested | RunStored | LineStored]]:
        """By uid, the events of a job's runs, and of its line if they take turns."""
        turns: dict[str, list[Requested | RunStored | LineStored]] = defaultdict(list)
        for each in self.events:
            if isinstance(each, Requested | RunStored | LineStored):
                turns[each.uid].append(each)
        return turns

    @cached_property
    def bulk_writes(self) -> list[BulkWriteAnswered]:
        """The answers to calls that write many jobs. Most traces have none."""
        return self.of(BulkWriteAnswered)

    @cached_property
    def marked(self) -> list[Marked]:
        """The runs that the progress of batches shows as over. Most traces have none."""
        return self.of(Marked)

    @cached_property
    def batches_ended(self) -> list[BatchEnded]:
        """The batches whose heads say that all of their runs are over."""
        return self.of(BatchEnded) if self.marked else []

    @cached_property
    def timers(self) -> list[TimerStored]:
        """All timers that were written, without those that were lost."""
        lost = self.of(TimerLost)
        return [
            each
            for each in self.of(TimerStored)
            if not self._is_lost(each.at)
            and not any(
                each.name == loss.name and each.at <= loss.at and each.due_at >= loss.since for loss in lost
            )
        ]

    @cached_property
    def deadlines_of(self) -> dict[str, list[TimerStored]]:
        """The deadline timers that were written, by trigger id."""
        found: dict[str, list[TimerStored]] = defaultdict(list)
        for each in self.timers:
            if each.kind == "deadline":
                found[each.trigger_id].append(each)
        return found

    @cached_property
    def cursors(self) -> dict[int, list[CursorStored]]:
        """Every cursor that was committed, by shard, without those that a loss of the table has undone."""
        cursors: dict[int, list[CursorStored]] = defaultdict(list)
        for each in self.of(CursorStored):
            if not self._is_lost(each.at):
                cursors[each.shard].append(each)
        return cursors

    @cached_property
    def losses(self) -> list[TimersLost]:
        """The losses of the Timers table. Most traces have none."""
        return self.of(TimersLost)

    def _is_lost(self, written_at: int) -> bool:
        """Whether what was written to the Timers table then is as if it had never been."""
        return any(loss.back_to < written_at <= loss.at for loss in self.losses)

    def is_passed(self, timer: TimerStored, at: int | None = None) -> bool:
        """Return whether a shard's last cursor at an instant, or at the end, lies behind a timer."""
        cursors = self.cursors.get(timer.shard, [])
        last = next((each for each in reversed(cursors) if at is None or each.at <= at), None)
        return last is not None and last.has_passed(timer.place)


Named = TypeVar("Named", Requested, Concluded)


def killer_of(mishap: Mishap) -> str | None:
    """Return the id of the trigger whose request ended its function; None for any other mishap."""
    _, is_own, trigger_id = mishap.where.partition(_KILLS)
    return trigger_id if is_own else None


def is_redrive(stored: RunStored) -> bool:
    """Whether a redrive took up a run that was given up."""
    return (stored.before, stored.state) == ("failed", "claimed")


def _grouped(events: Sequence[Named]) -> dict[str, list[Named]]:
    grouped: dict[str, list[Named]] = defaultdict(list)
    for each in events:
        grouped[each.trigger_id].append(each)
    return grouped
