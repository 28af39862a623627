"""What callers are shown: jobs, keys and the rest, each made in one place."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.jobs.read import JobState, View
from sweephand.model.api_key import Caller, Key, Role
from sweephand.model.change import Change, FieldChange, What
from sweephand.model.signing_secret import SigningSecret
from sweephand.web.http import json_text
from sweephand.web.schemas.run_responses import (
    RunResource,
    Time,
    run_resource,
    time_or_none,
)

#: What stands in place of a target's header value for a caller who may only read.
HIDDEN = "(hidden)"

_TARGETS = frozenset({"target", "onComplete"})

#: What a clock change did to a due time.
Reason = Literal["gap-shifted", "overlap-first", "overlap-last"]


class JobResource(TypedDict):
    """A job as it is listed: what was written, and what follows from it."""

    namespace: str
    name: str
    rev: Annotated[str, Field(description="The revision; the ETag shows it too.")]
    state: JobState
    nextRun: Annotated[
        Time | None,
        Field(description="The next due time from now on; null if there is none, and while it is paused."),
    ]
    pausedAt: NotRequired[Annotated[Time, Field(description="Since when it is paused, if it is.")]]
    pauseReason: NotRequired[Annotated[str, Field(description="Why it was paused, if that was said.")]]
    onDemand: NotRequired[
        Annotated[
            Literal[True],
            Field(
                description="It has neither schedule nor dueTime: it fires only by hand or in a chain. Left "
                "out of other jobs."
            ),
        ]
    ]
    createdAt: Time
    updatedAt: Time
    owner: Annotated[str, Field(description="The id of the key that created it.")]
    expiresAt: NotRequired[Annotated[Time, Field(description="When it goes, its end being known.")]]
    schedule: NotRequired[Annotated[Any, Field(description="As it was written: text, object or list.")]]
    timezone: NotRequired[str]
    dueTime: NotRequired[str]
    ttl: NotRequired[str]
    repeats: NotRequired[int]
    dst: NotRequired[dict[str, str]]
    jitter: NotRequired[str]
    target: dict[str, Any]
    retry: NotRequired[dict[str, Any]]
    overlap: NotRequired[str]
    waitLimit: NotRequired[int]
    catchup: NotRequired[dict[str, str]]
    deadLetterQueue: NotRequired[str]
    history: NotRequired[str]
    completion: NotRequired[str]
    onComplete: NotRequired[dict[str, Any]]
    heartbeatTimeout: NotRequired[str]
    maxRunTime: NotRequired[str]
    onError: NotRequired[str]
    historyRetention: NotRequired[str]
    retention: NotRequired[str]
    deleteAfterCompletion: NotRequired[bool]
    labels: NotRequired[dict[str, str]]
    description: NotRequired[str]


class WholeJobResource(JobResource):
    """A job with its data and its last run."""

    data: NotRequired[Any]
    lastRun: Annotated[RunResource | None, Field(description="The run of the newest due time.")]


class KeyResource(TypedDict):
    """An API key, without its secret."""

    id: str
    namespace: str
    role: Role
    createdAt: Time
    expiresAt: Time | None
    description: str | None


class NewKeyResource(KeyResource):
    """An API key on the one occasion on which it is shown."""

    key: Annotated[str, Field(description="The key itself: `Authorization: Bearer {key}`.")]


class SecretResource(TypedDict):
    """A signing secret."""

    secret: Annotated[str, Field(description="As Standard Webhooks has it: `whsec_` and base64.")]
    createdAt: Time
    expiresAt: Annotated[Time | None, Field(description="Until when it signs; null until it is rotated.")]


class SecretsResource(TypedDict):
    """The signing secrets that are active, newest first."""

    items: list[SecretResource]


class OccurrenceResource(TypedDict):
    """One due time."""

    utc: Time
    local: Annotated[Time, Field(description="The same instant in the job's time zone.")]
    reason: NotRequired[
        Annotated[
            Reason,
            Field(
                description="Where the clock changes. `gap-shifted`: it stands for a local time that does "
                "not exist that day. `overlap-first`, `overlap-last`: its local time exists twice that day, "
                "and this is the first or the last."
            ),
        ]
    ]


class SkippedResource(TypedDict):
    """A local time of the schedule that is no due time, because the clock changes."""

    utc: Annotated[Time, Field(description="The instant of an `overlap-skipped`; of a gap, where it ends.")]
    local: Annotated[
        str, Field(description="The local time; without an offset where it does not exist that day.")
    ]
    reason: Annotated[
        Literal["gap-skipped", "overlap-skipped"],
        Field(
            description="`gap-skipped`: it does not exist that day. `overlap-skipped`: it exists twice that "
            "day, and the other one fires."
        ),
    ]


class OccurrencesResource(TypedDict):
    """Due times in order, and what the schedule means."""

    occurrences: list[OccurrenceResource]
    skipped: Annotated[
        list[SkippedResource], Field(description="What clock changes dropped before the last of these.")
    ]
    description: Annotated[str, Field(description="The schedule in words, without time zone and bounds.")]
    end: Annotated[
        Time | None,
        Field(description="The last due time of the series; null if it has no end or a very distant one."),
    ]


class ViolationResource(TypedDict):
    """One field that cannot be accepted."""

    pointer: Annotated[str, Field(description="A JSON pointer (RFC 6901) into the body, or a parameter.")]
    detail: Annotated[str, Field(description="A sentence that says what would be valid.")]


class ProblemResource(TypedDict):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list[ViolationResource]]


class GatewayRefusal(TypedDict):
    """What API Gateway answers by itself: no problem document."""

    message: str


class BulkResultResource(TypedDict):
    """What became of one job of many: `rev` where it was written, else `problem`."""

    name: Annotated[Any, Field(description="The name as it was given.")]
    status: Annotated[int, Field(description="What a PUT of this job would have been answered.")]
    rev: NotRequired[str]
    problem: NotRequired[ProblemResource]


class BulkResource(TypedDict):
    """What became of each job, in the order of the request."""

    results: list[BulkResultResource]


class HealthResource(TypedDict):
    """The age of tick's heartbeat."""

    status: Literal["ok"]
    heartbeatAt: Time
    heartbeatAgeSeconds: float


class JobPage(TypedDict):
    """Some jobs by name; `nextCursor` as long as there may be more."""

    items: list[JobResource]
    nextCursor: NotRequired[str]


class TriggerResource(TypedDict):
    """A trigger that was asked for."""

    id: Annotated[str, Field(description="The name of its run, `enqueued` until an attempt is over.")]
    triggerId: str
    dueAt: Time


class BackfillResource(TypedDict):
    """The triggers of a past span."""

    count: int
    firstId: Annotated[str | None, Field(description="The name of the first one's run; null if none.")]
    lastId: Annotated[str | None, Field(description="The name of the last one's run; null if none.")]


class CountResource(TypedDict):
    """What a call about many did; `nextCursor` as long as there may be more."""

    count: int
    nextCursor: NotRequired[str]


class FieldChangeResource(TypedDict):
    """A top-level field that was changed.

    `before` and `after` are left out of `target`, `onComplete` and `data`, which may hold secrets, and where
    one of them is long. A field that was not there is null.
    """

    name: str
    before: NotRequired[Any]
    after: NotRequired[Any]


class ChangeResource(TypedDict):
    """One write of a job."""

    time: Time
    who: Annotated[str, Field(description="The id of the key; `sweephand` if it was Sweephand by itself.")]
    what: What
    reason: Annotated[str | None, Field(description="Why it was paused, if that was said.")]
    fields: NotRequired[
        Annotated[
            list[FieldChangeResource],
            Field(description="What a replace or patch changed, by name; left out where nobody recorded it."),
        ]
    ]


class ChangePage(TypedDict):
    """Some changes, newest first; `nextCursor` as long as there may be more."""

    items: list[ChangeResource]
    nextCursor: NotRequired[str]


class KeyPage(TypedDict):
    """Some keys by id; `nextCursor` as long as there may be more."""

    items: list[KeyResource]
    nextCursor: NotRequired[str]


def job_resource(view: View, caller: Caller) -> JobResource:
    """A job as it is listed; header values of its target are hidden from a caller who may only read."""
    job = view.job
    written = dict(job.definition.written)
    if not caller.may("write"):
        written |= {name: _without_values(written[name]) for name in _TARGETS & written.keys()}
    shown: Any = {
        "namespace": job.key.namespace,
        "name": job.key.name,
        "rev": job.rev,
        "state": view.state,
        "nextRun": time_or_none(view.next_run_at),
        **({"onDemand": True} if job.series.is_on_demand else {}),
        "createdAt": rfc3339(job.created_at),
        "updatedAt": rfc3339(job.updated_at),
        "owner": job.owner,
        **({} if job.paused_at is None else {"pausedAt": rfc3339(job.paused_at)}),
        **({} if job.pause_reason is None else {"pauseReason": job.pause_reason}),
        **({} if job.expires_at is None else {"expiresAt": rfc3339(job.expires_at)}),
        **written,
    }
    resource: JobResource = shown
    return resource


def whole_job_resource(view: View, caller: Caller) -> WholeJobResource:
    """A job with its data, byte for byte as consumers get it, and its last run."""
    payload = view.job.definition.payload
    data = {} if payload is None or payload.text is None else {"data": json_text.raw(payload.text)}
    last = None if view.last_run is None else run_resource(view.last_run)
    shown: Any = {**job_resource(view, caller), **data, "lastRun": last}
    resource: WholeJobResource = shown
    return resource


def change_resource(change: Change) -> ChangeResource:
    """A change of a job."""
    shown: ChangeResource = {
        "time": rfc3339(change.at),
        "who": change.who,
        "what": change.what,
        "reason": change.reason,
    }
    if change.fields is not None:
        shown["fields"] = [_field_resource(each) for each in change.fields]
    return shown


def _field_resource(field: FieldChange) -> FieldChangeResource:
    if field.values is None:
        return {"name": field.name}
    before, after = field.values
    return {"name": field.name, "before": before, "after": after}


def key_resource(key: Key) -> KeyResource:
    """A key without its secret, which nobody but its holder has."""
    return {
        "id": key.id,
        "namespace": key.namespace,
        "role": key.role,
        "createdAt": rfc3339(key.created_at),
        "expiresAt": time_or_none(key.expires_at),
        "description": key.description,
    }


def secrets_resource(secrets: Iterable[SigningSecret]) -> SecretsResource:
    """Signing secrets in their order."""
    return {
        "items": [
            {
                "secret": each.secret,
                "createdAt": rfc3339(each.created_at),
                "expiresAt": time_or_none(each.expires_at),
            }
            for each in secrets
        ]
    }


def _without_values(target: Mapping[str, Any]) -> dict[str, Any]:
    headers = target.get("headers")
    return dict(target) | ({"headers": dict.fromkeys(headers, HIDDEN)} if headers else {})
