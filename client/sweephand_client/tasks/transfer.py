"""Moves a namespace between stacks: exports it, and imports an export."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from sweephand_client.api.client import Client
from sweephand_client.http import exact_json
from sweephand_client.http.errors import (
    ForbiddenError,
    NotFoundError,
    Problem,
    RefusedError,
)
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.job_answers import JobResponse, OccurrenceResponse
from sweephand_client.openapi.namespaces import NamespaceRequest
from sweephand_client.openapi.policies import PolicyRequest, PolicyResponse
from sweephand_client.openapi.requests import PreviewRequest
from sweephand_client.openapi.windows import WindowRequest
from sweephand_client.tasks.archive import FORM, Archive
from sweephand_client.tasks.job_fields import written_fields
from sweephand_client.tasks.placing import Placed, instant, place, repeats_by_days, rfc3339
from sweephand_client.tasks.writing import (
    Write,
    attempt,
    create_paused,
    is_incomplete,
    remove_incomplete,
    write_job,
    write_jobs,
)

_AT_ONCE: Final = 8

#: How far the clock of this machine may be ahead of the stack's. The shortest period of a schedule is 1 s.
_CLOCKS_DIFFER_S: Final = 30
_PREVIEWED: Final = 100

#: No series began earlier.
_BEFORE_ALL: Final = "1970-01-01T00:00:00Z"

_OTHER_OFFSET: Final = "its jitter has another offset here, so its first or last due time may be missing"

Kind = Literal["settings", "calendar", "window", "policy", "job"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A job that an export does not have, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Export:
    """The lines of an export as they are read from the stack, and what it leaves out, known at the end."""

    lines: Iterator[str]
    left_out: list[LeftOut]


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one thing of an export. `notes` are sentences about it."""

    kind: Kind
    name: str
    outcome: Literal["written", "exists", "over", "refused"]
    notes: tuple[str, ...] = ()
    problem: Problem | None = None


def export(client: Client, namespace: str, *, now: dt.datetime, seen: Callable[[], None]) -> Export:
    """A namespace as lines of JSON: settings, calendars, windows, policies and jobs as they were written.

    Each job has its next and its last due time, from which an import knows when it fires. Jobs that are
    completed are left out, and so are windows that do not open again. `seen` is called for each job. Raises
    ForbiddenError for a key that may only read: the API hides the values of headers from it.
    """
    me = client.me()
    if me["role"] == "read":
        raise ForbiddenError(
            Problem(
                403, "", "An export needs the role write or admin: a key with the role read sees no headers."
            )
        )
    left_out: list[LeftOut] = []
    return Export(_lines(client, namespace, now, seen, left_out), left_out)


def _lines(
    client: Client, namespace: str, now: dt.datetime, seen: Callable[[], None], left_out: list[LeftOut]
) -> Iterator[str]:
    yield _line({"sweephand": FORM, "namespace": namespace, "exportedAt": rfc3339(now)})
    settings = client.namespaces.get(namespace)
    if "rev" in settings:
        yield _line({"settings": _chosen(settings, NamespaceRequest)})
    calendars = 0
    for calendar in client.calendars.list(namespace):
        name = calendar["name"]
        calendars += 1
        definition = _chosen(client.calendars.get(namespace, name), CalendarRequest)
        yield _line({"calendar": name, "definition": definition})
    windows = 0
    for window in client.windows.list(namespace):
        if window["closesAt"] is not None:
            windows += 1
            yield _line({"window": window["name"], "definition": _chosen(window, WindowRequest)})
    policies = 0
    for policy in client.policies.list(namespace):
        policies += 1
        yield _line(_policy_line(policy))
    jobs = 0
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for listed in _in_chunks(client.jobs.list(namespace)):
            for line, reason in threads.map(partial(_job_line, client, namespace), listed):
                seen()
                if line is None:
                    left_out.append(LeftOut(reason[0], reason[1]))
                else:
                    jobs += 1
                    yield _line(line)
    yield _line({"end": {"calendars": calendars, "windows": windows, "policies": policies, "jobs": jobs}})


def _policy_line(policy: PolicyResponse) -> dict[str, Any]:
    line: dict[str, Any] = {"policy": policy["name"], "definition": _chosen(policy, PolicyRequest)}
    return line | ({"paused": policy.get("pauseReason", True)} if policy["state"] == "paused" else {})


def _job_line(
    client: Client, namespace: str, listed: JobResponse
) -> tuple[dict[str, Any] | None, tuple[str, str]]:
    """The line of a job, or None and its name with the reason to leave it out."""
    name = listed["name"]
    if listed["state"] == "completed":
        return None, (name, "it is completed")
    if is_incomplete(listed):
        return None, (name, "its creation was interrupted")
    try:
        job = client.jobs.get(namespace, name)
        due = client.jobs.occurrences(namespace, name, limit=3)
    except NotFoundError:
        return None, (name, "it was deleted during the export")
    line: dict[str, Any] = {"job": name, "definition": written_fields(job)}
    if job["state"] == "paused":
        line["paused"] = job.get("pauseReason", True)
        line |= {name: value for name, value in job.items() if name in ("pausedUntil", "resumeCatchup")}
    if not job.get("onDemand"):
        if not due["occurrences"]:
            return None, (name, "no due time is left")
        line["nextAt"] = due["occurrences"][0]["utc"]
        if due["end"] is not None:
            line["lastAt"] = due["end"]
        if repeats_by_days(line["definition"]) and _is_moved(due["occurrences"]):
            line["startAt"] = _usual_before(client, namespace, name, due["occurrences"])
    return line, (name, "")


def _is_moved(coming: Sequence[OccurrenceResponse]) -> bool:
    """Whether the first due time has another time of day than those that follow, by a clock change."""
    first, *following = (_time_of_day(each) for each in coming)
    return len(following) > 1 and len(set(following)) == 1 and first != following[0]


def _usual_before(client: Client, namespace: str, name: str, coming: Sequence[OccurrenceResponse]) -> str:
    """An earlier due time of a job at the time of day of later ones; the next one if none is known."""
    earliest = client.jobs.occurrences(namespace, name, after=_BEFORE_ALL, limit=3)["occurrences"]
    usual = _time_of_day(coming[1])
    return next((each["utc"] for each in earliest if _time_of_day(each) == usual), coming[0]["utc"])


def _time_of_day(occurrence: OccurrenceResponse) -> str:
    return occurrence["local"][11:23]


def _line(value: Mapping[str, Any]) -> str:
    """A value as JSON on one line. An operator may look at the export in a terminal."""
    return exact_json.terminal_safe(exact_json.write(value))


class Importer:
    """Writes an export into a namespace. What exists there stays as it is, unless `replaces`.

    So an import that was interrupted can be run again. A paused job that it left incomplete does not count as
    one that exists.
    """

    def __init__(
        self, client: Client, namespace: str, archive: Archive, *, now: dt.datetime, replaces: bool = False
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._archive = archive
        self._now = now
        self._replaces = replaces

    def run(self) -> Iterator[Imported]:
        """Write settings, calendars, windows, policies and jobs, and tell of each.

        A refusal does not stop the others.
        """
        yield from self._settings()
        yield from self._calendars()
        yield from self._windows()
        yield from self._policies()
        existing = {} if not self._archive.jobs else self._existing()
        plain: list[_PlainJob] = []
        for name, line in self._archive.jobs.items():
            stored = existing.get(name)
            if stored is not None and stored.is_incomplete:
                if not self._is_paused(line):
                    remove_incomplete(self._client, self._namespace, name, stored.rev)
                stored = None
            if stored is not None and not self._replaces:
                yield Imported("job", name, "exists")
                continue
            placed = self._placed(line)
            if placed.definition is None:
                yield Imported("job", name, "over", placed.notes)
            elif self._is_paused(line):
                yield self._paused(name, placed, line, stored)
            else:
                rev, is_paused = (None, False) if stored is None else (stored.rev, stored.is_paused)
                plain.append(_PlainJob(Write(name, placed.definition, rev), placed.notes, is_paused))
        yield from self._in_bulk(plain)

    def _existing(self) -> dict[str, "_StoredJob"]:
        return {
            each["name"]: _StoredJob(each["rev"], each["state"] == "paused", is_incomplete(each))
            for each in self._client.jobs.list(self._namespace)
        }

    def _settings(self) -> Iterator[Imported]:
        settings = self._archive.settings
        if settings is None:
            return
        stored = self._client.namespaces.get(self._namespace)
        if "rev" in stored and _chosen(stored, NamespaceRequest) == settings:
            return
        if "rev" in stored and not self._replaces:
            yield Imported("settings", self._namespace, "exists", ("it has other settings",))
            return
        put = partial(self._client.namespaces.put, self._namespace, settings)
        yield _imported("settings", self._namespace, put)

    def _calendars(self) -> Iterator[Imported]:
        calendars = self._client.calendars
        names = {each["name"] for each in calendars.list(self._namespace)} if self._archive.calendars else ()
        for name, calendar in self._archive.calendars.items():
            exists = name in names
            if exists and _chosen(calendars.get(self._namespace, name), CalendarRequest) == calendar:
                continue
            if exists and not self._replaces:
                yield Imported("calendar", name, "exists", ("it has another definition",))
                continue
            yield _imported("calendar", name, partial(calendars.put, self._namespace, name, calendar))

    def _windows(self) -> Iterator[Imported]:
        windows = self._client.windows
        found = windows.list(self._namespace) if self._archive.windows else ()
        stored = {each["name"]: _chosen(each, WindowRequest) for each in found}
        for name, window in self._archive.windows.items():
            if stored.get(name) == window:
                continue
            if name in stored and not self._replaces:
                yield Imported("window", name, "exists", ("it has another definition",))
                continue
            closes_at = window.get("to")
            if closes_at is not None and instant(closes_at) <= self._now:
                yield Imported("window", name, "over")
                continue
            yield _imported("window", name, partial(windows.put, self._namespace, name, window))

    def _policies(self) -> Iterator[Imported]:
        if not self._archive.policies:
            return
        stored = {each["name"]: _policy_line(each) for each in self._client.policies.list(self._namespace)}
        for name, line in self._archive.policies.items():
            if stored.get(name) == line:
                continue
            if name in stored and not self._replaces:
                yield Imported("policy", name, "exists", ("it has another definition or another pause",))
                continue
            is_paused = "paused" in stored.get(name, {})
            yield _imported("policy", name, partial(self._write_policy, name, line, is_paused=is_paused))

    def _write_policy(self, name: str, line: Mapping[str, Any], *, is_paused: bool) -> None:
        policies, paused = self._client.policies, line.get("paused")
        definition: PolicyRequest = line["definition"]
        policies.put(self._namespace, name, definition)
        if paused is not None:
            policies.pause(self._namespace, name, reason=paused if isinstance(paused, str) else None)
        elif is_paused:
            policies.resume(self._namespace, name)

    def _placed(self, line: Mapping[str, Any]) -> Placed:
        placed = place(
            line["definition"],
            next_at=line.get("nextAt"),
            last_at=line.get("lastAt"),
            start_at=line.get("startAt"),
            now=self._now,
            next_in_phase=self._next_in_phase,
        )
        # The offset of the jitter is made of the name and the namespace.
        is_moved = self._namespace != self._archive.namespace and "jitter" in (placed.definition or {})
        return replace(placed, notes=(*placed.notes, _OTHER_OFFSET)) if is_moved else placed

    def _next_in_phase(self, timing: PreviewRequest) -> str | None:
        # `after` must not be later than the clock of the stack: else the past dueTime is refused.
        after = rfc3339(self._now - dt.timedelta(seconds=_CLOCKS_DIFFER_S))
        try:
            found = self._client.preview({**timing, "after": after, "limit": _PREVIEWED})["occurrences"]
        except RefusedError:
            return None
        return next((each["utc"] for each in found if instant(each["utc"]) > self._now), None)

    def _is_paused(self, line: Mapping[str, Any]) -> bool:
        return "paused" in line and ("pausedUntil" not in line or instant(line["pausedUntil"]) > self._now)

    def _paused(self, name: str, placed: Placed, line: Any, stored: "_StoredJob | None") -> Imported:
        definition = placed.definition
        assert definition is not None, "a job that is over is not written"
        asked: Any = {"until": line.get("pausedUntil"), "catchup": line.get("resumeCatchup")}
        asked["reason"] = line["paused"] if isinstance(line["paused"], str) else None

        def write() -> None:
            if stored is None:
                create_paused(self._client, self._namespace, name, definition, **asked)
                return
            self._client.jobs.pause(self._namespace, name, **asked)
            # A pause leaves the revision. So the write fails if the job was changed since it was read.
            write_job(self._client, self._namespace, Write(name, definition, stored.rev))

        return _imported("job", name, write, placed.notes)

    def _in_bulk(self, jobs: list["_PlainJob"]) -> Iterator[Imported]:
        problems = write_jobs(self._client, self._namespace, [each.write for each in jobs])
        for job, problem in zip(jobs, problems, strict=True):
            name, notes = job.write.name, job.notes
            if problem is not None:
                yield Imported("job", name, "refused", notes, problem)
            elif job.is_to_resume:
                # What fell due in the pause was not exported, so it does not fire.
                resume = partial(self._client.jobs.resume, self._namespace, name, catchup="none")
                yield _imported("job", name, resume, notes)
            else:
                yield Imported("job", name, "written", notes)


class _StoredJob(NamedTuple):
    """A job of the namespace before the import."""

    rev: str
    is_paused: bool
    is_incomplete: bool


class _PlainJob(NamedTuple):
    """A job to write that is not paused in the export. `is_to_resume`: it is paused in the namespace."""

    write: Write
    notes: tuple[str, ...]
    is_to_resume: bool


def _imported(kind: Kind, name: str, write: Callable[[], object], notes: tuple[str, ...] = ()) -> Imported:
    problem = attempt(write)
    return Imported(kind, name, "written" if problem is None else "refused", notes, problem)


def _chosen(found: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields of an answer that a request of this kind has."""
    return {name: found[name] for name in kind.__annotations__ if name in found}


def _in_chunks(jobs: Iterator[JobResponse], size: int = 64) -> Iterator[list[JobResponse]]:
    """The jobs in lists, so that an export of many jobs does not hold all of them at once."""
    chunk: list[JobResponse] = []
    for job in jobs:
        chunk.append(job)
        if len(chunk) == size:
            yield chunk
            chunk = []
    yield chunk
