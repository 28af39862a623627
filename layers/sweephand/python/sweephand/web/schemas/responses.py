"""The responses of the API, except those that show jobs and runs."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.model.api_key import Key, Role
from sweephand.model.change import Change, ChangeKind, FieldChange
from sweephand.model.secret import SigningSecret
from sweephand.web.schemas.run_responses import NextCursor, Time, Version, time_or_none

#: The effect of a clock change on a due time.
Reason = Literal["gap-shifted", "overlap-first", "overlap-last"]


class KeyResponse(TypedDict):
    """An API key, without its secret."""

    id: Annotated[str, Field(description="The key's id, as `DELETE /v1/keys/{id}` takes it.")]
    namespace: Annotated[
        str, Field(description="The namespace that the key opens. `*` opens every namespace.")
    ]
    role: Annotated[
        Role, Field(description="What the key may do: `read`, `write` (also read) or `admin` (everything).")
    ]
    createdAt: Annotated[Time, Field(description="When the key was made.")]
    expiresAt: Annotated[Time | None, Field(description="When the key expires. Null if it does not expire.")]
    description: Annotated[
        str | None, Field(description="The text that its maker gave, for people. Null without such a text.")
    ]
    replacedBy: Annotated[
        str | None,
        Field(description="The id of the key that a rotation made in its place. Null if it was not rotated."),
    ]
    principal: Annotated[
        str | None,
        Field(
            description="The ARN of the IAM role or user that holds the key. Null if the key has a secret."
        ),
    ]
    createdBy: Annotated[
        str,
        Field(
            description="The id of the key that made or rotated it. For a JSON Web Token it is `jwt:` and "
            "the subject; `operator` stands for the function that makes admin keys."
        ),
    ]
    requestsPerMinute: Annotated[
        int | None, Field(description="How many requests it may send in a minute. Null without such a rate.")
    ]


class MeResponse(TypedDict):
    """What the key or the token of the caller allows."""

    id: Annotated[
        str,
        Field(description="The key's id. For a JSON Web Token it is `jwt:` and the subject of the token."),
    ]
    namespace: Annotated[
        str, Field(description="The namespace that the key opens. `*` opens every namespace.")
    ]
    role: Annotated[
        Role, Field(description="What the key may do: `read`, `write` (also read) or `admin` (everything).")
    ]
    expiresAt: Annotated[Time | None, Field(description="When the key expires. Null if it does not expire.")]
    stats: Annotated[
        bool,
        Field(description="Whether the stack counts deliveries, by its parameter `Stats`, and so has stats."),
    ]
    version: Version


class NewKeyResponse(KeyResponse):
    """A new API key. Only this response shows the key itself."""

    key: Annotated[
        str | None,
        Field(description="The key itself: `Authorization: Bearer {key}`. Null for the key of a principal."),
    ]


class RotatedKeyResponse(KeyResponse):
    """The new API key of a rotation. Only this response shows the key itself."""

    key: Annotated[str, Field(description="The key itself: `Authorization: Bearer {key}`.")]
    replaces: Annotated[KeyResponse, Field(description="The old key, with the end that it has now.")]


class SecretResponse(TypedDict):
    """A signing secret."""

    secret: Annotated[
        str, Field(description="The secret as Standard Webhooks writes it: `whsec_` and base64.")
    ]
    createdAt: Annotated[Time, Field(description="When the secret was made.")]
    expiresAt: Annotated[
        Time | None, Field(description="When the secret stops signing. Null until the secrets are rotated.")
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
                description="Only where the clock changes. `gap-shifted`: the due time replaces a local "
                "time that does not exist that day. `overlap-first`, `overlap-last`: the local time exists "
                "twice that day, and this is its first or last instant."
            ),
        ]
    ]


class SkippedResponse(TypedDict):
    """A local time of the schedule that is not a due time, because the clock changes."""

    utc: Annotated[
        Time, Field(description="Of `overlap-skipped`, the instant. Of `gap-skipped`, the end of the gap.")
    ]
    local: Annotated[
        str, Field(description="The local time. It has no offset if it does not exist that day.")
    ]
    reason: Annotated[
        Literal["gap-skipped", "overlap-skipped"],
        Field(
            description="`gap-skipped`: the local time does not exist that day. `overlap-skipped`: it "
            "exists twice that day, and its other instant fires."
        ),
    ]


class OccurrencesResponse(TypedDict):
    """Due times in order, and a description of the schedule."""

    occurrences: Annotated[list[OccurrenceResponse], Field(description="The due times, earliest first.")]
    skipped: Annotated[
        list[SkippedResponse],
        Field(description="The local times that clock changes dropped before the last due time."),
    ]
    description: Annotated[str, Field(description="The schedule in words, without time zone and bounds.")]
    end: Annotated[
        Time | None,
        Field(description="The last due time of the series. Null if it has no end, or a very distant one."),
    ]


class ViolationResponse(TypedDict):
    """One field that cannot be accepted."""

    pointer: Annotated[
        str,
        Field(
            description="A JSON pointer (RFC 6901) into the body, or a parameter. A very long one is cut, "
            "and ends in an ellipsis."
        ),
    ]
    detail: Annotated[str, Field(description="A sentence that says what is wrong or what would be valid.")]


class ProblemResponse(TypedDict):
    """A problem document (RFC 9457)."""

    type: Annotated[str, Field(description="The kind of problem: `urn:sweephand:problem:…`.")]
    title: Annotated[str, Field(description="The kind of problem in a few words.")]
    status: Annotated[int, Field(description="The HTTP status.")]
    detail: Annotated[str, Field(description="A sentence that says what was wrong with this request.")]
    errors: NotRequired[
        Annotated[
            list[ViolationResponse],
            Field(
                description="The fields or parameters that cannot be accepted: all of them, unless `detail` "
                "says how many are named. Other problems do not have this list."
            ),
        ]
    ]


class GatewayRefusal(TypedDict):
    """The body with which API Gateway itself refuses a request. It is not a problem document."""

    message: Annotated[
        str, Field(description="The message of API Gateway, such as `Unauthorized` or `Forbidden`.")
    ]


class BulkWriteResult(TypedDict):
    """The result of one job of a bulk write: `rev` if the job was written, else `problem`."""

    name: Annotated[
        Any,
        Field(
            description="The name as the caller gave it. Of a text that is far too long it is the beginning, "
            "and of another long value null."
        ),
    ]
    status: Annotated[int, Field(description="The status that a PUT of this job would have had.")]
    rev: NotRequired[Annotated[str, Field(description="The revision, if the job was written.")]]
    problem: NotRequired[
        Annotated[ProblemResponse, Field(description="The problem, if the job was refused.")]
    ]


class BulkWriteResponse(TypedDict):
    """The result of each job, in the order of the request."""

    results: Annotated[
        list[BulkWriteResult], Field(description="One result for each job, in the order of the request.")
    ]


class HealthResponse(TypedDict):
    """The age of the heartbeat of the tick function."""

    status: Annotated[
        Literal["ok"], Field(description="`ok`: the stack ticked within the last three minutes.")
    ]
    heartbeatAt: Annotated[Time, Field(description="When the tick function last ran.")]
    heartbeatAgeSeconds: Annotated[float, Field(description="How long ago that was, in seconds.")]
    enabled: Annotated[
        bool,
        Field(
            description="Whether the stack delivers. It is false while the stack's parameter `Enabled` is "
            "false. Jobs and triggers are then kept, and delivered later."
        ),
    ]
    version: Version
    offSince: NotRequired[
        Annotated[
            Time, Field(description="When tick first found the stack switched off. Absent while it is on.")
        ]
    ]


class TriggerResponse(TypedDict):
    """A trigger on demand."""

    id: Annotated[
        str,
        Field(description="The name of the trigger's run. The run is `enqueued` until an attempt is over."),
    ]
    triggerId: Annotated[
        str, Field(description="The id by which the consumer recognizes duplicates (`webhook-id`).")
    ]
    dueAt: Annotated[Time, Field(description="The due time: the instant of this request.")]
    count: NotRequired[
        Annotated[
            int,
            Field(
                description="How many triggers the batch has that begins now. `id` and `triggerId` are those "
                "of its first trigger. Only a job with a batch has this field."
            ),
        ]
    ]
    batchId: NotRequired[
        Annotated[
            str,
            Field(
                description="The name of the batch that begins now. GET …/batches/{batchId} shows its "
                "progress. Only a job with a batch has this field."
            ),
        ]
    ]


class BackfillResponse(TypedDict):
    """The triggers that a backfill makes."""

    count: Annotated[int, Field(description="How many triggers the backfill makes.")]
    firstId: Annotated[
        str | None, Field(description="The name of the first trigger's run. Null without triggers.")
    ]
    lastId: Annotated[
        str | None, Field(description="The name of the last trigger's run. Null without triggers.")
    ]


class CountResponse(TypedDict):
    """The result of a bulk call. It has a `nextCursor` if there may be more jobs or runs."""

    count: Annotated[int, Field(description="How many jobs this call changed, or how many runs it redrove.")]
    nextCursor: NotRequired[NextCursor]


class FieldChangeResponse(TypedDict):
    """A top-level field of a job that was changed.

    Targets (`target`, `onComplete`, `onAlert`) and `data` may hold secrets, so they have no `before` and
    `after`. Neither has a field of which one value is long. Null stands for a field that the job did not
    have.
    """

    name: Annotated[str, Field(description="The name of the field.")]
    before: NotRequired[
        Annotated[Any, Field(description="Its value before the change. Null if there was none.")]
    ]
    after: NotRequired[
        Annotated[Any, Field(description="Its value after the change. Null if there is none.")]
    ]


class ChangeResponse(TypedDict):
    """One write of a job."""

    time: Annotated[Time, Field(description="When the job was written.")]
    who: Annotated[
        str,
        Field(description="The id of the key that wrote the job. `sweephand` if Sweephand itself wrote it."),
    ]
    what: Annotated[ChangeKind, Field(description="The kind of change.")]
    reason: Annotated[str | None, Field(description="Why the job was paused, if the caller gave a reason.")]
    fields: NotRequired[
        Annotated[
            list[FieldChangeResponse],
            Field(
                description="The fields that a replace or patch changed, by name. Other changes have no "
                "such list."
            ),
        ]
    ]


class ChangePage(TypedDict):
    """A page of changes, newest first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[ChangeResponse], Field(description="The changes, newest first.")]
    nextCursor: NotRequired[NextCursor]


class KeyPage(TypedDict):
    """A page of keys in the order of their ids. It has a `nextCursor` if there may be more."""

    items: Annotated[list[KeyResponse], Field(description="The keys, in the order of their ids.")]
    nextCursor: NotRequired[NextCursor]


def change_response(change: Change) -> ChangeResponse:
    """A change of a job, as a response shows it."""
    response: ChangeResponse = {
        "time": rfc3339(change.at),
        "who": change.who,
        "what": change.what,
        "reason": change.reason,
    }
    if change.fields is not None:
        response["fields"] = [field_response(each) for each in change.fields]
    return response


def field_response(field: FieldChange) -> FieldChangeResponse:
    """A field of a change, as a response shows it."""
    if field.values is None:
        return {"name": field.name}
    before, after = field.values
    return {"name": field.name, "before": before, "after": after}


def key_response(key: Key) -> KeyResponse:
    """A key as a response shows it. Sweephand does not know its secret, only the digest."""
    return {
        "id": key.id,
        "namespace": key.namespace,
        "role": key.role,
        "createdAt": rfc3339(key.created_at),
        "expiresAt": time_or_none(key.expires_at),
        "description": key.description,
        "replacedBy": key.replaced_by,
        "principal": key.principal,
        "createdBy": key.created_by,
        "requestsPerMinute": key.requests_per_minute,
    }


def secrets_response(secrets: Iterable[SigningSecret]) -> SecretsResponse:
    """Signing secrets as a response shows them, in the order of `secrets`."""
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
