"""The settings of namespaces as a process knows them, which reads each at most once a minute.

A job gets its retry from them when it is written, and its target at each delivery. They also say where the
targets of jobs may be.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sweephand.base.errors import InvalidError, StoreError, Violation
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.model.definition import TARGET_FIELDS, Definition
from sweephand.model.namespace import (
    EVERYWHERE,
    AllowedTargets,
    NamespaceDefaults,
    NamespaceLimits,
    NamespaceSettings,
)
from sweephand.model.window import NO_WINDOWS, Window, Windows
from sweephand.ports.clock import Clock
from sweephand.targets.default import NAME, resolved, takes
from sweephand.targets.destinations import of_namespace
from sweephand.targets.reach import Reach
from sweephand.targets.registry import data_violations, target_host, target_violations

if TYPE_CHECKING:
    # Every delivery reads settings. It starts without the values of the other ports of flow.
    from sweephand.ports.flow import NamespaceStore


#: The settings of a namespace that has none: no limit, no default, every target.
_NEVER_WRITTEN: Final = NamespaceSettings("", "", NamespaceLimits(), 0, "")


#: A late trigger, or a check of a watch, asks for earlier openings than others do.
_OPENINGS_KNOWN: Final = 4


class _KnownWindow(Window):
    """A window that remembers the openings that it found last. To find one by cron takes up to a millisecond.

    Threads may share an object, since each of them replaces all that it remembers at once.
    """

    #: From when to when an opening is the latest one, and the opening.
    _found: tuple[tuple[Instant, Instant, Instant | None], ...] = ()

    def latest_opening(self, at: Instant) -> Instant | None:
        """The same as that of the stored window."""
        for since, until, opens_at in self._found:
            if since <= at < until:
                return opens_at
        opens_at = super().latest_opening(at)
        following = self.next_opening(at)
        until = INSTANT_MAX + 1 if following is None else following.opens_at
        self._found = ((opens_at or 0, until, opens_at), *self._found[: _OPENINGS_KNOWN - 1])
        return opens_at


class _Known(NamedTuple):
    """What a process has read of a namespace, and when."""

    at: Instant
    settings: NamespaceSettings
    windows: Windows


class CachedSettings:
    """The settings and windows of namespaces. A process reads each namespace once a minute at most.

    Threads may share an object.
    """

    def __init__(self, *, namespaces: "NamespaceStore", clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._lock = Lock()
        self._enlisted: set[str] = set()

    def of(self, namespace: str) -> NamespaceLimits:
        """The limits as they were at most a minute ago, or for longer if the store does not answer.

        StoreError if the store does not answer and the settings are not known at all.
        """
        return self._settings(namespace).limits

    def defaults_of(self, namespace: str, *, fresh: bool = False) -> NamespaceDefaults:
        """The defaults of the namespace's jobs: as old as the limits of of(), or as they are stored now.

        StoreError as there.
        """
        return self._settings(namespace, fresh=fresh).defaults

    def allowed_of(self, namespace: str, *, fresh: bool = False) -> AllowedTargets:
        """Where the namespace's targets may be, as old as defaults_of(). StoreError as there."""
        return self._settings(namespace, fresh=fresh).allowed

    def windows_of(self, namespace: str) -> Windows:
        """The windows as they were at most a minute ago. StoreError if the store does not answer."""
        return self._read_lately(namespace, may_be_older=False).windows

    def enlist(self, namespace: str) -> None:
        """List the namespace among those that were used. After a failure the next call tries again."""
        if namespace in self._enlisted:
            return
        with suppress(StoreError):
            self._namespaces.enlist(namespace)
            self._enlisted.add(namespace)

    def triggers_per_minute(self, namespace: str) -> int:
        """How many triggers a minute the namespace may deliver; 0 for any number."""
        return self.of(namespace).triggers_per_minute or 0

    def _settings(self, namespace: str, *, fresh: bool = False) -> NamespaceSettings:
        return (self._read(namespace) if fresh else self._read_lately(namespace)).settings

    def _read_lately(self, namespace: str, *, may_be_older: bool = True) -> _Known:
        known = self._known.get(namespace)
        if known is not None and 0 <= self._clock.now() - known.at < NAMESPACE_AGE_MAX_MS:
            return known
        with self._lock:
            try:
                return self._read(namespace)
            except StoreError:
                if known is None or not may_be_older:
                    raise
                return known

    def _read(self, namespace: str) -> _Known:
        now = self._clock.now()
        settings, windows = self._namespaces.with_windows(namespace)
        windows = windows or NO_WINDOWS
        windows = windows._replace(windows=tuple(map(_KnownWindow._make, windows.windows)))
        known = _Known(now, settings or _NEVER_WRITTEN, windows)
        self._known[namespace] = known
        return known


class NoSettings(CachedSettings):
    """Stands for the settings in a stack whose namespaces have none: no limit, no default, every target."""

    def __init__(self) -> None:
        """It reads nothing."""

    def enlist(self, namespace: str) -> None:
        """List nothing."""

    def _settings(self, namespace: str, *, fresh: bool = False) -> NamespaceSettings:  # noqa: ARG002 - as its base
        return _NEVER_WRITTEN

    def windows_of(self, namespace: str) -> Windows:  # noqa: ARG002 - as its base
        """None."""
        return NO_WINDOWS


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


class JobDefaults:
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
            default = self.target(namespace, target)
            found += data_violations(default, definition.payload, definition.labels)
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
