"""The operation that says why a job fired at an instant, or did not."""

from functools import partial
from typing import Annotated, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant, rfc3339, rfc3339_or_none
from sweephand.runs.explain.facts import Explanation, Facts, LimitLevel, Verdict, wall
from sweephand.schedules.day_rule import Otherwise
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.routes.changes import ChangeResponse, change_response
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.schemas.calendars import CalendarDay, calendar_day
from sweephand.web.schemas.formats import Moment, QueryParameters, Time, about
from sweephand.web.schemas.responses import RunResponse, run_response


class NearestResponse(TypedDict):
    """The due times around the instant, without the trigger in question."""

    before: Annotated[Time | None, about("The last due time before. Null if there is none.")]
    after: Annotated[Time | None, about("The next due time after. Null if there is none.")]


class ClockChangeResponse(TypedDict):
    """A clock change that has moved or dropped a local time."""

    kind: Annotated[
        Literal["gap", "overlap"],
        about("Whether the local time does not exist (`gap`) or comes twice (`overlap`)."),
    ]
    local: Annotated[str, about("The local time, without an offset.")]
    timezone: Annotated[str, about("The zone of the job.")]
    rule: Annotated[str, about("The job's rule for it: `dst.gap` or `dst.overlap`.")]


class CalendarEvidenceResponse(TypedDict):
    """What the calendar has done to the occurrences of a day."""

    name: Annotated[str | None, about("The calendar. Null if an earlier definition of the job named it.")]
    day: Annotated[CalendarDay, about("The day that does not fit.")]
    otherwise: Annotated[Otherwise, about("The job's rule for such a day: `calendar.otherwise`.")]
    movedTo: Annotated[Time | None, about("The due time that stands for it. Null if nothing fires for it.")]


class JitterResponse(TypedDict):
    """By how much jitter moves the job."""

    seconds: Annotated[float, about("How much later every due time of the job is.")]


class StandstillResponse(TypedDict):
    """A span in which the stack delivered nothing."""

    kind: Annotated[
        Literal["stopped", "off"], about("`stopped`: the stack did not tick. `off`: it was switched off.")
    ]
    since: Annotated[Time, about("When it began, within a minute.")]
    until: Annotated[Time | None, about("When it ended. Null while it lasts.")]


class LimitResponse(TypedDict):
    """A limit for which triggers wait now."""

    level: Annotated[LimitLevel, about("Whose limit it is.")]
    triggersPerMinute: Annotated[int, about("The limit.")]
    takenUntil: Annotated[Time, about("Until when all slots of the limit are taken.")]


class EvidenceResponse(TypedDict):
    """What speaks for the verdict. It has only the fields that do."""

    change: NotRequired[
        Annotated[ChangeResponse, about("The change that decided: a creation, pause, deletion.")]
    ]
    resumed: NotRequired[Annotated[ChangeResponse, about("The resume that ended the pause.")]]
    clockChange: NotRequired[
        Annotated[ClockChangeResponse, about("The clock change that moved or dropped the time.")]
    ]
    calendar: NotRequired[
        Annotated[CalendarEvidenceResponse, about("The day of the calendar that moved or dropped the time.")]
    ]
    jitter: NotRequired[Annotated[JitterResponse, about("The jitter that moved the trigger.")]]
    standstill: NotRequired[
        Annotated[StandstillResponse, about("The standstill in which the trigger fell due.")]
    ]
    policy: NotRequired[Annotated[str, about("The flow policy for which the trigger waits.")]]
    waitsFor: NotRequired[Annotated[str, about("The run for which the trigger waits, or was skipped.")]]
    limit: NotRequired[Annotated[LimitResponse, about("The limit for which triggers wait now.")]]


class NextResponse(TypedDict):
    """What happens next."""

    at: Annotated[Time | None, about("When. Null if that is not known.")]
    step: Annotated[str, about("What, as a sentence.")]


class ExplainResponse(TypedDict):
    """Why a job fired at an instant, or did not."""

    at: Annotated[Time, about("The instant that was asked for.")]
    verdict: Annotated[Verdict, about("The first reason that is true, in the order of this list.")]
    summary: Annotated[str, about("The verdict in one to three sentences, for a person.")]
    dueAt: Annotated[
        Time | None, about("The due time of the trigger in question. Null if the schedule has none for it.")
    ]
    nearest: Annotated[NearestResponse, about("The due times around the instant.")]
    evidence: Annotated[EvidenceResponse, about("What speaks for the verdict.")]
    run: NotRequired[Annotated[RunResponse, about("The record of the trigger, if there is one.")]]
    next: NotRequired[Annotated[NextResponse, about("What happens next, if that is known.")]]
    history: Annotated[
        Literal["kept", "not-kept"],
        about("`not-kept`: what would decide was not kept. The summary says what is missing."),
    ]


def explain_response(found: Explanation, facts: Facts) -> ExplainResponse:
    """An explanation and its facts as a response."""
    at = facts.at
    response: ExplainResponse = {
        "at": rfc3339(at),
        "verdict": found.verdict,
        "summary": found.summary,
        "dueAt": rfc3339_or_none(found.due_at),
        "nearest": {"before": rfc3339_or_none(found.before), "after": rfc3339_or_none(found.after)},
        "evidence": _evidence(found, facts),
        "history": "kept" if found.is_kept else "not-kept",
    }
    if found.run is not None:
        response["run"] = run_response(found.run)
    if found.next_step is not None:
        response["next"] = {"at": rfc3339_or_none(found.next_at), "step": found.next_step}
    return response


def _evidence(found: Explanation, facts: Facts) -> EvidenceResponse:
    evidence: EvidenceResponse = {}
    if found.change is not None:
        evidence["change"] = change_response(found.change)
    if found.pause_end is not None:
        evidence["resumed"] = change_response(found.pause_end)
    evidence |= _evidence_of_moves(found, facts)
    if found.standstill is not None:
        kind, since, until = found.standstill
        evidence["standstill"] = {"kind": kind, "since": rfc3339(since), "until": rfc3339_or_none(until)}
    if found.policy is not None:
        evidence["policy"] = found.policy
    if found.waits_for is not None:
        evidence["waitsFor"] = found.waits_for
    if found.limit is not None:
        level, per_minute, taken_until = found.limit
        evidence["limit"] = {
            "level": level,
            "triggersPerMinute": per_minute,
            "takenUntil": rfc3339(taken_until),
        }
    return evidence


def _evidence_of_moves(found: Explanation, facts: Facts) -> EvidenceResponse:
    """What has moved or dropped the time in question."""
    evidence: EvidenceResponse = {}
    series, subject = facts.series, found.subject
    if series is None or subject is None:
        return evidence
    if (effect := subject.effect) is not None:
        is_gap = effect.cause == "gap"
        evidence["clockChange"] = {
            "kind": "gap" if is_gap else "overlap",
            "local": wall(effect.wall_s),
            "timezone": series.timezone,
            "rule": series.dst.gap if is_gap else series.dst.overlap,
        }
    if subject.day is not None and series.days is not None:
        evidence["calendar"] = {
            "name": facts.calendar,
            "day": calendar_day(series.days.closed, subject.day, facts.reasons),
            "otherwise": series.days.otherwise,
            "movedTo": rfc3339_or_none(subject.due_at),
        }
    if subject.moved_by == "jitter":
        evidence["jitter"] = {"seconds": series.jitter_ms / SECOND_MS}
    return evidence


class ExplainQuery(QueryParameters):
    """Says which instant to explain."""

    at: Moment | None = Field(
        None,
        description="The instant in question (RFC 3339 with an offset). By default the job's latest due time "
        "up to now.",
    )


#: No job was created before 1970.
_EARLIEST: Final[Instant] = 0


@partial(
    Operation,
    method="GET",
    path=JOB_PATH + "/explain",
    tag="Jobs",
    access="read",
    query=ExplainQuery,
    returns={200: Returns("The reason, and what speaks for it", ExplainResponse)},
    problems=(404,),
)
def explain_job(services: Services, request: Request[ExplainQuery, None]) -> Reply:
    """Say why a job fired at an instant, or did not.

    Gives the first reason that is true, with what speaks for it. The instant is about the trigger of the
    schedule that is due then. A full minute stands for the first due time of that minute, and a full second
    for that of the second. If a calendar, a clock change or jitter has moved the trigger, the answer is about
    the trigger where it is now. Of a batch it is about the first trigger. Runs on demand are not part of it.
    The call also answers for a deleted job.
    """
    at = request.query.at
    if at is not None:
        # An offset can lead out of the years that an answer can name. Nothing is due there.
        at = min(max(at, _EARLIEST), INSTANT_MAX)
    found, facts = services.explainer.explain(request.key, at, request.requested_at)
    return Reply(200, explain_response(found, facts))
