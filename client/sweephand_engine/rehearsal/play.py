"""Plays the triggers of jobs: who waits, who is skipped, what fails, and what follows.

The package decides: its series say what is due, its rules of overlap who waits, its retry policy what follows
a failure. This module has what a stack's queues and tables do in between, without them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from random import Random

from sweephand.base.instants import Instant
from sweephand.base.limits import CHAIN_LENGTH_MAX
from sweephand.base.timing import DEADLINE_GRACE_MS, QUEUE_DELAY_MAX_MS
from sweephand.flow.gate_key import gate_key
from sweephand.model.attempt import Answer
from sweephand.model.job import Job
from sweephand.model.policy import Policy
from sweephand.model.run_id import Demand
from sweephand.model.trigger import Trigger, TriggerMessage, message_of
from sweephand.runs.overlap import decide_arrival
from sweephand.runs.retry import GiveUp, after_failure, is_too_late, too_late
from sweephand.schedules import Occurrence
from sweephand.targets.registry import triggered_job
from sweephand_engine.rehearsal.consumer import Consumer
from sweephand_engine.rehearsal.gate import Gate
from sweephand_engine.rehearsal.runs import ACCEPTED_MS, JobPlay, RunPlay
from sweephand_engine.rehearsal.timeline import Timeline

_UNREACHABLE = Answer(succeeded=False, error="The consumer could not be reached.")
_SUCCEEDED = Answer(succeeded=True, code=204)
_UNAVAILABLE = Answer(succeeded=False, code=503)
_REPORTED = Answer(succeeded=False, error="The consumer reported a failure.")
_SILENT = Answer(succeeded=False, error="The consumer did not complete the run within maxRunTime.")

#: Triggers that wait in a line cost as much as an event, this many together.
_WAITING_PER_EVENT = 10


class Play:
    """The triggers of some jobs from `since` on and before `until`.

    A job has the first of the `consumers` that serves it. In the `outage`, from an instant to another, no
    consumer can be reached. Each job has a chance of its own by the `seed`: another job changes nothing.
    `fraction` replaces the chance of retries.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        policies: Mapping[str, Policy],
        consumers: Iterable[Consumer],
        *,
        timeline: Timeline,
        seed: int = 0,
        outage: tuple[Instant, Instant] | None = None,
        fraction: Callable[[], float] | None = None,
    ) -> None:
        served_by = list(consumers)
        self.since = timeline.now
        self.timeline = timeline
        self.jobs = [
            JobPlay(
                number,
                job,
                next(each for each in served_by if each.serves(job.key.name)),
                Random(f"{seed}:{job.key.name}"),  # noqa: S311 - it has to be the same each time
            )
            for number, job in enumerate(jobs)
        ]
        #: When each trigger was due, with the number of its job. When each attempt began, and how long it was
        #: open.
        self.dues: list[tuple[Instant, int]] = []
        self.attempts: list[tuple[Instant, int]] = []
        self.gates: dict[tuple[str, str | None], Gate] = {}
        self._by_name = {each.name: each for each in self.jobs}
        self._policies = policies
        self._outage = outage
        self._fraction = fraction
        self._tokens = 0

    def run(self) -> None:
        """Play until the end of the timeline, or until its bound is reached."""
        for each in self.jobs:
            self._feed(each, each.messages(self.since, self.timeline.until))
        self.timeline.run()

    def _feed(self, of: JobPlay, messages: Iterator[TriggerMessage]) -> None:
        self.timeline.each((each.not_before, partial(self._due, of, each)) for each in messages)

    def _due(self, of: JobPlay, message: TriggerMessage) -> None:
        of.counts.triggers += 1
        self.dues.append((message.not_before, of.number))
        self._arrive(RunPlay(of, message))

    def _arrive(self, run: RunPlay) -> None:
        """A trigger whose time has come: let it wait for its policy, and then for its turn."""
        of = run.of
        if of.paused_at is not None:
            of.counts.held += 1
        elif (policy := self._policies.get(of.job.definition.policy or "")) is None:
            self._in_turn(run)
        else:
            key = gate_key(policy.by, of.job.definition, of.name)
            name = policy.key.name, key
            if name not in self.gates:
                self.gates[name] = Gate(policy, self.timeline, self._in_turn)
            self.gates[name].enter(run)

    def _in_turn(self, run: RunPlay) -> None:
        """Attempt a trigger if the rule of its job's overlap lets it go, or let it wait, or skip it."""
        of = run.of
        if not of.rule.is_limited:
            self._attempt(run)
            return
        self.timeline.spend(len(of.line.waiting) // _WAITING_PER_EVENT)
        arrival = decide_arrival(
            of.line, run.message, of.rule, has_ended=False, has_begun=run.has_begun, now=self.timeline.now
        )
        of.line = arrival.line
        for each in arrival.replaced:
            self._skip(of.waiting.pop(each.trigger.id))
        if arrival.verdict == "go":
            self._attempt(run)
            return
        self._free(run)
        if arrival.verdict == "wait" and of.line.has(run.message):
            of.waiting[run.id] = run
        elif arrival.verdict == "wait":
            # The line is full, and what is on demand is never skipped. Its message comes again.
            self.timeline.at(self.timeline.now + QUEUE_DELAY_MAX_MS, partial(self._arrive, run))
        else:
            self._skip(run)

    def _attempt(self, run: RunPlay) -> None:
        of, now, message = run.of, self.timeline.now, run.message
        if is_too_late(of.retry, message.first_attempt_at, now):
            self._free(run)
            self._give_up(run, too_late(message.attempt, message.last_failure))
            return
        run.message = message._replace(first_attempt_at=message.first_attempt_at or now)
        if not run.has_begun:
            self._begin(run)
        of.counts.attempts += 1
        if not of.waits:
            self.attempts.append((now, ACCEPTED_MS))
            self.timeline.at(now + ACCEPTED_MS, partial(self._answered, run, _SUCCEEDED))
            return
        if self._outage is not None and self._outage[0] <= now < self._outage[1]:
            self.attempts.append((now, 0))
            self._answered(run, _UNREACHABLE)
            return
        took_ms, fails = of.consumer.answer(of.chance)
        within_ms = of.job.definition.max_run_time_ms if of.is_async else of.timeout_ms
        self.attempts.append((now, ACCEPTED_MS if of.is_async else min(took_ms, within_ms)))
        if of.is_async and run.gate is not None:
            # The consumer has accepted the trigger. What it reports later is nothing for the breaker.
            run.gate.answered(run, _SUCCEEDED)
        if took_ms > within_ms:
            late = _SILENT if of.is_async else _timed_out(within_ms)
            ends_at = now + within_ms + (DEADLINE_GRACE_MS if of.is_async else 0)
            self.timeline.at(ends_at, partial(self._answered, run, late))
        else:
            failure = _REPORTED if of.is_async else _UNAVAILABLE
            self.timeline.at(now + took_ms, partial(self._answered, run, failure if fails else _SUCCEEDED))

    def _begin(self, run: RunPlay) -> None:
        """Note that the first attempt at a trigger begins."""
        counts, of = run.of.counts, run.of
        run.has_begun = True
        counts.begun += 1
        # The triggers of a batch are meant to run together.
        counts.overlapped += of.open > 0 and of.batch is None
        of.open += 1
        counts.open_max = max(counts.open_max, of.open)
        waited_ms = self.timeline.now - run.message.not_before
        counts.waited += waited_ms > 0
        counts.wait_max_ms = max(counts.wait_max_ms, waited_ms)

    def _answered(self, run: RunPlay, answer: Answer) -> None:
        of, gate, message = run.of, run.gate, run.message
        is_told = gate is not None and not (of.is_async and answer is not _UNREACHABLE)
        is_vain = is_told and gate is not None and gate.answered(run, answer)
        self._free(run)
        if is_vain:
            # The attempt of a probe that fails does not count.
            self._arrive(run)
            return
        if answer.succeeded:
            of.counts.succeeded += 1
            self._end(run, "succeeded")
            return
        now = self.timeline.now
        assert message.first_attempt_at is not None, "an attempt was made"
        decision = after_failure(
            of.retry,
            answer,
            attempt=message.attempt,
            first_attempt_at=message.first_attempt_at,
            now=now,
            fraction=of.chance.random() if self._fraction is None else self._fraction(),
        )
        if isinstance(decision, GiveUp):
            self._give_up(run, decision)
            return
        of.counts.retried += message.attempt == 1
        at = max(decision.at, message.trigger.at)
        run.message = message._replace(attempt=message.attempt + 1, not_before=at)
        self.timeline.at(at, partial(self._arrive, run))

    def _give_up(self, run: RunPlay, decision: GiveUp) -> None:
        counts, now = run.of.counts, self.timeline.now
        counts.failed += 1
        if counts.failed_at is None:
            counts.failed_at, counts.failure = now, decision.reason
        if run.of.job.definition.pauses_on_error and run.of.paused_at is None:
            run.of.paused_at = now
        self._end(run, "failed")

    def _skip(self, run: RunPlay) -> None:
        run.of.counts.skipped += 1
        self._end(run, "skipped")

    def _end(self, run: RunPlay, state: str) -> None:
        """What follows the end of a run: the next one in the line, and the next job of the chain."""
        of, now = run.of, self.timeline.now
        of.open -= run.has_begun
        alert_after_ms = of.alert_after_ms
        if alert_after_ms is not None:
            of.counts.missed += state != "succeeded" or now > run.message.trigger.at + alert_after_ms
        if of.line.holder is not None and of.line.holder.id == run.id:
            of.line = of.line.advanced(now)
            if of.line.holder is not None:
                self.timeline.at(now, partial(self._arrive, of.waiting.pop(of.line.holder.id)))
        if of.job.definition.on_complete is not None:
            self._follow(run, state)

    def _follow(self, run: RunPlay, state: str) -> None:
        """Trigger the next job of a chain. A batch has one end, after that of all its runs."""
        of, trigger = run.of, run.message.trigger
        due_at = trigger.due_at
        if of.batch is not None:
            batch = f"{due_at}-{'' if trigger.demand is None else trigger.demand.token}"
            left, has_failed = of.batches.get(batch, (of.batch.size, False))
            left, has_failed = left - 1, has_failed or state != "succeeded"
            of.batches[batch] = left, has_failed
            if left:
                return
            del of.batches[batch]
            due_at, state = self.timeline.now, "failed" if has_failed else "succeeded"
        assert of.job.definition.on_complete is not None, "the caller looks"
        name = triggered_job(of.job.definition.on_complete, state)
        link = 1 if trigger.demand is None else trigger.demand.link + 1
        if name in self._by_name and link <= CHAIN_LENGTH_MAX:
            self._tokens += 1
            demand = Demand("chained", f"{self._tokens}", link)
            following = self._by_name[name]
            self._feed(following, self._on_demand(following, demand, due_at))

    def _on_demand(self, of: JobPlay, demand: Demand, due_at: Instant) -> Iterator[TriggerMessage]:
        """The messages of what a chain triggers: one, or a batch that begins now."""
        now, batch = self.timeline.now, of.batch
        if batch is None:
            job = of.job
            trigger = Trigger(job.key, job.uid, job.rev, due_at, sequence=0, armed_at=now, demand=demand)
            yield TriggerMessage(trigger, now)
            return
        for index in range(batch.size):
            occurrence = Occurrence(now, 0, index, batch.after_ms(index, batch.window_ms))
            yield message_of(of.job, occurrence, now, demand)

    def _free(self, run: RunPlay) -> None:
        if run.gate is not None:
            run.gate.free(run)


def _timed_out(within_ms: int) -> Answer:
    return Answer(succeeded=False, error=f"No response came within {within_ms / 1_000:g} s.")
