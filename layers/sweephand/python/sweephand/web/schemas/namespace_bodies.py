"""The body of the call that writes the settings of a namespace, and the response that shows them."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.jobs.namespace_settings import JOBS, PAYLOAD, TRIGGERS_PER_MINUTE, NamespaceView
from sweephand.web.schemas.formats import bounded
from sweephand.web.schemas.request_body import RequestBody
from sweephand.web.schemas.run_responses import Time


class NamespaceLimitsRequest(RequestBody):
    """The limits of a namespace. Without one of them, only the limits of the stack apply."""

    triggers_per_minute: Annotated[int, bounded("integer", TRIGGERS_PER_MINUTE)] | None = Field(
        None, description=TRIGGERS_PER_MINUTE.meaning
    )
    jobs: Annotated[int, bounded("integer", JOBS)] | None = Field(None, description=JOBS.meaning)
    payload: Annotated[int, bounded("integer", PAYLOAD)] | None = Field(None, description=PAYLOAD.meaning)


class NamespaceRequest(RequestBody):
    """The settings of a namespace. They replace the stored ones."""

    limits: NamespaceLimitsRequest = Field(
        description="What the namespace may do: an object. A limit that is left out is removed."
    )


class NamespaceLimitsResponse(TypedDict):
    """The limits of a namespace that are set."""

    triggersPerMinute: NotRequired[Annotated[int, Field(description=TRIGGERS_PER_MINUTE.meaning)]]
    jobs: NotRequired[Annotated[int, Field(description=JOBS.meaning)]]
    payload: NotRequired[Annotated[int, Field(description=PAYLOAD.meaning)]]


class NamespaceResponse(TypedDict):
    """The settings of a namespace."""

    namespace: Annotated[str, Field(description="The namespace.")]
    rev: NotRequired[
        Annotated[
            str,
            Field(
                description="The revision of the settings. The `ETag` header shows it too. A namespace whose "
                "settings were never written has none."
            ),
        ]
    ]
    limits: Annotated[
        NamespaceLimitsResponse, Field(description="The limits. One that is not set is left out.")
    ]
    jobsCounted: NotRequired[
        Annotated[
            int,
            Field(
                description="How many jobs count toward `limits.jobs`. It is at least the number of stored "
                "jobs. Jobs that have expired may count for some more minutes."
            ),
        ]
    ]
    updatedAt: NotRequired[Annotated[Time, Field(description="When the settings were last written.")]]
    updatedBy: NotRequired[Annotated[str, Field(description="The id of the key that wrote them.")]]


def namespace_response(namespace: str, view: NamespaceView) -> NamespaceResponse:
    """The settings of a namespace, as a response shows them."""
    response: NamespaceResponse = {"namespace": namespace, "limits": {}}
    settings = view.settings
    if settings is None:
        return response
    limits = settings.limits
    if limits.triggers_per_minute is not None:
        response["limits"]["triggersPerMinute"] = limits.triggers_per_minute
    if limits.jobs_max is not None:
        response["limits"]["jobs"] = limits.jobs_max
    if limits.payload_bytes_max is not None:
        response["limits"]["payload"] = limits.payload_bytes_max
    if view.jobs_counted is not None:
        response["jobsCounted"] = view.jobs_counted
    response |= {
        "rev": settings.version,
        "updatedAt": rfc3339(settings.updated_at),
        "updatedBy": settings.owner,
    }
    return response
