"""What callers are shown of everything but jobs and runs."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.model.api_key import Key, Role
from sweephand.model.change import Change, ChangeKind, FieldChange
from sweephand.model.signing_secret import SigningSecret
from sweephand.web.schemas.run_responses import NextCursor, Time, time_or_none

#: What a clock change did to a due time.
Reason = Literal["gap-shifted", "overlap-first", "overlap-last"]


class KeyResponse(TypedDict):
    """An API key, without its secret."""

    id: Annotated[str, Field(description="The key's id: what `DELETE /v1/keys/{id}` takes.")]
    namespace: Annotated[str, Field(description="The namespace that the key opens; `*` for every one.")]
    role: Annotated[
        Role, Field(description="What the key may do: `read`, `write` (read too) or `admin` (all of it).")
    ]
    createdAt: Annotated[Time, Field(description="When the key was made.")]
    expiresAt: Annotated[Time | None, Field(description="When the key stops working; null if it does not.")]
    description: Annotated[
        str | None, Field(description="What its maker wrote of it, for people; null if nothing.")
    ]


class NewKeyResponse(KeyResponse):
    """An API key on the one occasion on which it is shown."""

    key: Annotated[str, Field(description="The key itself: `Authorization: Bearer {key}`.")]


class SecretResponse(TypedDict):
    """A signing secret."""

    secret: Annotated[
        str, Field(description="The secret as Standard Webhooks writes it: `whsec_` and base64.")
    ]
    createdAt: Annotated[Time, Field(description="When the secret was made.")]
    expiresAt: Annotated[
        Time | None, Field(description="When the secret stops signing; null until it is rotated.")
    ]


class SecretsResponse(TypedDict):
    """The signing secrets that are active, newest first."""

    items: Annotated[
        list[SecretResponse], Field(description="The secrets that sign deliveries now, newest first.")
    ]


class OccurrenceResponse(TypedDict):
    """One due time."""

    utc: Annotated[Time, Field(description="The due time in UTC.")]
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


class SkippedResponse(TypedDict):
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


class OccurrencesResponse(TypedDict):
    """Due times in order, and what the schedule means."""

    occurrences: Annotated[list[OccurrenceResponse], Field(description="The due times, earliest first.")]
    skipped: Annotated[
        list[SkippedResponse], Field(description="What clock changes dropped before the last of these.")
    ]
    description: Annotated[str, Field(description="The schedule in words, without time zone and bounds.")]
    end: Annotated[
        Time | None,
        Field(description="The last due time of the series; null if it has no end or a very distant one."),
    ]


class ViolationResponse(TypedDict):
    """One field that cannot be accepted."""

    pointer: Annotated[str, Field(description="A JSON pointer (RFC 6901) into the body, or a parameter.")]
    detail: Annotated[str, Field(description="A sentence that says what would be valid.")]


class ProblemResponse(TypedDict):
    """A problem document (RFC 9457)."""

    type: Annotated[str, Field(description="A name for the kind of problem: `urn:sweephand:problem:…`.")]
    title: Annotated[str, Field(description="The kind of problem in a few words.")]
    status: Annotated[int, Field(description="The HTTP status.")]
    detail: Annotated[str, Field(description="What was wrong with this request, in a sentence.")]
    errors: NotRequired[
        Annotated[
            list[ViolationResponse],
            Field(
                description="Every field or parameter that cannot be accepted. Left out of other problems."
            ),
        ]
    ]


class GatewayRefusal(TypedDict):
    """What API Gateway answers by itself: no problem document."""

    message: Annotated[
        str, Field(description="What API Gateway says, such as `Unauthorized` or `Forbidden`.")
    ]


class BulkWriteResult(TypedDict):
    """What became of one job of many: `rev` where it was written, else `problem`."""

    name: Annotated[Any, Field(description="The name as it was given.")]
    status: Annotated[int, Field(description="The status that a PUT of this job would have had.")]
    rev: NotRequired[Annotated[str, Field(description="The revision, where the job was written.")]]
    problem: NotRequired[
        Annotated[ProblemResponse, Field(description="The problem, where the job was refused.")]
    ]


class BulkWriteResponse(TypedDict):
    """What became of each job, in the order of the request."""

    results: Annotated[
        list[BulkWriteResult], Field(description="One result for each job, in the order of the request.")
    ]


class HealthResponse(TypedDict):
    """The age of tick's heartbeat."""

    status: Annotated[
        Literal["ok"], Field(description="`ok`: the stack ticked within the last three minutes.")
    ]
    heartbeatAt: Annotated[Time, Field(description="When tick last ran.")]
    heartbeatAgeSeconds: Annotated[float, Field(description="How long ago that was, in seconds.")]


class TriggerResponse(TypedDict):
    """A trigger that was asked for."""

    id: Annotated[
        str, Field(description="The name of the trigger's run, which is `enqueued` until an attempt is over.")
    ]
    triggerId: Annotated[str, Field(description="What the consumer deduplicates by (`webhook-id`).")]
    dueAt: Annotated[Time, Field(description="The due time: the instant of this request.")]


class BackfillResponse(TypedDict):
    """The triggers of a past span."""

    count: Annotated[int, Field(description="How many triggers were made.")]
    firstId: Annotated[str | None, Field(description="The name of the first one's run; null if none.")]
    lastId: Annotated[str | None, Field(description="The name of the last one's run; null if none.")]


class CountResponse(TypedDict):
    """What a call about many did; `nextCursor` as long as there may be more."""

    count: Annotated[int, Field(description="How many jobs this call changed, or how many runs it redrove.")]
    nextCursor: NotRequired[NextCursor]


class FieldChangeResponse(TypedDict):
    """A top-level field that was changed.

    `before` and `after` are left out of `target`, `onComplete` and `data`, which may hold secrets, and where
    one of them is long. A field that was not there is null.
    """

    name: Annotated[str, Field(description="The name of the field.")]
    before: NotRequired[
        Annotated[Any, Field(description="Its value before the change; null if there was none.")]
    ]
    after: NotRequired[
        Annotated[Any, Field(description="Its value after the change; null if there is none.")]
    ]


class ChangeResponse(TypedDict):
    """One write of a job."""

    time: Annotated[Time, Field(description="When the job was written.")]
    who: Annotated[
        str, Field(description="The id of the key; `sweephand` if Sweephand itself wrote the job.")
    ]
    what: Annotated[ChangeKind, Field(description="What was done to the job.")]
    reason: Annotated[str | None, Field(description="Why the job was paused, if the caller said it.")]
    fields: NotRequired[
        Annotated[
            list[FieldChangeResponse],
            Field(description="What a replace or patch changed, by name; left out where nobody recorded it."),
        ]
    ]


class ChangePage(TypedDict):
    """Some changes, newest first; `nextCursor` as long as there may be more."""

    items: Annotated[list[ChangeResponse], Field(description="The changes, newest first.")]
    nextCursor: NotRequired[NextCursor]


class KeyPage(TypedDict):
    """Some keys by id; `nextCursor` as long as there may be more."""

    items: Annotated[list[KeyResponse], Field(description="The keys, in the order of their ids.")]
    nextCursor: NotRequired[NextCursor]


def change_response(change: Change) -> ChangeResponse:
    """A change of a job."""
    shown: ChangeResponse = {
        "time": rfc3339(change.at),
        "who": change.who,
        "what": change.what,
        "reason": change.reason,
    }
    if change.fields is not None:
        shown["fields"] = [_field_response(each) for each in change.fields]
    return shown


def _field_response(field: FieldChange) -> FieldChangeResponse:
    if field.values is None:
        return {"name": field.name}
    before, after = field.values
    return {"name": field.name, "before": before, "after": after}


def key_response(key: Key) -> KeyResponse:
    """A key without its secret, which nobody but its holder has."""
    return {
        "id": key.id,
        "namespace": key.namespace,
        "role": key.role,
        "createdAt": rfc3339(key.created_at),
        "expiresAt": time_or_none(key.expires_at),
        "description": key.description,
    }


def secrets_response(secrets: Iterable[SigningSecret]) -> SecretsResponse:
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
