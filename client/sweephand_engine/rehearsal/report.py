"""Tells what a rehearsal found: tables with sentences for people, Markdown for a pull request, and JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand_engine.rehearsal.findings import HERD_MIN, Herd, Moved
from sweephand_engine.rehearsal.rehearse import Rehearsal
from sweephand_engine.rehearsal.runs import Counts, JobPlay

#: No table has more rows of jobs, and no cell more names.
_ROWS_MAX: Final = 15
_NAMES_MAX: Final = 4

#: A part of the bill has a row of its own if it is so large a share.
_PART_MIN: Final = 0.03


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: its heading, sentences, and a table below them."""

    heading: str
    sentences: Sequence[str]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def sections(found: Rehearsal, what: str) -> list[Section]:
    """The report in parts. `what` was rehearsed: a file or a namespace."""
    return [
        Section(f"Rehearsal of {what}", list(_opening(found))),
        _herds(found),
        _clock(found),
        _overlaps(found),
        _failures(found),
        *([_policies(found)] if found.play.gates else []),
        _lateness(found),
        _bill(found),
        *([Section("Not as in your stack", found.notes)] if found.notes else []),
    ]


def markdown(parts: Sequence[Section]) -> str:
    """The report for a pull request."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        lines += [f"{'###' if number else '##'} {_escaped(part.heading)}", ""]
        lines += [" ".join(_escaped(each) for each in part.sentences), ""] if part.sentences else []
        if part.rows:
            lines += [_line(part.columns), "|" + "---|" * len(part.columns)]
            lines += [_line([_escaped(each) for each in row]) for row in part.rows]
            lines.append("")
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """A text in which nothing is markup. Names of jobs come from a file that anybody may have written."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>|#" else each for each in text.replace("\n", " "))


def as_json(found: Rehearsal, what: str) -> dict[str, Any]:
    """The report for programs. Times are in UTC, and dollars those of a month."""
    play = found.play
    return {
        "rehearsed": what,
        "from": rfc3339(play.since),
        "until": rfc3339(play.timeline.now),
        "isCut": play.timeline.is_cut,
        "seed": found.options.seed,
        "consumers": {each.names: str(each) for each in found.options.consumers},
        "outage": None if found.outage is None else [rfc3339(each) for each in found.outage],
        "jobs": {each.name: _counts_json(each) for each in play.jobs},
        "herds": [
            {
                "at": rfc3339(each.at),
                "triggers": each.triggers,
                "times": each.times,
                "timesOfDay": each.times_of_day,
                "lateMs": round(each.late_s * SECOND_MS),
                "jobs": dict(each.jobs),
            }
            for each in found.herds
        ],
        "clockChanges": [{**asdict(each), "at": rfc3339(each.at)} for each in found.moved],
        "clockChangesAreInSpan": found.moves_now,
        "latenessMs": {
            "p50": round(found.service.late_p50_s * SECOND_MS),
            "p99": round(found.service.late_p99_s * SECOND_MS),
        },
        "bill": {
            "perMonth": round(found.service.dollars, 4),
            "withFreeTier": round(found.service.dollars_with_free_tier, 4),
            "parts": {part: round(each, 4) for part, each in found.service.parts.items()},
        },
        "notes": list(found.notes),
    }


def _counts_json(job: JobPlay) -> dict[str, Any]:
    counts: dict[str, Any] = {**asdict(job.counts), "paused_at": job.paused_at}
    for name in ("failed_at", "paused_at"):
        counts[name] = None if counts[name] is None else rfc3339(counts[name])
    return {_camel(name): value for name, value in counts.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def _opening(found: Rehearsal) -> Iterator[str]:
    play, options = found.play, found.options
    triggers, attempts = len(play.dues), len(play.attempts)
    yield (
        f"{_many(len(play.jobs), 'job')} from {found.time(play.since)} to {found.time(play.timeline.now)} "
        f"by the clock of {found.zone}: "
        f"{_many(triggers, 'trigger')}, {_many(attempts, 'attempt')}, "
        f"at most {_open_at_once(play.attempts):,} requests open at once."
    )
    if play.timeline.is_cut:
        most = max(play.jobs, key=lambda each: each.counts.triggers + each.counts.attempts)
        made = f"{_many(most.counts.triggers, 'trigger')} and {_many(most.counts.attempts, 'attempt')}"
        yield (
            f"STOPPED before {found.time(options.until)}: a rehearsal does not do more than this. "
            f"{most.name} alone has {made}. "
            "What follows is about the time until then."
        )
    for each in options.consumers:
        others = " of all others" if len(options.consumers) > 1 else ""
        whose = others if each.names == "*" else f" of {each.names}"
        yield f"Consumer{whose}: {each}."
    if found.outage is not None:
        begin, end = map(found.time, found.outage)
        yield f"No consumer could be reached from {begin} to {end}."
    paused = [each.name for each in play.jobs if each.job.fires_from(play.since) is None]
    if paused:
        yield f"Paused, so they fire nothing: {_names(paused)}."
    if not triggers:
        yield "Nothing falls due in this time."


def _open_at_once(attempts: Sequence[tuple[Instant, int]]) -> int:
    """How many attempts were open at once, at most. One that ends when another begins is not open then."""
    steps = sorted(step for at, took in attempts if took for step in ((at, 1), (at + took, -1)))
    level = most = 0
    for _, step in steps:
        level += step
        most = max(most, level)
    return most


def _herds(found: Rehearsal) -> Section:
    if not found.herds or found.herds[0].triggers < HERD_MIN:
        said = f"No second has {HERD_MIN} triggers."
        if found.herds:
            busiest = found.herds[0]
            said += f" The busiest is {found.time(busiest.at)}, with {_many(busiest.triggers, 'trigger')}."
        return Section("Herds", [said])
    rows = [
        (
            found.time(each.at)[11:]
            + (f" and {each.times_of_day - 1} more" if each.times_of_day > 1 else ""),
            f"{each.triggers:,}",
            f"{each.times:,}",
            found.time(each.at),
            _length(each.late_s * SECOND_MS),
            _of_herd(each),
        )
        for each in found.herds
    ]
    said = f"Seconds with {HERD_MIN} triggers or more, by the time of day. The field jitter spreads them."
    return Section(
        "Herds", [said], ("time", "most", "how often", "the most at", "last is late by", "jobs"), rows
    )


def _of_herd(herd: Herd) -> str:
    return _names([name if count == 1 else f"{name} ({count:,})" for name, count in herd.jobs])


def _clock(found: Rehearsal) -> Section:
    columns = ("date", "zone", "local time", "what happens", "job")
    rows = [_moved_row(found, each) for each in found.moved[:_ROWS_MAX]]
    if found.moves_now:
        more = len(found.moved) - len(rows)
        return Section("Clock changes", [f"{more} more are not shown."] if more else [], columns, rows)
    if not found.moved:
        return Section(
            "Clock changes", ["No clock change moves a due time, in these weeks or in the year after."]
        )
    said = "No clock change moves a due time in these weeks. The next one moves these:"
    return Section("Clock changes", [said], columns, rows)


def _moved_row(found: Rehearsal, each: Moved) -> tuple[str, ...]:
    return found.time(each.at)[:10], each.zone, _names(each.times, 2), each.what, each.job


def _overlaps(found: Rehearsal) -> Section:
    def is_told(counts: Counts) -> bool:
        return bool(counts.overlapped or counts.skipped or counts.waited or counts.held)

    jobs = _worst(found, lambda each: (each.skipped, each.held, each.wait_max_ms, each.overlapped), is_told)
    if not jobs:
        return Section(
            "Overlaps and skips", ["No run overlaps another one of its job. None waits or is skipped."]
        )
    rows = [
        (
            each.name,
            each.rule.mode,
            f"{each.counts.triggers:,}",
            _zero(each.counts.overlapped),
            f"{each.counts.open_max:,}",
            _zero(each.counts.skipped),
            _zero(each.counts.waited),
            _length(each.counts.wait_max_ms) if each.counts.waited else "-",
            _zero(each.counts.held),
        )
        for each in jobs[:_ROWS_MAX]
    ]
    columns = (
        "job",
        "overlap",
        "triggers",
        "overlapped",
        "most at once",
        "skipped",
        "waited",
        "longest wait",
        "held",
    )
    told = ["Overlapped runs began while an earlier run of the job was not over."]
    if any(each.counts.held for each in jobs):
        told.append("Held triggers fell due after onError had paused the job.")
    return Section("Overlaps and skips", [*told, *_others(jobs)], columns, rows)


def _failures(found: Rehearsal) -> Section:
    def is_told(counts: Counts) -> bool:
        return bool(counts.failed or counts.retried or counts.missed)

    jobs = _worst(found, lambda each: (each.failed, each.missed, each.retried), is_told)
    if not jobs:
        return Section("Retries and failures", ["Each first attempt succeeds."])
    rows = [
        (
            each.name,
            f"{each.counts.attempts:,}",
            _zero(each.counts.retried),
            _zero(each.counts.failed),
            _zero(each.counts.missed),
            "-" if each.counts.failed_at is None else found.time(each.counts.failed_at),
            each.counts.failure or "-",
        )
        for each in jobs[:_ROWS_MAX]
    ]
    total = sum(each.counts.failed for each in found.play.jobs)
    retried = sum(each.counts.retried for each in found.play.jobs)
    said = [f"{_many(retried, 'run')} needed retries, and {_many(total, 'run')} failed for good."]
    paused = [each.name for each in jobs if each.paused_at is not None and each.job.fires_from(0) is not None]
    if paused:
        said.append(f"Paused by onError: {_names(paused)}.")
    columns = ("job", "attempts", "retried", "failed", "past alertAfter", "first failure", "why")
    return Section("Retries and failures", [*said, *_others(jobs)], columns, rows)


def _policies(found: Rehearsal) -> Section:
    rows = [
        (
            name if key is None else f"{name} ({key})",
            f"{gate.left:,}",
            _zero(gate.waiting_max),
            _zero(gate.opened),
        )
        for (name, key), gate in sorted(found.play.gates.items(), key=lambda each: -each[1].waiting_max)
    ]
    columns = ("policy", "requests", "most that waited", "breaker opened")
    return Section("Policies", [], columns, rows[:_ROWS_MAX])


def _lateness(found: Rehearsal) -> Section:
    p50, p99 = (_length(each * SECOND_MS) for each in (found.service.late_p50_s, found.service.late_p99_s))
    said = (
        f"By the model of SQS and Lambda, half of the attempts leave within {p50} of their time, "
        f"and 99% within {p99}. The stack has the defaults of its parameters, such as DeliveryConcurrency."
    )
    return Section("Lateness", [said] if found.play.attempts else ["Nothing is delivered."])


def _bill(found: Rehearsal) -> Section:
    bill = found.service
    said = (
        f"A month like these weeks costs ${bill.dollars:,.2f} at list prices of us-east-1, and "
        f"${bill.dollars_with_free_tier:,.2f} less AWS's monthly free tier, idle minutes included."
    )
    parts = sorted(bill.parts.items(), key=lambda each: -each[1])
    large = [(part, each) for part, each in parts if each >= bill.dollars * _PART_MIN]
    rest = bill.dollars - sum(each for _, each in large)
    rows = [(part, f"{each:,.2f}") for part, each in (*large, ("everything else", rest))]
    return Section("Bill", [said], ("part", "dollars a month"), rows)


def _worst(
    found: Rehearsal, order: Callable[[Counts], tuple[int, ...]], is_told: Callable[[Counts], bool]
) -> list[JobPlay]:
    """The jobs that are told of, the worst first."""
    told = [each for each in found.play.jobs if is_told(each.counts)]
    return sorted(told, key=lambda each: order(each.counts), reverse=True)


def _others(jobs: Sequence[JobPlay]) -> list[str]:
    more = len(jobs) - _ROWS_MAX
    return [f"{_many(more, 'more job')} not shown. --json has all."] if more > 0 else []


def _names(names: Sequence[str], most: int = _NAMES_MAX) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _zero(count: int) -> str:
    return f"{count:,}" if count else "-"


def _length(length_ms: float) -> str:
    """A length of time in one unit, as precise as a rehearsal can be."""
    for unit_ms, unit in ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min")):
        if length_ms >= 2 * unit_ms:
            return f"{length_ms / unit_ms:.1f} {unit}"
    return f"{length_ms / SECOND_MS:.1f} s" if length_ms >= SECOND_MS else f"{length_ms:.0f} ms"
