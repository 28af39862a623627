"""The body of the call that writes the settings of a namespace, and the response that shows them."""

from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.jobs.namespace_defaults import HOSTS, NETWORKS
from sweephand.jobs.namespace_settings import LIMITS, NamespaceView
from sweephand.model.api_key import Caller
from sweephand.model.namespace import EVERYWHERE, AllowedTargets
from sweephand.targets.registry import with_hidden_values
from sweephand.web.schemas.field_models import NamespaceTarget, model_of
from sweephand.web.schemas.formats import HostText, NetworkText
from sweephand.web.schemas.job_requests import RetryRequest
from sweephand.web.schemas.job_responses import HIDDEN
from sweephand.web.schemas.run_responses import NextCursor, Time
from sweephand.web.schemas.shapes import RequestBody

_TARGET_MEANING: Final = (
    "The target of jobs that have none, and the base of targets of the type `default`: an object with its "
    "type. Each delivery reads it. Without this field the namespace has no default target, and the triggers "
    "of such jobs fail."
)
_RETRY_MEANING: Final = (
    "The `retry` of jobs that are written without one: an object. It is copied into the job, so a change "
    "affects jobs that are written later."
)
_ALLOWED_MEANING: Final = (
    "Where the HTTP targets of the namespace may be: an object. Jobs with other hosts are refused, and a "
    "trigger for another host fails at once. Without this field every place is allowed that the stack allows."
)


_LIMIT_MEANINGS: Final = {each.name: each.meaning for each in LIMITS.fields}


@model_of(LIMITS)
class NamespaceLimitsRequest(RequestBody):
    """The limits of a namespace. Without one of them, the stack's own apply (`GET /v1/limits`)."""


class AllowedTargetsRequest(RequestBody):
    """Where the HTTP targets of a namespace may be. A target has to pass both lists."""

    hosts: list[HostText] | None = Field(
        None, description=HOSTS, json_schema_extra={"minItems": 1, "maxItems": NAMESPACE_HOSTS_MAX}
    )
    networks: list[NetworkText] | None = Field(
        None, description=NETWORKS, json_schema_extra={"minItems": 1, "maxItems": NAMESPACE_NETWORKS_MAX}
    )


class NamespaceRequest(RequestBody):
    """The settings of a namespace. They replace the stored ones."""

    limits: NamespaceLimitsRequest = Field(
        description="What the namespace may do: an object. A limit that is left out is removed."
    )
    default_target: NamespaceTarget | None = Field(None, description=_TARGET_MEANING)
    default_retry: RetryRequest | None = Field(None, description=_RETRY_MEANING)
    allowed_targets: AllowedTargetsRequest | None = Field(None, description=_ALLOWED_MEANING)


class NamespaceLimitsResponse(TypedDict):
    """The limits of a namespace that are set."""

    triggersPerMinute: NotRequired[Annotated[int, Field(description=_LIMIT_MEANINGS["triggersPerMinute"])]]
    jobs: NotRequired[Annotated[int, Field(description=_LIMIT_MEANINGS["jobs"])]]
    payload: NotRequired[Annotated[int, Field(description=_LIMIT_MEANINGS["payload"])]]


class AllowedTargetsResponse(TypedDict):
    """Where the HTTP targets of a namespace may be: the lists that are set."""

    hosts: NotRequired[Annotated[list[str], Field(description=HOSTS)]]
    networks: NotRequired[Annotated[list[str], Field(description=NETWORKS)]]


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
    defaultTarget: NotRequired[Annotated[dict[str, Any], Field(description=_TARGET_MEANING)]]
    defaultRetry: NotRequired[Annotated[dict[str, Any], Field(description=_RETRY_MEANING)]]
    allowedTargets: NotRequired[Annotated[AllowedTargetsResponse, Field(description=_ALLOWED_MEANING)]]
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


class NamespaceSummary(TypedDict):
    """A namespace in a list."""

    namespace: Annotated[str, Field(description="The namespace.")]


class NamespacePage(TypedDict):
    """A page of namespaces in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[
        list[NamespaceSummary], Field(description="The namespaces, in the order of their names.")
    ]
    nextCursor: NotRequired[NextCursor]


def _allowed_targets(allowed: AllowedTargets) -> AllowedTargetsResponse:
    shown: AllowedTargetsResponse = {}
    if allowed.hosts:
        shown["hosts"] = list(allowed.hosts)
    if allowed.networks:
        shown["networks"] = list(allowed.networks)
    return shown


def namespace_response(namespace: str, view: NamespaceView, caller: Caller) -> NamespaceResponse:
    """The settings of a namespace, as a response shows them.

    For a caller that may only read, HIDDEN replaces the secret values of the default target.
    """
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
    target, retry = settings.defaults
    if target is not None:
        shown = target if caller.may("write") else with_hidden_values(target, HIDDEN)
        response["defaultTarget"] = dict(shown)
    if retry is not None:
        response["defaultRetry"] = dict(retry)
    if settings.allowed != EVERYWHERE:
        response["allowedTargets"] = _allowed_targets(settings.allowed)
    if view.jobs_counted is not None:
        response["jobsCounted"] = view.jobs_counted
    response |= {
        "rev": settings.version,
        "updatedAt": rfc3339(settings.updated_at),
        "updatedBy": settings.owner,
    }
    return response
