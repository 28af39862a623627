"""The calls about namespaces, and about the flow policies and windows in them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from sweephand_client.api.calls import Calls, label_query, preconditions
from sweephand_client.http.errors import ConflictError
from sweephand_client.http.operation import Operation
from sweephand_client.http.transport import Query
from sweephand_client.openapi import operations
from sweephand_client.openapi.job_answers import ChangeResponse, ForecastResponse
from sweephand_client.openapi.namespaces import NamespaceRequest, NamespaceResponse, NamespaceSummary
from sweephand_client.openapi.policies import (
    PolicyKeyResponse,
    PolicyRequest,
    PolicyResponse,
    WholePolicyResponse,
)
from sweephand_client.openapi.requests import PauseRequest
from sweephand_client.openapi.run_answers import NamespaceOverviewResponse, StatsResponse
from sweephand_client.openapi.windows import WindowRequest, WindowResponse

#: The OpenAPI document does not have the calls of EventBridge Scheduler's API.
_MAKE_GROUP: Final = Operation[dict[str, Any], Any](
    "createScheduleGroup", "POST", "/v1/scheduler/schedule-groups/{name}"
)


class Namespaces(Calls):
    """The namespaces that the key sees, and their settings."""

    def list(self) -> Iterator[NamespaceSummary]:
        """The namespaces that the key sees, by name."""
        return self._items(operations.LIST_NAMESPACES)

    def overview(
        self, *, since: str | None = None, include: Literal["jobs"] | None = None
    ) -> Iterator[NamespaceOverviewResponse]:
        """What fails, is late, waits and is paused in each namespace that the key sees, by name.

        Runs since 24 hours ago count.

        With `include`, its jobs are counted by state, which reads up to a thousand of them.
        """
        query: Query = {"since": since, "include": include}
        for part in self._parts(operations.SHOW_OVERVIEW, query=query):
            yield from part["items"]

    def get(self, namespace: str) -> NamespaceResponse:
        """The settings of a namespace. One that was never written has empty limits and no `rev`."""
        return self._transport.call(operations.GET_NAMESPACE, {"namespace": namespace})

    def put(
        self,
        namespace: str,
        settings: NamespaceRequest,
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> NamespaceResponse:
        """Replace the settings: a field that is left out is removed. `limits` is required.

        With `if_match`, only if the settings have that revision. With `if_absent`, only if there are none.
        """
        headers = preconditions(if_match, if_absent=if_absent)
        return self._transport.call(
            operations.PUT_NAMESPACE, {"namespace": namespace}, body=settings, headers=headers
        )

    def make_schedule_group(self, namespace: str, tags: Mapping[str, str]) -> None:
        """Let EventBridge Scheduler's client know the namespace as a schedule group with these tags.

        It changes nothing if there is such a group. RefusedError if its API cannot have that name.
        """
        body = {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        with suppress(ConflictError):
            self._transport.call(_MAKE_GROUP, {"name": namespace}, body=body)

    def forecast(
        self,
        namespace: str,
        *,
        since: str | None = None,
        to: str | None = None,
        bucket: str | None = None,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> ForecastResponse:
        """How many triggers fall due in each bucket, from now or `since` on: for a day, or until `to`.

        Times are RFC 3339, and `bucket` is a duration. One call looks at up to a thousand jobs, so this makes
        as many calls as it needs and adds their numbers.
        """
        query: Query = {
            "from": since,
            "to": to,
            "bucket": bucket,
            "prefix": prefix,
            "label": label_query(labels),
        }
        whole, *others = self._parts(operations.FORECAST, {"namespace": namespace}, query=query)
        triggers: Counter[str] = Counter()
        for part in (whole, *others):
            triggers.update({each["at"]: each["triggers"] for each in part["buckets"]})
        for part in others:
            whole["jobs"] += part["jobs"]
            whole["paused"] += part["paused"]
        whole["buckets"] = [{"at": at, "triggers": triggers[at]} for at in sorted(triggers)]
        whole.pop("nextCursor", None)
        return whole

    def stats(
        self, namespace: str, *, since: str | None = None, to: str | None = None, step: str | None = None
    ) -> StatsResponse:
        """What deliveries counted in each step: in the last hour, from `since` on, or until `to`.

        Times are RFC 3339, and `step` is a duration of whole minutes. This makes as many calls as the span
        needs. ConflictError: the stack does not count, since its parameter Stats is off.
        """
        query: Query = {"from": since, "to": to, "step": step}
        whole, *others = self._parts(operations.STATS, {"namespace": namespace}, query=query)
        for part in others:
            whole["steps"] += part["steps"]
        whole.pop("nextCursor", None)
        return whole


class Policies(Calls):
    """The flow policies of all namespaces."""

    def put(
        self,
        namespace: str,
        name: str,
        policy: PolicyRequest,
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> PolicyResponse:
        """Create or replace a policy: `maxConcurrent`, `rate`, or both, for each value of `by` if given."""
        headers = preconditions(if_match, if_absent=if_absent)
        return self._transport.call(
            operations.PUT_POLICY, _policy(namespace, name), body=policy, headers=headers
        )

    def get(self, namespace: str, name: str) -> WholePolicyResponse:
        """A policy, and how much of it is in use."""
        return self._transport.call(operations.GET_POLICY, _policy(namespace, name))

    def pause(
        self, namespace: str, name: str, *, reason: str | None = None, if_match: str | None = None
    ) -> PolicyResponse:
        """Pause a policy. From two seconds after the answer on, no request of its jobs begins."""
        return self._transport.call(
            operations.PAUSE_POLICY,
            _policy(namespace, name),
            body=PauseRequest(reason=reason),
            headers=preconditions(if_match),
        )

    def resume(self, namespace: str, name: str, *, if_match: str | None = None) -> PolicyResponse:
        """Resume a policy. Triggers that wait leave within seconds."""
        return self._transport.call(
            operations.RESUME_POLICY, _policy(namespace, name), headers=preconditions(if_match)
        )

    def delete(self, namespace: str, name: str, *, if_match: str | None = None) -> None:
        """Delete a policy. Its limit holds for the jobs that name it. Resume a paused one first."""
        self._transport.call(
            operations.DELETE_POLICY, _policy(namespace, name), headers=preconditions(if_match)
        )

    def list(self, namespace: str) -> Iterator[PolicyResponse]:
        """The policies of a namespace, by name."""
        return self._items(operations.LIST_POLICIES, {"namespace": namespace})

    def keys(self, namespace: str, name: str) -> Iterator[PolicyKeyResponse]:
        """The values that wait under a policy with `by`, those first that have waited longest."""
        return self._items(operations.LIST_POLICY_KEYS, _policy(namespace, name))

    def changes(self, namespace: str, name: str) -> Iterator[ChangeResponse]:
        """The changes of a policy, newest first."""
        return self._items(operations.LIST_POLICY_CHANGES, _policy(namespace, name))


def _policy(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "policy": name}


class Windows(Calls):
    """The windows of all namespaces: times in which nothing is delivered."""

    def put(
        self,
        namespace: str,
        name: str,
        window: WindowRequest,
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> WindowResponse:
        """Create or replace a window: with `from` and `to`, or with `schedule` and `duration`."""
        headers = preconditions(if_match, if_absent=if_absent)
        return self._transport.call(
            operations.PUT_WINDOW, _window(namespace, name), body=window, headers=headers
        )

    def get(self, namespace: str, name: str) -> WindowResponse:
        """A window, and when it is open."""
        return self._transport.call(operations.GET_WINDOW, _window(namespace, name))

    def delete(self, namespace: str, name: str, *, if_match: str | None = None) -> None:
        """Delete a window. What it holds is delivered within a day."""
        self._transport.call(
            operations.DELETE_WINDOW, _window(namespace, name), headers=preconditions(if_match)
        )

    def list(self, namespace: str) -> list[WindowResponse]:
        """All windows of a namespace, by name."""
        return self._transport.call(operations.LIST_WINDOWS, {"namespace": namespace})["items"]


def _window(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "window": name}
