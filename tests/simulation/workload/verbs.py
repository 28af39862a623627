"""What a client can ask of a job, one function for each action.

Each calls production code and returns the answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, TypeAlias

from tests.fakes.world import definition
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.recorder import Asking
from tests.simulation.traces.trace import Verb
from tests.simulation.workload.batches import Batches, allowed_with_batch
from tests.simulation.workload.bulk_writes import WRITE_MANY, WRITE_ONE, BulkWrites, Entry
from tests.simulation.workload.bulk_writes_asked import write_many
from tests.simulation.workload.bulks import DELETE_MANY, PAUSE_MANY, RESUME_MANY, Bulks
from tests.simulation.workload.bulks_asked import delete_many, pause_many, resume_many
from tests.simulation.workload.bundling import GATHER, Bundling, Packs
from tests.simulation.workload.calendars import PUT_CALENDAR, REMOVE_CALENDAR, Calendars
from tests.simulation.workload.crowds import CROWD, crowd_definition
from tests.simulation.workload.drills import looks_far_back
from tests.simulation.workload.flows import CANCEL, COMPLETE, REDRIVE, REDRIVE_MANY, Flows
from tests.simulation.workload.forms import (
    BOUND,
    CATCH_UPS,
    DENSE,
    LISTS,
    MARGINAL,
    MODES,
    PATCHES,
    RETIMINGS,
    RETRIES,
    SPARSE,
    SPARSE_PATCHES,
    SPARSE_RETIMINGS,
)
from tests.simulation.workload.lanes import JOIN, Lanes
from tests.simulation.workload.leaving import Leaving
from tests.simulation.workload.modes import Modes
from tests.simulation.workload.on_demand import OnDemand, is_on_demand, judged
from tests.simulation.workload.overlapping import Overlapping
from tests.simulation.workload.pauses import pause_end
from tests.simulation.workload.policies import Policies
from tests.simulation.workload.runs_asked import cancel, complete, redrive, redrive_many
from tests.simulation.workload.updates import PUT_OFTEN, TOUCH, often
from tests.simulation.workload.watches import Watches
from tests.simulation.workload.weeks import PATCHES as PATCHES_FOR_WEEKS
from tests.simulation.workload.weeks import Weeks

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.jobs.bulk import JobToWrite
from sweephand.jobs.calendar_fields import closed_days_of
from sweephand.jobs.write import WriteResult
from sweephand.model.calendar import ResolvedDays
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import JobKey, PauseEnd
from sweephand.web.http.operation import Services

#: The key that all clients use.
CLIENT: Final = "client"

#: Data over 2 KB is stored apart from the job.
_LARGE: Final = 3_000


@dataclass(slots=True)
class Known:
    """What the clients of a name know of it: their last definition, and the revision of the last answer.

    `cursors` are the cursors of bulk calls, by the number of their request. `entries` are what the client of
    a call of that name sends, whenever it sends it.
    """

    definition: Definition | None = None
    rev: str | None = None
    cursors: dict[int, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] | None = None


@dataclass(slots=True)
class Request:
    """One request: of an API function, about a job, at an instant by the client's clock.

    Its `random` is the same whenever the request is repeated. The request keeps what it learns in `known`.
    """

    api: Services
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
    bulks: Bulks
    leaving: Leaving
    weeks: Weeks
    modes: Modes
    on_demand: OnDemand
    bundling: Bundling
    packs: Packs
    bulk_writes: BulkWrites
    batches: Batches
    policies: Policies
    lanes: Lanes
    watches: Watches
    calendars: Calendars

    @property
    def at(self) -> Instant:
        """When the request was made, by the clock of the function that serves it."""
        return self.asking.asked_at

    def new_definition(self) -> Definition:
        """Return a definition whose data differs from all others."""
        random = self.random
        if self.weeks.is_on:
            self.known.definition = definition(data=self.new_data(), **self.weeks.written(random))
            return self.known.definition
        forms = SPARSE if self.is_sparse else random.choice((DENSE, DENSE, BOUND))
        written = dict(random.choice(forms))
        if not self.is_sparse and random.random() < 1 / 20:
            written = {"schedule": self._instants()}
        if self.is_at_margins and random.random() < 1 / 2:
            written = dict(random.choice(MARGINAL), dueTime=f"{random.randrange(120, 360)}s")
        if (catch_up := random.choice(CATCH_UPS)) is not None:
            written["catchup"] = catch_up
        written["retry"] = random.choice(RETRIES)
        if (history := random.random()) < 1 / 2:
            written["history"] = "failures" if history < 1 / 4 else "full"
        written |= self.overlapping.written(self.key.name, random)
        written = self.flows.added(written, self.key.name, self.number, is_sparse=self.is_sparse)
        written = self.leaving.added(written, self.number, is_sparse=self.is_sparse)
        for kind in (self.bulks, self.modes, self.packs):
            written = kind.added(written, self.number)
        written = self.on_demand.added(written, self.key.name, self.number)
        written = self.batches.added(written, self.number)
        for limit in (self.policies, self.lanes, self.watches, self.calendars):
            written = limit.added(written, self.number)
        self.known.definition = definition(data=self.new_data(), **written)
        return self.known.definition

    def _instants(self) -> list[str]:
        """Return a list of instants that begins about now."""
        apart_s, number = self.random.choice(LISTS)
        begins_at = self.at - self.at % SECOND_MS + self.random.randrange(-2, 300) * SECOND_MS
        return [rfc3339(begins_at + each * apart_s * SECOND_MS) for each in range(number)]

    def new_data(self) -> str:
        """Return JSON that names the request."""
        filling = "x" * _LARGE if self.random.random() < 1 / 4 else ""
        return f'"{self.number}{filling}"'

    def pause_end(self) -> PauseEnd | None:
        """Return when the pause that is asked for ends by itself, if it does."""
        end = pause_end(self.weeks.seed, self.number, self.at)
        if end is not None:
            self.asking.until, self.asking.catchup = end
        return end

    def put(
        self, written: Definition, *, if_match: tuple[str, ...] | None = None, if_absent: bool = False
    ) -> WriteResult:
        """PUT the definition, or write it in bulk as the only job of the call."""
        if if_match is None and not if_absent and self.bulks.writes_in_bulk(self.number):
            return self._put_in_bulk(written)
        return self.api.writer.put(
            self.key,
            written,
            caller=CLIENT,
            requested_at=self.at,
            if_match=if_match,
            if_absent=if_absent,
        )

    def _put_in_bulk(self, written: Definition) -> WriteResult:
        self.chronicle.figures["bulk writes"] += 1
        job = JobToWrite(self.key, written)
        [result] = self.api.bulk_writer.put([job], caller=CLIENT, requested_at=self.at)
        if isinstance(result, WriteResult):
            return result
        raise result


#: Performs an action, and returns the uid and revision of the answer, or None if it has none.
Ask: TypeAlias = Callable[[Request], tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class Action:
    """An action of clients, and how frequent it is compared with the others."""

    verb: Verb
    weight: float
    ask: Ask


def _told(written: WriteResult) -> tuple[str, str]:
    return written.job.uid, written.job.rev


def _put(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition()))


def _put_data(request: Request) -> tuple[str, str]:
    """Replace the job with other data, so that the series continues."""
    last = request.known.definition or request.new_definition()
    renewed = definition(data=request.new_data(), **last.written)
    request.known.definition = renewed
    return _told(request.put(renewed))


def _put_equal(request: Request) -> tuple[str, str]:
    return _told(request.put(request.known.definition or request.new_definition()))


def _put_if_match(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition(), if_match=(request.known.rev or "*",)))


def _create(request: Request) -> tuple[str, str]:
    return _told(request.put(request.new_definition(), if_absent=True))


def _delete(request: Request) -> None:
    request.api.writer.delete(request.key, who=CLIENT, requested_at=request.at)


def _delete_if_match(request: Request) -> None:
    known = request.known.rev
    if_match = None if known is None else (known,)
    request.api.writer.delete(request.key, who=CLIENT, requested_at=request.at, if_match=if_match)


def _patch(request: Request) -> tuple[str, str]:
    """Patch some fields, beside a label that makes it a change."""
    fields = request.random.choice(SPARSE_PATCHES if request.is_sparse else PATCHES)
    fields = fields | request.overlapping.patched(request.key.name, request.random)
    fields = fields | request.leaving.patched(request.number) | request.modes.patched(request.number)
    fields = fields | request.batches.patched(request.number)
    if request.weeks.is_on:
        fields = request.random.choice(PATCHES_FOR_WEEKS)

    def patched(before: Definition) -> Definition:
        # Some patches remove the label by which bulk calls choose jobs.
        kept = before.labels if request.number % 3 else {}
        labels = {**kept, "patch": str(request.number)}
        written = request.calendars.patched({**before.written, **fields, "labels": labels}, request.number)
        return replace(before, written=_judged(written))

    return _told(request.api.writer.patch(request.key, patched, caller=CLIENT, requested_at=request.at))


def _retimed(request: Request, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition of which one field that says when is changed or removed."""
    change = request.random.choice(SPARSE_RETIMINGS if request.is_sparse else RETIMINGS)
    written = {**before, **change, "labels": {**before.get("labels", {}), "retimed": str(request.number)}}
    if is_on_demand(written):
        written["dueTime"] = before.get("dueTime")
    written = request.on_demand.retimed(written, request.number)
    return _judged({name: value for name, value in written.items() if value is not None})


def _judged(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition without the fields that the API would refuse beside the others."""
    return allowed_with_batch(judged(written))


def _put_often(request: Request) -> tuple[str, str]:
    """Replace a job by one that fires as often as it will be updated."""
    written = definition(data=request.new_data(), **often(request.random))
    request.known.definition = written
    return _told(request.put(written))


def _touch(request: Request) -> tuple[str, str]:
    """Patch a label and nothing else."""

    def patched(before: Definition) -> Definition:
        labels = {**before.labels, "patch": str(request.number)}
        return replace(before, written={**before.written, "labels": labels})

    return _told(request.api.writer.patch(request.key, patched, caller=CLIENT, requested_at=request.at))


def _patch_timing(request: Request) -> tuple[str, str]:
    """Patch jitter, dst, time zone, dueTime or repeats."""

    def patched(before: Definition) -> Definition:
        return replace(before, written=_retimed(request, before.written))

    return _told(request.api.writer.patch(request.key, patched, caller=CLIENT, requested_at=request.at))


def _put_timing(request: Request) -> tuple[str, str]:
    """Replace a job by its last definition with another jitter, dst, time zone, dueTime or repeats."""
    last = request.known.definition or request.new_definition()
    retimed = replace(last, written=_retimed(request, last.written))
    request.known.definition = retimed
    return _told(request.put(retimed))


def _pause(request: Request) -> tuple[str, str]:
    pauser, end = request.api.pauser, request.pause_end()
    job = pauser.pause(request.key, reason=None, who=CLIENT, requested_at=request.at, end=end)
    return job.uid, job.rev


def _resume(request: Request) -> tuple[str, str]:
    mode = request.random.choice(MODES)
    request.asking.catchup = mode
    job = request.api.resumer.resume(request.key, who=CLIENT, requested_at=request.at, mode=mode)
    return job.uid, job.rev


def _trigger(request: Request) -> tuple[str, str]:
    payload = Payload.of(request.new_data())
    trigger = request.api.on_demand.trigger(
        request.key, payload=payload, requested_at=request.at, check_data=lambda _: None
    )
    return trigger.uid, trigger.rev


def _backfill(request: Request) -> None:
    since = request.at - request.random.randrange(4 * MINUTE_MS)
    if looks_far_back(request.weeks.seed):
        # No run of the schedule that was due then may be under way, and newer runs lie between.
        since -= 3 * DAY_MS
    request.api.on_demand.backfill(
        request.key,
        since=since - MINUTE_MS,
        until=since,
        requested_at=request.at,
        traceparent=f"00-{'a' * 32}-{'b' * 16}-01",
    )


def _crowd(request: Request) -> tuple[str, str]:
    written = crowd_definition(request.number)
    return _told(request.put(definition(data=request.new_data(), **written), if_absent=True))


def _join(request: Request) -> tuple[str, str]:
    written = request.lanes.definition(request.key.name)
    return _told(request.put(definition(**written), if_absent=True))


def _gather(request: Request) -> tuple[str, str]:
    written = request.bundling.definition(is_new=request.known.definition is None)
    request.known.definition = definition(data=request.new_data(), **written)
    return _told(request.put(request.known.definition))


def _write_one(request: Request) -> tuple[str, str]:
    """Replace one of the jobs that others write in bulk."""
    written = request.bulk_writes.one(request.number, request.at)
    return _told(request.put(definition(data=request.new_data(), **written)))


def _put_calendar(request: Request) -> None:
    """Write a calendar. A repeated request writes the same days."""
    written = request.calendars.content(request.number)
    days, reasons = closed_days_of(written, {})
    resolved = ResolvedDays(days.text(), reasons)
    key = request.calendars.key(request.key.name)
    request.api.calendars.put(key, written, resolved, who=CLIENT, requested_at=request.at)


def _remove_calendar(request: Request) -> None:
    key = request.calendars.key(request.key.name)
    request.api.calendars.delete(key, who=CLIENT, requested_at=request.at)


#: All actions of clients, by name. A new action is one more entry.
ACTIONS: Final[Mapping[str, Action]] = {
    "put": Action("replace", 5, _put),
    "put with other data": Action("replace", 3, _put_data),
    "put the same": Action("replace", 1, _put_equal),
    "put if match": Action("replace", 1, _put_if_match),
    "create": Action("replace", 2, _create),
    "patch": Action("patch", 2, _patch),
    "patch of timing": Action("patch", 1.5, _patch_timing),
    "put of timing": Action("replace", 1.5, _put_timing),
    "pause": Action("pause", 1.5, _pause),
    "resume": Action("resume", 2.5, _resume),
    "trigger": Action("trigger", 0.7, _trigger),
    "backfill": Action("backfill", 0.5, _backfill),
    "delete": Action("delete", 1.5, _delete),
    "delete if match": Action("delete", 0.5, _delete_if_match),
    # For seeds with a backlog (backlogs.py).
    CROWD: Action("create", 0, _crowd),
    # For seeds in which jobs fire together (bundling.py).
    GATHER: Action("replace", 0, _gather),
    # Actions on runs have a plan of their own (flows.py).
    CANCEL: Action("cancel", 0, cancel),
    COMPLETE: Action("complete", 0, complete),
    REDRIVE: Action("redrive", 0, redrive),
    REDRIVE_MANY: Action("redrive many", 0, redrive_many),
    # Bulk calls have one, too (bulks.py).
    PAUSE_MANY: Action("pause many", 0, pause_many),
    RESUME_MANY: Action("resume many", 0, resume_many),
    DELETE_MANY: Action("delete many", 0, delete_many),
    # So do calls that write many jobs (bulk_writes.py).
    WRITE_MANY: Action("replace", 0, write_many),
    WRITE_ONE: Action("replace", 0, _write_one),
    # For seeds in which a job is updated as often as it fires (updates.py).
    PUT_OFTEN: Action("replace", 0, _put_often),
    TOUCH: Action("patch", 0, _touch),
    # For seeds whose stacks have lanes (lanes.py).
    JOIN: Action("create", 0, _join),
    # For seeds with calendars (calendars.py).
    PUT_CALENDAR: Action("calendar", 0, _put_calendar),
    REMOVE_CALENDAR: Action("calendar", 0, _remove_calendar),
}
