"""The rehearsal of a file or of a namespace: admits the jobs, plays them, and finds what is worth telling."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Final

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant, from_datetime, rfc3339, to_datetime
from sweephand.model.job import Job
from sweephand.schedules import Occurrence
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.tasks.archive import Archive, read_archive
from sweephand_client.tasks.jobs_file import JobsFile
from sweephand_client.tasks.steps import Lines
from sweephand_engine.rehearsal.admission import (
    JOBS_MAX,
    Admitted,
    admit_archive,
    admit_file,
    check_number,
    judge_file,
    refuse_number,
)
from sweephand_engine.rehearsal.consumer import Consumer, Outage, read_consumers, read_outage
from sweephand_engine.rehearsal.findings import (
    Herd,
    Moved,
    Service,
    bill_of_stack,
    herds,
    moved,
    service,
    wall_s,
    zone_of,
)
from sweephand_engine.rehearsal.play import Play
from sweephand_engine.rehearsal.runs import occurrences
from sweephand_engine.rehearsal.timeline import WORK_MAX, Timeline
from sweephand_engine.times import instant_of

_WEEK_MS: Final = 7 * DAY_MS


@dataclass(frozen=True, slots=True)
class Options:
    """What a rehearsal is told: its length, what its consumers are like, and when they cannot be reached."""

    weeks: int
    since: Instant
    consumers: Sequence[Consumer]
    outage: Outage | None
    seed: int

    @property
    def until(self) -> Instant:
        """The first instant that no longer belongs to it."""
        return self.since + self.weeks * _WEEK_MS


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a rehearsal found. People see its times in `zone`.

    `outage` is from an instant to another, and `moves_now` is as of findings.moved().
    """

    options: Options
    zone: str
    play: Play
    outage: tuple[Instant, Instant] | None
    herds: Sequence[Herd]
    moved: Sequence[Moved]
    moves_now: bool
    service: Service
    notes: Sequence[str]

    def time(self, at: Instant) -> str:
        """What the clock of the zone shows at an instant."""
        return to_datetime(wall_s(at, self.zone) * SECOND_MS).strftime("%Y-%m-%d %H:%M:%S")


def read_options(
    *,
    weeks: int,
    since: str | None,
    now: dt.datetime,
    consumers: Sequence[str],
    outage: str | None,
    seed: int,
) -> Options:
    """The options of the command. Raises InputError for one that cannot be read."""
    try:
        begins_at = from_datetime(now) if since is None else instant_of(since)
    except ValueError as error:
        raise InputError(f"--from {since}: {error}") from None
    # A second of a herd is a whole one.
    begins_at -= begins_at % SECOND_MS
    read = None if outage is None else read_outage(outage)
    options = Options(weeks, begins_at, read_consumers(consumers), read, seed)
    if read and read.since is not None and not begins_at - read.duration_ms < read.since < options.until:
        raise InputError(
            f"--outage {outage}: it is outside of the rehearsed weeks. "
            f"Let it begin at {rfc3339(begins_at)} or later, and before {rfc3339(options.until)}."
        )
    return options


def rehearse_file(
    declared: JobsFile, text: str, namespace: str, settings: Iterable[str] | None, options: Options
) -> Rehearsal:
    """Rehearse the jobs of a file of that `text`, from the beginning on.

    `settings` are the lines of an export without jobs. Raises InputError for jobs that a stack would refuse.
    """
    check_number(len(declared.jobs))
    archive = None if settings is None else _read(settings, jobs_max=0)
    lines = Lines(text, declared)
    return _rehearse(admit_file(declared, options.since, namespace, archive, lines), options)


def check_file(declared: JobsFile, text: str, namespace: str, now: dt.datetime) -> None:
    """Check the jobs of a file of that `text`. Raises InputError for jobs that a stack would refuse."""
    judge_file(declared, from_datetime(now), namespace, Lines(text, declared))


def rehearse_namespace(export: Iterable[str], now: dt.datetime, options: Options) -> Rehearsal:
    """Rehearse the jobs of an export that was made `now`. Raises InputError for what cannot be rehearsed."""
    if options.since < from_datetime(now) - SECOND_MS:
        raise InputError("--from is past. The stack says when its jobs fire from now on.")
    return _rehearse(admit_archive(_read(export, JOBS_MAX), from_datetime(now)), options)


def _read(lines: Iterable[str], jobs_max: int) -> Archive:
    """The archive of an export. Nobody reads more of its lines than are needed."""
    kept: list[str] = []
    jobs = 0
    counts = Counter({"calendars": 0, "windows": 0, "policies": 0, "jobs": 0})
    for line in lines:
        counts["calendars"] += line.startswith('{"calendar"')
        counts["windows"] += line.startswith('{"window"')
        counts["policies"] += line.startswith('{"policy"')
        if line.startswith('{"job"'):
            jobs += 1
            if not jobs_max:
                kept.append(exact_json.write({"end": dict(counts)}))
                break
            if jobs > jobs_max:
                refuse_number()
        kept.append(line)
    return read_archive(kept)


def _rehearse(admitted: Admitted, options: Options) -> Rehearsal:
    outage = None
    if options.outage is not None:
        begin = options.outage.since
        begin = _busiest(admitted.jobs, options) if begin is None else begin
        outage = begin, begin + options.outage.duration_ms
    unknown = [
        each.names
        for each in options.consumers
        if not any(each.serves(job.key.name) for job in admitted.jobs) and admitted.jobs
    ]
    if unknown:
        raise InputError(f"--consumer {unknown[0]}: no job has that name. Name one, or how names begin: a*.")
    play = Play(
        admitted.jobs,
        admitted.policies,
        options.consumers,
        timeline=Timeline(options.since, options.until),
        seed=options.seed,
        outage=outage,
    )
    play.run()
    bill = bill_of_stack()
    found, moves_now = moved(admitted.jobs, options.since, options.until)
    zone = zone_of(admitted.jobs)
    return Rehearsal(
        options,
        zone,
        play,
        outage,
        herds(play, bill, zone),
        found,
        moves_now,
        service(play, bill),
        admitted.notes,
    )


def _busiest(jobs: Iterable[Job], options: Options) -> Instant:
    """The first of the seconds in which most triggers are due, as far as a rehearsal goes."""
    due = (map(_at, occurrences(each, options.since, options.until)) for each in jobs)
    seconds = Counter(at // SECOND_MS for at in islice(merge(*due), WORK_MAX))
    return (
        max(seconds, key=lambda each: (seconds[each], -each), default=options.since // SECOND_MS) * SECOND_MS
    )


def _at(occurrence: Occurrence) -> Instant:
    return occurrence.at
