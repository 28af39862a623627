"""The operations that list the changes of a job, and those of what admins and writers set up."""

from functools import partial
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.base.limits import PAGE_ITEMS_DEFAULT
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.model.change import (
    AdminChange,
    AdminSubject,
    AdminVerb,
    Change,
    ChangeKind,
    FieldChange,
    position_at,
)
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.schemas.formats import (
    Cursor,
    Limit,
    Moment,
    NextCursor,
    PageQuery,
    QueryParameters,
    Time,
    about,
    page_query,
    position,
)


class FieldChangeResponse(TypedDict):
    """A top-level field of a job that was changed.

    Targets (`target`, `onComplete`, `onAlert`) and `data` may hold secrets, so they have no `before` and
    `after`. Neither has a field of which one value is long. Null stands for a field that the job did not
    have.
    """

    name: Annotated[str, about("The name of the field.")]
    before: NotRequired[Annotated[Any, about("Its value before the change. Null if there was none.")]]
    after: NotRequired[Annotated[Any, about("Its value after the change. Null if there is none.")]]


class ChangeResponse(TypedDict):
    """One write of a job."""

    time: Annotated[Time, about("When the job was written.")]
    who: Annotated[
        str, about("The id of the key that wrote the job. `sweephand` if Sweephand itself wrote it.")
    ]
    what: Annotated[ChangeKind, about("The kind of change.")]
    reason: Annotated[
        str | None, about("Why the job was written, paused or deleted, if the caller gave a reason.")
    ]
    until: NotRequired[Annotated[Time, about("When the pause ends by itself, or has ended by this resume.")]]
    fields: NotRequired[
        Annotated[
            list[FieldChangeResponse],
            about("The fields that a replace or patch changed, by name. Other changes have no such list."),
        ]
    ]


class ChangePage(TypedDict):
    """A page of changes, newest first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[ChangeResponse], about("The changes, newest first.")]
    nextCursor: NotRequired[NextCursor]


def change_response(change: Change) -> ChangeResponse:
    """A change of a job, as a response shows it."""
    response: ChangeResponse = {
        "time": rfc3339(change.at),
        "who": change.who,
        "what": change.what,
        "reason": change.reason,
    }
    if change.until is not None:
        response["until"] = rfc3339(change.until)
    if change.fields is not None:
        response["fields"] = [field_response(each) for each in change.fields]
    return response


def field_response(field: FieldChange) -> FieldChangeResponse:
    """A field of a change, as a response shows it."""
    if field.values is None:
        return {"name": field.name}
    before, after = field.values
    return {"name": field.name, "before": before, "after": after}


class AdminChangeResponse(TypedDict):
    """One change of a key, a secret, a calendar, a window, or settings of a namespace. No secret is shown."""

    time: Annotated[Time, about("When it was changed.")]
    who: Annotated[
        str,
        about(
            "The id of the key that changed it. For a JSON Web Token it is `jwt:` and the "
            "subject; `operator` stands for the function that makes admin keys."
        ),
    ]
    what: Annotated[AdminVerb, about("The kind of change.")]
    subject: Annotated[
        AdminSubject,
        about(
            "What was changed: an API key, a secret that jobs name, the signing secrets or the "
            "ed25519 keys of a namespace, its settings, or one of its calendars or windows."
        ),
    ]
    namespace: Annotated[str, about("The namespace of what was changed. `*` for a key of every namespace.")]
    name: Annotated[
        str | None,
        about(
            "The id of the key, or the name of the secret, calendar or window. Null for what is there once."
        ),
    ]
    fields: Annotated[list[FieldChangeResponse], about("The fields that were changed, by name.")]
    reason: Annotated[
        str | None, about("Why a key was revoked that the request did not name. Otherwise null.")
    ]


class AdminChangePage(TypedDict):
    """A page of changes, newest first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[AdminChangeResponse], about("The changes, newest first.")]
    nextCursor: NotRequired[NextCursor]


def admin_change_response(change: AdminChange) -> AdminChangeResponse:
    """A change as a response shows it."""
    return {
        "time": rfc3339(change.at),
        "who": change.who,
        "what": change.what,
        "subject": change.subject,
        "namespace": change.namespace,
        "name": change.name or None,
        "fields": [field_response(each) for each in change.fields],
        "reason": change.reason,
    }


class AdminChangesQuery(QueryParameters):
    """Selects the changes of keys, secrets, settings, calendars and windows to list."""

    since: Moment | None = Field(
        None, description="Only changes at this instant or later (RFC 3339 with an offset)."
    )
    until: Moment | None = Field(None, description="Only changes before this instant.")
    limit: Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[Cursor, position("adminChanges")] = ""


@partial(
    Operation,
    method="GET",
    path=JOB_PATH + "/changes",
    tag="Jobs",
    access="read",
    query=page_query("changes"),
    returns={200: Returns("A page of changes", ChangePage)},
    problems=(404,),
)
def list_changes(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List the changes of a job.

    Lists the newest change first. Sweephand keeps a change for 90 days, also if the job is deleted.
    """
    page = services.changes.page(request.key, request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("changes", page, change_response))


@partial(
    Operation,
    method="GET",
    path="/v1/changes",
    tag="Access",
    access="admin",
    query=AdminChangesQuery,
    returns={200: Returns("A page of changes", AdminChangePage)},
)
def list_admin_changes(services: Services, request: Request[AdminChangesQuery, None]) -> Reply:
    """List changes of keys, secrets, settings, calendars and windows.

    Says who made, rotated and revoked API keys, wrote, rotated and deleted secrets and signing keys, and
    wrote the settings, calendars and windows of namespaces; newest first. An admin of one namespace sees the
    changes in that namespace only. Sweephand keeps a change for 90 days. Jobs and policies have lists of
    their own. A deletion is listed before it is made, so after an outage one may be listed that was not made.
    """
    query, namespace = request.query, request.caller.namespace
    before = "" if query.until is None else position_at(query.until)
    if query.cursor:
        before = min(query.cursor, before or query.cursor)
    of = None if namespace == EVERY_NAMESPACE else namespace
    page = services.admin_changes.page(of, before, query.limit, query.since or 0)
    return Reply(200, cursor.page_of("adminChanges", page, admin_change_response))
