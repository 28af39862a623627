"""Makes stored jobs of a file or of an export: the API of an engine in memory takes them, or refuses them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, NoReturn, cast

from aws_lambda_powertools import Logger

from sweephand.access.key_making import keep_admin_key
from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import Instant, to_datetime
from sweephand.model.api_key import ADMIN_KEY_ID, digest_of, format_key
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.job import Job, JobKey
from sweephand.model.policy import Policy, PolicyKey
from sweephand.targets.target_type import REF_FIELD
from sweephand.web.http.app import build_handler
from sweephand_client.api.client import Client
from sweephand_client.http.errors import InputError, Problem
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.namespaces import NamespaceRequest
from sweephand_client.openapi.requests import JobCalendar, JobRequest
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.archive import Archive
from sweephand_client.tasks.dry_run import refusals
from sweephand_client.tasks.jobs_file import JobsFile
from sweephand_client.tasks.steps import Lines, is_blocked
from sweephand_client.tasks.transfer import Importer
from sweephand_client.tasks.writing import attempt
from sweephand_engine.engine import Engine
from sweephand_engine.gateway import Gateway
from sweephand_engine.journal import Journal
from sweephand_engine.local_client import client_of
from sweephand_engine.seeded_ids import SeededIds

#: More jobs than this are refused. Taking so many takes some seconds.
JOBS_MAX: Final = 1_000

#: Stands for a policy that a file names and does not have. It is the widest limit.
_ANY_POLICY: Final[Any] = {"maxConcurrent": 10_000}

#: Stands for a calendar that a file names and does not have. It closes weekends.
_WEEKENDS: Final[CalendarRequest] = {}

_ANY_TARGET: Final[Any] = {"type": "http", "url": "https://consumer.example/"}


@dataclass(frozen=True, slots=True)
class Admitted:
    """The jobs as a stack stores them, with their policies. `notes` say what is not as in the stack."""

    jobs: tuple[Job, ...]
    policies: Mapping[str, Policy]
    notes: tuple[str, ...]


class _StillClock:
    """ports.Clock that stands still."""

    def __init__(self, now: Instant) -> None:
        self._now = now

    def now(self) -> Instant:
        """The present instant."""
        return self._now

    def wait_until(self, instant: Instant) -> None:
        """Make it that instant, if it is not past."""
        self._now = max(self._now, instant)


_NO_WINDOWS: Final = "The windows of the namespace are not rehearsed."


class _NoTargets:
    """ports.Targets of an engine that delivers nothing."""

    def deliver(self, attempt: Attempt) -> Answer:
        """Nothing is delivered: no tick happens."""
        raise AssertionError(attempt)


class _Stage:
    """An engine in memory at an instant, and its client."""

    def __init__(self, now: Instant, namespace: str, settings: Archive | None) -> None:
        ids, clock = SeededIds(0), _StillClock(now)
        engine = Engine(
            journal=Journal(),
            clock=clock,
            ids=ids,
            make_targets=lambda _, __: _NoTargets(),
            destinations=None,
            concurrently=one_by_one,
            start=lambda _: None,
        )
        secret = ids.secret()
        keep_admin_key(engine.stores.keys, ids, digest_of(secret), "rehearsal", now)
        api = build_handler(engine.services, Logger(service=__name__, level="ERROR"))
        gateway = Gateway(api, engine.stores.keys, clock, ids)
        self.client: Client = client_of(gateway, format_key(ADMIN_KEY_ID, secret), lambda _: None)
        self._stores = engine.stores
        self._now = now
        self._namespace = namespace
        if settings is not None:
            for each in self._imported(settings):
                raise InputError(f"The settings of the namespace cannot be rehearsed. {each}")

    def _imported(self, archive: Archive) -> Iterator[str]:
        importer = Importer(self.client, self._namespace, archive, now=to_datetime(self._now))
        for each in importer.run():
            if each.problem is not None:
                yield f"{each.kind} {each.name}: {each.problem}"

    def put_secrets(self, definitions: Iterator[Any]) -> None:
        """Put a secret of each name that the definitions have. Its value is never sent."""
        for name in sorted({name for each in definitions for name in _secrets(each)}):
            attempt(lambda name=name: self.client.secrets.put(self._namespace, name, "x"))  # type: ignore[misc]

    def admitted(
        self, names: Iterator[str], notes: list[str], *, limited: Collection[str] | None = None
    ) -> Admitted:
        """The jobs of those names as they are stored. Their policies limit them, or only the `limited`."""
        keys = [JobKey(self._namespace, each) for each in names]
        found = [self._stores.jobs.get(each) for each in keys]
        jobs = tuple(each for each in found if each is not None and not each.is_gone(self._now))
        policies = {each.definition.policy for each in jobs} - {None}
        if limited is not None:
            policies &= {*limited}
        stored = {name: self._stores.policies.get(PolicyKey(self._namespace, name)) for name in policies}
        return Admitted(jobs, {name: each for name, each in stored.items() if each is not None}, tuple(notes))


def judge_file(declared: JobsFile, now: Instant, namespace: str, lines: Lines) -> None:
    """Judge the jobs of a file as admit_file() does, but by no calendar that the file lacks."""
    unknown = _unknown_calendars(declared)
    jobs = tuple(replace(each, definition=_on_open_days(each.definition, unknown)) for each in declared.jobs)
    every_day: CalendarRequest = {"weekend": []}
    admit_file(replace(declared, jobs=jobs), now, namespace, None, lines, unknown_calendar=every_day)


def _on_open_days(definition: JobRequest, calendars: Collection[str]) -> JobRequest:
    """The definition with open days in place of closed ones, if it names any of these calendars."""
    used: Any = definition.get("calendar")
    if not isinstance(used, dict) or used.get("name") not in calendars or used.get("days") != "closed":
        return definition
    return {**definition, "calendar": cast("JobCalendar", {**used, "days": "open"})}


def admit_file(
    declared: JobsFile,
    now: Instant,
    namespace: str,
    settings: Archive | None,
    lines: Lines,
    *,
    unknown_calendar: CalendarRequest = _WEEKENDS,
) -> Admitted:
    """The jobs of a file, as if it was applied at `now` to an empty namespace with those `settings`.

    Without settings, the rehearsal makes up what the jobs need and the file lacks: policies without limits, a
    webhook as the default target, and the `unknown_calendar`. Raises InputError with every problem of
    the file. `lines` say where each is.
    """
    stage, notes = _Stage(now, namespace, settings), []
    own_settings = declared.bodies("settings")
    stage.put_secrets(chain((each.definition for each in declared.jobs), own_settings.values()))
    if settings is None:
        notes = _fill_in(stage.client, namespace, declared, unknown_calendar)
    if declared.bodies("windows") or (settings is not None and settings.windows):
        notes.append(_NO_WINDOWS)
    wrong: list[tuple[tuple[int, int], str]] = []
    steps = plan(stage.client, namespace, declared)
    judge = refusals if is_blocked(steps) else carry_out
    for done in judge(stage.client, namespace, steps):
        if done.problem is not None:
            place = lines.order(done.step)
            wrong += ((place, each) for each in _sentences(lines.added_to(done).problem))
    if wrong:
        raise InputError("The file cannot be used:\n" + "\n".join(f"  {said}" for _, said in sorted(wrong)))
    names = (each.name for each in declared.jobs)
    return stage.admitted(names, notes, limited=declared.bodies("policies") if settings is None else None)


def _sentences(problem: Problem | None) -> list[str]:
    assert problem is not None, "it was refused"
    return [f"{each.pointer}: {each.detail}" for each in problem.errors] or [problem.detail]


def _unknown_calendars(declared: JobsFile) -> list[str]:
    """The calendars that the jobs name and the file lacks."""
    used: list[Any] = [each.definition.get("calendar") for each in declared.jobs]
    names = {each.get("name") for each in used if isinstance(each, dict)}
    return sorted({each for each in names if isinstance(each, str)} - declared.bodies("calendars").keys())


def _fill_in(
    client: Client, namespace: str, declared: JobsFile, unknown_calendar: CalendarRequest
) -> list[str]:
    """Put what the jobs need and the file cannot say. Returns sentences about it."""
    notes = []
    definitions: list[Mapping[str, Any]] = [each.definition for each in declared.jobs]
    named = {each["policy"] for each in definitions if isinstance(each.get("policy"), str)}
    policies = sorted(named - declared.bodies("policies").keys())
    for name in policies:
        attempt(lambda name=name: client.policies.put(namespace, name, _ANY_POLICY))  # type: ignore[misc]
    if policies:
        notes.append(
            f"The limits of these policies are not in the file: {', '.join(policies)}. "
            "With --policies they are those of your stack."
        )
    unknown = _unknown_calendars(declared)
    for name in unknown:
        attempt(lambda name=name: client.calendars.put(namespace, name, unknown_calendar))  # type: ignore[misc]
    if unknown:
        notes.append(
            f"These calendars are not in the file: {', '.join(unknown)}. Here they close weekends alone. "
            "With --policies they are those of your stack."
        )
    if declared.bodies("settings"):
        return notes
    settings: NamespaceRequest = {"limits": {}, "defaultTarget": _ANY_TARGET}
    client.namespaces.put(namespace, settings)
    if any(each.get("target") is None for each in definitions):
        notes.append("Jobs without a target have a webhook here. With --policies it is that of your stack.")
    return notes


def admit_archive(archive: Archive, now: Instant) -> Admitted:
    """The jobs of a namespace, each in its phase at `now`. Raises InputError for what cannot be rehearsed."""
    check_number(len(archive.jobs))
    stage = _Stage(now, archive.namespace, replace(archive, jobs={}))
    stage.put_secrets(each["definition"] for each in archive.jobs.values())
    jobs = Archive(archive.namespace, jobs=archive.jobs)
    notes = [f"Left out: {each}" for each in stage._imported(jobs)]  # noqa: SLF001 - its own module
    if archive.settings is not None and "triggersPerMinute" in archive.settings["limits"]:
        notes.append("The limit triggersPerMinute of the namespace is not rehearsed.")
    if archive.windows:
        notes.append(_NO_WINDOWS)
    return stage.admitted(iter(archive.jobs), notes)


def check_number(count: int) -> None:
    """Raise InputError if a rehearsal does not take so many jobs."""
    if count > JOBS_MAX:
        refuse_number()


def refuse_number() -> NoReturn:
    """Raise InputError for too many jobs."""
    raise InputError(
        f"There are more than {JOBS_MAX:,} jobs, and a rehearsal takes {JOBS_MAX:,}. "
        "Rehearse a file with those that matter."
    )


def _secrets(value: Any) -> Iterator[str]:
    """The names of secrets in a definition: `{"secretRef": NAME}`, at any depth."""
    if isinstance(value, Mapping):
        if isinstance(name := value.get(REF_FIELD), str):
            yield name
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _secrets(each)
