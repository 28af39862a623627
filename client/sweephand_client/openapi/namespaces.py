"""The bodies of calls about settings of namespaces, and their answers.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Any, NotRequired, TypedDict

from sweephand_client.openapi.requests import NamespaceTarget, RetryRequest


class NamespaceSummary(TypedDict):
    """A namespace in a list."""

    namespace: str


class NamespaceLimitsResponse(TypedDict):
    """The limits of a namespace that are set."""

    triggersPerMinute: NotRequired[int]
    jobs: NotRequired[int]
    payload: NotRequired[int]


class AllowedTargetsResponse(TypedDict):
    """Where the HTTP targets of a namespace may be: the lists that are set."""

    hosts: NotRequired[list[str]]
    networks: NotRequired[list[str]]


class NamespaceResponse(TypedDict):
    """The settings of a namespace."""

    namespace: str
    rev: NotRequired[str]
    limits: NamespaceLimitsResponse
    defaultTarget: NotRequired[dict[str, Any]]
    defaultRetry: NotRequired[dict[str, Any]]
    allowedTargets: NotRequired[AllowedTargetsResponse]
    jobsCounted: NotRequired[int]
    updatedAt: NotRequired[str]
    updatedBy: NotRequired[str]


class NamespaceLimitsRequest(TypedDict):
    """The limits of a namespace."""

    triggersPerMinute: NotRequired[int | None]
    jobs: NotRequired[int | None]
    payload: NotRequired[int | None]


class AllowedTargetsRequest(TypedDict):
    """Where the HTTP targets of a namespace may be."""

    hosts: NotRequired[list[str] | None]
    networks: NotRequired[list[str] | None]


class NamespaceRequest(TypedDict):
    """The settings of a namespace."""

    limits: NamespaceLimitsRequest
    defaultTarget: NotRequired[NamespaceTarget | None]
    defaultRetry: NotRequired[RetryRequest | None]
    allowedTargets: NotRequired[AllowedTargetsRequest | None]
