"""What a job gets from its namespace: its retry when it is written, and its target at each delivery.

The settings of the namespace also say where the targets of jobs may be.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.jobs.settings_cache import CachedSettings
from sweephand.model.definition import TARGET_FIELDS, Definition
from sweephand.model.namespace import EVERYWHERE, AllowedTargets
from sweephand.targets.default import NAME, resolved, takes
from sweephand.targets.destinations import of_namespace
from sweephand.targets.reach import Reach
from sweephand.targets.registry import data_violations, target_host, target_violations

HOSTS: Final = (
    f"The hosts that HTTP targets of the namespace may have: 1 to {NAMESPACE_HOSTS_MAX} (namespaceHostsMax). "
    "`*.example.com` stands for every host below example.com, and not for example.com itself. Without this "
    "list, every host is allowed that the stack allows."
)
NETWORKS: Final = (
    "The networks to whose addresses HTTP targets of the namespace may connect, as in 203.0.113.0/24: 1 to "
    f"{NAMESPACE_NETWORKS_MAX} (namespaceNetworksMax). Without this list, every address is allowed that the "
    "stack allows."
)


def place_violations(allowed: AllowedTargets, spec: Mapping[str, Any] | None, at: str) -> list[Violation]:
    """The violation of a valid target that is not where the namespace allows; else empty.

    `at` is the JSON pointer of the target. Each delivery judges the addresses of a host name.
    """
    host = None if spec is None or allowed == EVERYWHERE else target_host(spec)
    refusal = None if host is None else of_namespace(allowed).refusal(host)
    return [] if refusal is None else [Violation(f"{at}/url", refusal)]


class NamespaceDefaults:
    """Applies the defaults of namespaces to their jobs. Several threads may share one object.

    A process knows a change of them within a minute. A default that is missing is looked up again at once.
    """

    def __init__(self, settings: CachedSettings, reach: Reach) -> None:
        self._settings = settings
        self._reach = reach

    def with_retry(self, namespace: str, definition: Definition) -> Definition:
        """The definition with the namespace's retry if it has none of its own."""
        if "retry" in definition.written:
            return definition
        retry = self._settings.defaults_of(namespace).retry
        if retry is None:
            return definition
        return replace(definition, written={**definition.written, "retry": dict(retry)})

    def check(self, namespace: str, definition: Definition) -> None:
        """Raise InvalidError if the targets of a job are not valid with the settings of today.

        Those are the default target, and where HTTP targets may be.
        """
        found = self._place_violations(namespace, definition)
        for name in TARGET_FIELDS:
            spec = definition.written.get(name)
            if spec is not None and spec.get("type") == NAME:
                # A notification and an alert always have a body.
                has_data = name != "target" or definition.payload is not None
                found += self._violations(namespace, spec, f"/{name}", has_data=has_data)
        target = definition.target
        if not found and definition.payload is not None and target.get("type") == NAME:
            found += data_violations(self.target(namespace, target), definition.payload.size)
        if found:
            raise InvalidError(found)

    def _place_violations(self, namespace: str, definition: Definition) -> list[Violation]:
        """The violations of targets that are not where the namespace allows.

        What the process knows may be a minute old, so what it would refuse is looked up again.
        """
        found: list[Violation] = []
        for fresh in (False, True):
            allowed = self._settings.allowed_of(namespace, fresh=fresh)
            found = [
                violation
                for name in TARGET_FIELDS
                for violation in place_violations(allowed, definition.written.get(name), f"/{name}")
            ]
            if not found:
                break
        return found

    def target(self, namespace: str, spec: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The target that a spec of the type `default` stands for; None if the namespace has no default.

        StoreError if the settings are not known.
        """
        default = self._default(namespace)
        return None if default is None else resolved(default, spec)

    def _default(self, namespace: str) -> Mapping[str, Any] | None:
        target = self._settings.defaults_of(namespace).target
        return self._settings.defaults_of(namespace, fresh=True).target if target is None else target

    def _violations(
        self, namespace: str, spec: Mapping[str, Any], at: str, *, has_data: bool
    ) -> list[Violation]:
        default = self._default(namespace)
        if default is None:
            detail = f"Give a target: the namespace {namespace} has no defaultTarget in its settings."
            return [Violation(at, detail)]
        untaken = takes(default, spec)
        if untaken:
            return [Violation(at + each.pointer, each.detail) for each in untaken]
        found = target_violations(resolved(default, spec), has_data=has_data, reach=self._reach, at=at)
        return [Violation(at, f"With the namespace's defaultTarget: {each.detail}") for each in found[:1]]
