"""The trail of admins, as responses show it."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.model.change import AdminChange, AdminSubject, AdminVerb
from sweephand.web.schemas.responses import FieldChangeResponse, field_response
from sweephand.web.schemas.run_responses import NextCursor, Time


class AdminChangeResponse(TypedDict):
    """One change of a key, a secret or the settings of a namespace. No response shows a secret."""

    time: Annotated[Time, Field(description="When it was changed.")]
    who: Annotated[
        str,
        Field(
            description="The id of the key that changed it. For a JSON Web Token it is `jwt:` and the "
            "subject; `operator` stands for the function that makes admin keys."
        ),
    ]
    what: Annotated[AdminVerb, Field(description="The kind of change.")]
    subject: Annotated[
        AdminSubject,
        Field(
            description="What was changed: an API key, a secret that jobs name, the signing secrets or the "
            "ed25519 keys of a namespace, or its settings."
        ),
    ]
    namespace: Annotated[
        str, Field(description="The namespace of what was changed. `*` for a key of every namespace.")
    ]
    name: Annotated[
        str | None,
        Field(
            description="The id of the key, or the name of the secret. Null for what a namespace has once."
        ),
    ]
    fields: Annotated[list[FieldChangeResponse], Field(description="The fields that were changed, by name.")]
    reason: Annotated[
        str | None, Field(description="Why a key was revoked that the request did not name. Otherwise null.")
    ]


class AdminChangePage(TypedDict):
    """A page of changes, newest first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[AdminChangeResponse], Field(description="The changes, newest first.")]
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
