"""The calls about namespaces, and about the flow policies in them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from sweephand_client.api.answers import (
    Change,
    Namespace,
    NamespaceSettings,
    Policy,
    WholePolicy,
)
from sweephand_client.api.figures import Forecast, Stats
from sweephand_client.api.paging import items, label_query
from sweephand_client.api.preconditions import preconditions
from sweephand_client.http.transport import Query, Transport


class Namespaces:
    """The namespaces that the key sees, and their settings."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[Namespace]:
        """The namespaces that the key sees, by name."""
        return items(self._transport, "listNamespaces", {}, {})

    def get(self, namespace: str) -> NamespaceSettings:
        """The settings of a namespace. One that was never written has empty limits and no `rev`."""
        return cast("NamespaceSettings", self._transport.call("getNamespace", {"namespace": namespace}).body)

    def put(
        self,
        namespace: str,
        settings: Mapping[str, Any],
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> NamespaceSettings:
        """Replace the settings: a field that is left out is removed. `limits` is required.

        With `if_match`, only if the settings have that revision. With `if_absent`, only if there are none.
        """
        headers = preconditions(if_match, if_absent=if_absent)
        answer = self._transport.call(
            "putNamespace", {"namespace": namespace}, body=settings, headers=headers
        )
        return cast("NamespaceSettings", answer.body)

    def forecast(
        self,
        namespace: str,
        *,
        since: str | None = None,
        to: str | None = None,
        bucket: str | None = None,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Forecast:
        """How many triggers fall due in each bucket, from now or `since` on: for a day, or until `to`.

        Times are RFC 3339, and `bucket` is a duration. One call looks at up to a thousand jobs, so this makes
        as many calls as it needs and adds their numbers.
        """
        path = {"namespace": namespace}
        query: Query = {
            "from": since,
            "to": to,
            "bucket": bucket,
            "prefix": prefix,
            "label": label_query(labels),
        }
        whole = cast("Forecast", self._transport.call("forecast", path, query=query).body)
        triggers = Counter({each["at"]: each["triggers"] for each in whole["buckets"]})
        part = whole
        while "nextCursor" in part:
            # The first call has chosen the span. By now another one would be chosen.
            again = {**query, "from": whole["from"], "to": whole["to"], "cursor": part["nextCursor"]}
            part = cast("Forecast", self._transport.call("forecast", path, query=again).body)
            triggers.update({each["at"]: each["triggers"] for each in part["buckets"]})
            whole["jobs"] += part["jobs"]
            whole["paused"] += part["paused"]
        whole["buckets"] = [{"at": at, "triggers": triggers[at]} for at in sorted(triggers)]
        whole.pop("nextCursor", None)
        return whole

    def stats(
        self, namespace: str, *, since: str | None = None, to: str | None = None, step: str | None = None
    ) -> Stats:
        """What deliveries counted in each step: in the last hour, from `since` on, or until `to`.

        Times are RFC 3339, and `step` is a duration of whole minutes. This makes as many calls as the span
        needs. ConflictError: the stack does not count, since its parameter Stats is off.
        """
        path = {"namespace": namespace}
        query: Query = {"from": since, "to": to, "step": step}
        whole = cast("Stats", self._transport.call("stats", path, query=query).body)
        part = whole
        while "nextCursor" in part:
            # The first call has chosen the span. By now another one would be chosen.
            again = {**query, "from": whole["from"], "to": whole["to"], "cursor": part["nextCursor"]}
            part = cast("Stats", self._transport.call("stats", path, query=again).body)
            whole["steps"] += part["steps"]
        whole.pop("nextCursor", None)
        return whole


class Policies:
    """The flow policies of all namespaces."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(
        self,
        namespace: str,
        name: str,
        policy: Mapping[str, Any],
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> Policy:
        """Create or replace a policy: `maxConcurrent`, `rate`, or both."""
        headers = preconditions(if_match, if_absent=if_absent)
        answer = self._transport.call("putPolicy", _policy(namespace, name), body=policy, headers=headers)
        return cast("Policy", answer.body)

    def get(self, namespace: str, name: str) -> WholePolicy:
        """A policy, and how much of it is in use."""
        return cast("WholePolicy", self._transport.call("getPolicy", _policy(namespace, name)).body)

    def delete(self, namespace: str, name: str, *, if_match: str | None = None) -> None:
        """Delete a policy. The triggers of jobs that still name it wait."""
        self._transport.call("deletePolicy", _policy(namespace, name), headers=preconditions(if_match))

    def list(self, namespace: str) -> Iterator[Policy]:
        """The policies of a namespace, by name."""
        return items(self._transport, "listPolicies", {"namespace": namespace}, {})

    def changes(self, namespace: str, name: str) -> Iterator[Change]:
        """The changes of a policy, newest first."""
        return items(self._transport, "listPolicyChanges", _policy(namespace, name), {})


def _policy(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "policy": name}
