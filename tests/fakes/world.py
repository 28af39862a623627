"""A world in memory for use cases to run in: stores, queue, consumers and a clock that a test moves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tests.fakes.doubles import NOON as NOON  # noqa: PLC0414 - said again: it is when a world begins
from tests.fakes.doubles import (
    Consumers,
    CountingIds,
    HandClock,
    Interrupted,
    Letterbox,
    NoSweepers,
    OneSecret,
    SkewedClock,
    one_by_one,
)
from tests.fakes.memory import (
    MemoryAudits,
    MemoryChanges,
    MemoryJobs,
    MemoryLeases,
    MemoryPayloads,
    MemoryRuns,
    MemorySlots,
    MemoryTimers,
)

from sweephand.base.instants import Instant
from sweephand.jobs.bulk import Bulk
from sweephand.jobs.change_history import Changes
from sweephand.jobs.commit import Commits
from sweephand.jobs.expiry import Completions
from sweephand.jobs.on_demand import Backfilled, Demands
from sweephand.jobs.pause import Pauser
from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer, Written
from sweephand.model.change import Change
from sweephand.model.definition import CatchUpMode, Definition, Payload
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run
from sweephand.model.trigger import Trigger
from sweephand.model.wire import encode
from sweephand.ports import Clock, Page, Targets
from sweephand.runs.auto_pause import JobPauses
from sweephand.runs.callbacks import Reporter
from sweephand.runs.deliver import Deliverer
from sweephand.runs.flow.overlap_queue import Turns
from sweephand.runs.intake import BatchHandler, Handled, Received
from sweephand.runs.redrive import Redriver
from sweephand.wheel.sweep import Sweeper, Swept
from sweephand.wheel.tick import Ticked, Ticker

Port = TypeVar("Port")


class World:
    """One stack in memory. `announce` is told before and after every call of a port.

    Its functions have clocks of their own, which a test may set ahead or behind. Its delivery function
    delivers to `targets`, by default to `consumers`.
    """

    def __init__(self, now: Instant = NOON, shards: int = 2, targets: Targets | None = None) -> None:
        self.clock = HandClock(now)
        self.api_clock = SkewedClock(self.clock)
        self.wheel_clock = SkewedClock(self.clock)
        self.delivery_clock = SkewedClock(self.clock)
        self.ids = CountingIds()
        self.jobs = MemoryJobs()
        self.changes = MemoryChanges()
        self.timers = MemoryTimers()
        self.leases = MemoryLeases()
        self.runs = MemoryRuns()
        self.slots = MemorySlots()
        self.payloads = MemoryPayloads(self.clock.now)
        self.audits = MemoryAudits()
        self.queue = Letterbox(self.clock)
        self.consumers = Consumers(self.clock)
        self._targets = targets
        self.sweepers = NoSweepers()
        self.shards = shards
        self.announce: Callable[[str], None] = quiet
        self.leases.raise_shards(shards)

    def _port(self, port: Port, called: str) -> Port:
        return Interrupted(port, called, self._announce)  # type: ignore[return-value]

    def _announce(self, call: str) -> None:
        self.announce(call)

    def commits(self) -> Commits:
        return Commits(
            jobs=self._port(self.jobs, "jobs"),
            changes=self._port(self.changes, "changes"),
            timers=self._port(self.timers, "timers"),
            queue=self._port(self.queue, "queue"),
            payloads=self._port(self.payloads, "payloads"),
            clock=self.api_clock,
        )

    def writer(self) -> Writer:
        return Writer(
            jobs=self._port(self.jobs, "jobs"),
            changes=self._port(self.changes, "changes"),
            commits=self.commits(),
            clock=self.api_clock,
            ids=self.ids,
            shards=lambda: self.shards,
        )

    def pauser(self) -> Pauser:
        return Pauser(
            jobs=self._port(self.jobs, "jobs"),
            changes=self._port(self.changes, "changes"),
            clock=self.api_clock,
            ids=self.ids,
        )

    def resumer(self) -> Resumer:
        return Resumer(
            jobs=self._port(self.jobs, "jobs"),
            runs=self._port(self.runs, "runs"),
            commits=self.commits(),
            completions=Completions(
                jobs=self._port(self.jobs, "jobs"),
                runs=self._port(self.runs, "runs"),
                clock=self.api_clock,
                ids=self.ids,
            ),
            ids=self.ids,
        )

    def put(
        self,
        name: str = "job",
        *,
        data: str | None = None,
        if_match: str | None = None,
        if_absent: bool = False,
        **written: Any,
    ) -> Written:
        return self.put_definition(
            name, definition(data=data, **written), if_match=if_match, if_absent=if_absent
        )

    def put_definition(
        self, name: str, written: Definition, *, if_match: str | None = None, if_absent: bool = False
    ) -> Written:
        return self.writer().put(
            key_of(name),
            written,
            caller="test",
            requested_at=self.api_clock.now(),
            if_match=if_match,
            if_absent=if_absent,
        )

    def delete(self, name: str = "job", *, if_match: str | None = None) -> None:
        self.writer().delete(key_of(name), who="test", requested_at=self.api_clock.now(), if_match=if_match)

    def patch(self, name: str = "job", *, without: Sequence[str] = (), **written: Any) -> Written:
        """Write those fields of a job anew and remove those named, as a merge patch does."""

        def patched(before: Definition) -> Definition:
            kept = {field: value for field, value in before.written.items() if field not in without}
            return replace(before, written={**kept, **written})

        return self.writer().patch(key_of(name), patched, caller="test", requested_at=self.api_clock.now())

    def pause(self, name: str = "job", *, reason: str | None = None) -> Job:
        return self.pauser().pause(key_of(name), reason=reason, who="test", requested_at=self.api_clock.now())

    def resume(self, name: str = "job", *, mode: CatchUpMode | None = None) -> Job:
        return self.resumer().resume(key_of(name), who="test", requested_at=self.api_clock.now(), mode=mode)

    def bulk(self) -> Bulk:
        return Bulk(
            jobs=self._port(self.jobs, "jobs"),
            pauser=self.pauser(),
            resumer=self.resumer(),
            writer=self.writer(),
            clock=self.api_clock,
            concurrently=lambda tasks: [task() for task in tasks],
        )

    def changed(self, name: str = "job", before: str = "", limit: int = 50) -> Page[Change]:
        """What was changed of a job, newest first."""
        return Changes(jobs=self.jobs, changes=self.changes).page(key_of(name), before, limit)

    def audit(self) -> PayloadAudit:
        return PayloadAudit(
            jobs=self._port(self.jobs, "jobs"),
            payloads=self._port(self.payloads, "payloads"),
            audits=self._port(self.audits, "audits"),
            clock=self.wheel_clock,
        )

    def demands(self) -> Demands:
        return Demands(
            jobs=self._port(self.jobs, "jobs"),
            queue=self._port(self.queue, "queue"),
            payloads=self._port(self.payloads, "payloads"),
            clock=self.api_clock,
            ids=self.ids,
        )

    def trigger(self, name: str = "job", *, data: str | None = None) -> Trigger:
        payload = None if data is None else Payload.of(data)
        return self.demands().trigger(
            key_of(name),
            payload=payload,
            requested_at=self.api_clock.now(),
            check_data=lambda _: None,
        )

    def backfill(self, name: str = "job", *, since: Instant, until: Instant) -> Backfilled:
        now = self.api_clock.now()
        return self.demands().backfill(key_of(name), since=since, until=until, requested_at=now)

    def sweeper(self, clock: Clock | None = None) -> Sweeper:
        return Sweeper(
            jobs=self._port(self.jobs, "jobs"),
            timers=self._port(self.timers, "timers"),
            leases=self._port(self.leases, "leases"),
            runs=self._port(self.runs, "runs"),
            queue=self._port(self.queue, "queue"),
            clock=clock or self.wheel_clock,
            concurrently=lambda tasks: [task() for task in tasks],
        )

    def sweep(self, first_shard: int = 0, *, seconds: int = 120) -> Swept:
        return self.sweeper().sweep(
            self.leases.state().leases,
            owner=self.ids.token(),
            first_shard=first_shard,
            deadline=self.wheel_clock.now() + seconds * 1_000,
        )

    def tick(self) -> Ticked:
        """What the minute schedule wakes, and the sweepers that it starts."""
        ticker = Ticker(
            leases=self._port(self.leases, "leases"),
            sweeper=self.sweeper(),
            sweepers=self._port(self.sweepers, "sweepers"),
            clock=self.wheel_clock,
            shards=self.shards,
            sweepers_max=10,
        )
        ticked = ticker.tick(owner=self.ids.token(), deadline=self.wheel_clock.now() + 55_000)
        while self.sweepers.started:
            self.sweep(self.sweepers.started.pop(0))
        return ticked

    def deliverer(self) -> Deliverer:
        return Deliverer(
            jobs=self._port(self.jobs, "jobs"),
            runs=self._port(self.runs, "runs"),
            slots=self._port(self.slots, "slots"),
            timers=self._port(self.timers, "timers"),
            queue=self._port(self.queue, "queue"),
            payloads=self._port(self.payloads, "payloads"),
            targets=self._port(self._targets or self.consumers, "consumers"),
            signing=OneSecret(),
            pauses=JobPauses(
                jobs=self._port(self.jobs, "jobs"),
                changes=self._port(self.changes, "changes"),
                clock=self.delivery_clock,
                ids=self.ids,
            ),
            letters=encode,
            clock=self.delivery_clock,
            ids=self.ids,
        )

    def handler(self) -> BatchHandler:
        return BatchHandler(
            deliverer=self.deliverer(),
            jobs=self._port(self.jobs, "jobs"),
            queue=self._port(self.queue, "queue"),
            decode=self.queue.decode,
            clock=self.delivery_clock,
            concurrently=one_by_one,
        )

    def redriver(self) -> Redriver:
        return Redriver(
            jobs=self._port(self.jobs, "jobs"),
            runs=self._port(self.runs, "runs"),
            queue=self._port(self.queue, "queue"),
            clock=self.api_clock,
        )

    def reporter(self) -> Reporter:
        runs, queue = self._port(self.runs, "runs"), self._port(self.queue, "queue")
        slots = self._port(self.slots, "slots")
        return Reporter(
            jobs=self._port(self.jobs, "jobs"),
            runs=runs,
            turns=Turns(slots=slots, runs=runs, queue=queue, clock=self.api_clock, ids=self.ids),
            queue=queue,
            clock=self.api_clock,
            ids=self.ids,
        )

    def redrive(self, run_id: str, name: str = "job") -> Run:
        return self.redriver().redrive(key_of(name), run_id)

    def deliver(self, batch: Sequence[Received]) -> list[Handled]:
        """Hand a batch to the delivery function, and acknowledge what it reports as done."""
        handled = self.handler().handle(batch, deadline=self.delivery_clock.now() + 90_000)
        self.queue.acknowledge([each.received.receipt for each in handled if each.is_done])
        return handled

    def run_until(self, end: Instant, *, ticking: bool = True) -> None:
        """Let time pass: tick at the beginning of every minute, and deliver what may be received."""
        next_tick = self.clock.time - self.clock.time % 60_000 + 60_000
        while self.clock.time < end:
            coming = min([at for at, _ in self.queue.waiting] + [next_tick, end])
            self.clock.time = max(self.clock.time, coming)
            if self.clock.time >= next_tick:
                next_tick += 60_000
                if ticking:
                    self.tick()
            while batch := self.queue.take():
                for handled in self.deliver(batch):
                    assert handled.is_done, f"not done: {handled.error}"
                    if handled.error is not None:
                        raise handled.error


def key_of(name: str = "job") -> JobKey:
    return JobKey("ns", name)


def job_of(name: str = "job", *, now: Instant = NOON, **written: Any) -> Job:
    """A job as its creation at `now` stores it (without arming it), due at `now` unless said otherwise."""
    if "schedule" not in written:
        written = {"dueTime": "0s", **written}
    world = World(now)
    return world.put_definition(name, definition(**written)).job


def definition(*, data: str | None = None, **written: Any) -> Definition:
    """A definition with a target to POST to, and what else is given by the API's names."""
    target = {"type": "http", "url": "https://consumer.example/hook"}
    return Definition({"target": target, **written}, Payload.of(data) if data is not None else None)


def quiet(_: str) -> None:
    """Announcements to nobody."""
