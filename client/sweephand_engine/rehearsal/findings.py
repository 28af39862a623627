"""What a rehearsal found: herds, what clock changes move, lateness, and the bill."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS, Instant, to_datetime
from sweephand.model.job import Job
from sweephand.schedules.clock.zones import zone_named
from sweephand_engine.costs import measured, pollers, prices
from sweephand_engine.costs.bill import WRITES, Bill, Case, Load
from sweephand_engine.costs.measured import Usage
from sweephand_engine.costs.prices import MONTH_S, Line
from sweephand_engine.costs.template import template
from sweephand_engine.rehearsal.play import Play

#: From so many triggers on, a second is a herd. As many herds are told of, one for each time of day.
HERD_MIN: Final = 5
HERDS_MAX: Final = 5
#: So many of the largest are compared, to find those that are alike.
_COMPARED_MAX: Final = 200

#: How far ahead the next clock change is looked for, and how many effects of it are read for a job.
_AHEAD_MS: Final = 400 * DAY_MS
_EFFECTS_MAX: Final = 100

#: Writes that come on top of the one for the record of a run (docs/overlap.md): where runs take turns, the
#: line and the claim. A retry is claimed and recorded.
_WRITES_OF_TURN: Final = 3
_WRITES_OF_RETRY: Final = 2


@dataclass(frozen=True, slots=True)
class Herd:
    """A time of day at which many triggers are due in one second.

    There are `times_of_day` with the same triggers of the same jobs. `times` says how often, and `triggers`
    how many at most, which is at `at`. The last one leaves `late_s` after it was due. `jobs` has the most
    triggers first.
    """

    at: Instant
    triggers: int
    times: int
    times_of_day: int
    late_s: float
    jobs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """Local times of a job that a clock change drops or repeats, and what the job does then."""

    at: Instant
    zone: str
    job: str
    times: tuple[str, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Service:
    """What SQS and Lambda would do: how late triggers are in seconds, and dollars a month by part."""

    late_p50_s: float
    late_p99_s: float
    parts: Mapping[str, float]
    dollars: float
    dollars_with_free_tier: float


def zone_of(jobs: Sequence[Job]) -> str:
    """The zone of most of the jobs, the first by name of several; UTC without jobs."""
    zones = Counter(each.series.timezone for each in jobs)
    return max(sorted(zones), key=lambda each: zones[each], default="UTC")


def wall_s(at: Instant, zone: str) -> int:
    """What the clock of a zone shows at an instant, in seconds since 1970-01-01 00:00:00 there."""
    return at // SECOND_MS + zone_named(zone).offset_at(at // SECOND_MS)


def herds(play: Play, bill: Bill, zone: str) -> list[Herd]:
    """The largest herds by the time of day in a zone. Without any herd, the busiest second alone.

    Times of day with the same triggers of the same jobs, as each hour has them, are one herd.
    """
    seconds = Counter(at // SECOND_MS for at, _ in play.dues)
    least = min(HERD_MIN, max(seconds.values(), default=0))
    by_time: dict[int, list[int]] = {}
    for second, count in seconds.items():
        if count >= least:
            time_of_day_s = wall_s(second * SECOND_MS, zone) % (DAY_MS // SECOND_MS)
            by_time.setdefault(time_of_day_s, []).append(second)
    found = [(max(each, key=lambda at: (seconds[at], -at)), len(each)) for each in by_time.values()]
    found = sorted(found, key=lambda each: (-seconds[each[0]], each))[:_COMPARED_MAX]
    jobs = _jobs_due(play, {second for second, _ in found})
    alike: dict[tuple[tuple[str, int], ...], list[tuple[int, int]]] = {}
    for second, times in found:
        alike.setdefault(jobs[second], []).append((second, times))
    work = bill.work(_case(play))
    return [
        Herd(
            at=members[0][0] * SECOND_MS,
            triggers=seconds[members[0][0]],
            times=sum(times for _, times in members),
            times_of_day=len(members),
            late_s=pollers.herd_late_s(seconds[members[0][0]], work, _platform(bill)),
            jobs=due,
        )
        for due, members in list(alike.items())[: HERDS_MAX if least == HERD_MIN else 1]
    ]


def _jobs_due(play: Play, seconds: AbstractSet[int]) -> Mapping[int, tuple[tuple[str, int], ...]]:
    """The jobs that are due in each of these seconds, those with the most triggers first."""
    jobs: dict[int, Counter[str]] = {each: Counter() for each in seconds}
    for at, number in play.dues:
        if at // SECOND_MS in jobs:
            jobs[at // SECOND_MS][play.jobs[number].name] += 1
    return {
        second: tuple(sorted(due.items(), key=lambda each: (-each[1], each[0])))
        for second, due in jobs.items()
    }


def moved(jobs: Sequence[Job], since: Instant, until: Instant) -> tuple[list[Moved], bool]:
    """What clock changes move from `since` to `until`, and whether they move anything.

    If they do not, this is what the next change after `until` moves.
    """
    found = sorted(
        (each for job in jobs for each in _moved(job, since - 1, until - 1)),
        key=lambda each: (each.at, each.job),
    )
    if found:
        return found, True
    later = [each for job in jobs for each in _moved(job, until - 1, until + _AHEAD_MS)]
    first = min((each.at for each in later), default=0)
    return sorted((each for each in later if each.at == first), key=lambda each: each.job), False


def _moved(job: Job, after: Instant, through: Instant) -> Iterator[Moved]:
    begin = job.fires_from(after + 1)
    if job.series.is_on_demand or begin is None:
        return
    repeated = {"first": "fires the first time", "last": "fires the second time", "both": "fires both times"}
    effects = (
        each
        for _, each in zip(range(_EFFECTS_MAX), job.series.clock_effects(begin - 1, through), strict=False)
        if each.cause == "gap" or not each.fires or (each.cause, job.series.dst.overlap) == ("second", "both")
    )
    zone = job.series.timezone
    for (_, cause, fires), group in groupby(
        effects, key=lambda each: (each.instant // DAY_MS, each.cause, each.fires)
    ):
        members = list(group)
        first = members[0].instant
        if cause != "gap":
            what = f"comes twice, {repeated[job.series.dst.overlap]}"
        elif fires:
            what = f"does not exist, fires at {_clock(wall_s(first, zone))}"
        else:
            what = "does not exist, is skipped"
        times = tuple(dict.fromkeys(_clock(each.wall_s) for each in members))
        yield Moved(first, zone, job.key.name, times, what)


def _clock(time_s: int) -> str:
    text = to_datetime(time_s * SECOND_MS).strftime("%H:%M:%S")
    return text.removesuffix(":00")


def bill_of_stack() -> Bill:
    """The bill of a stack with the parameters of the template."""
    return Bill(measured.load(), template())


def service(play: Play, bill: Bill) -> Service:
    """The lateness and the bill of a month like the weeks of the rehearsal, on a stack with defaults."""
    lines = list(bill.idle())
    late = 0.0, 0.0
    if play.attempts:
        first_minute = play.since - play.since % MINUTE_MS
        dues = [(at - first_minute) / SECOND_MS for at, _ in play.attempts]
        span_s = float(bill.template.default("BundleSeconds"))
        work = bill.work(_case(play))
        polled = pollers.poll(dues, span_s, work, _platform(bill))
        late = polled.late_p50_s, polled.late_p99_s
        lines += _lines(play, bill, polled)
    return Service(*late, prices.by_part(lines), prices.total(lines), prices.total_with_free_tier(lines))


def _lines(play: Play, bill: Bill, polled: pollers.Polled) -> Iterator[Line]:
    count = len(play.attempts)
    minutes = Counter(at // MINUTE_MS for at, _ in play.attempts)
    used = Usage()
    for triggers, times in Counter(minutes.values()).items():
        used = used.plus(bill.measured.used_in(triggers), times)
    per_month = count * MONTH_S * SECOND_MS / (play.timeline.now - play.since)
    kept = sum(
        each.counts.triggers
        if each.job.definition.records_successes
        else each.counts.failed + each.counts.retried
        for each in play.jobs
    )
    load = Load(used.per(count), polled, count / len(minutes), per_month, kept / count)
    for line in bill.of_load(load):
        yield line.times(per_month)
    turns = sum(each.counts.begun for each in play.jobs if each.rule.is_limited)
    retries = count - sum(each.counts.begun for each in play.jobs)
    writes = _WRITES_OF_TURN * turns + _WRITES_OF_RETRY * retries
    yield Line(WRITES, prices.WRITES, writes * per_month / count)


def _case(play: Play) -> Case:
    """What the delivery function does: its consumers answer as those of the rehearsal on average."""
    took_s = sum(took_ms for _, took_ms in play.attempts) / SECOND_MS
    return Case(answer_s=took_s / max(1, len(play.attempts)), keeps_history=True)


def _platform(bill: Bill) -> pollers.Pollers:
    return pollers.standard(int(bill.template.default("DeliveryConcurrency")))
