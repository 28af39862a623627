"""The settings of namespaces as a process knows them, which reads each at most once a minute."""

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.model.namespace import AllowedTargets, NamespaceDefaults, NamespaceLimits, NamespaceSettings
from sweephand.ports.clock import Clock

if TYPE_CHECKING:
    # Every delivery reads settings. It starts without the values of the other ports of flow.
    from sweephand.ports.flow import NamespaceStore


#: The settings of a namespace that has none: no limit, no default, every target.
_NEVER_WRITTEN: Final = NamespaceSettings("", "", NamespaceLimits(), 0, "")


class CachedSettings:
    """The settings of namespaces. A process reads each once a minute at most. Threads may share an object."""

    def __init__(self, *, namespaces: "NamespaceStore", clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock
        self._known: dict[str, tuple[Instant, NamespaceSettings]] = {}
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
        if fresh:
            return self._read(namespace)
        known = self._known.get(namespace)
        if known is not None and self._clock.now() - known[0] < NAMESPACE_AGE_MAX_MS:
            return known[1]
        with self._lock:
            try:
                return self._read(namespace)
            except StoreError:
                if known is None:
                    raise
                return known[1]

    def _read(self, namespace: str) -> NamespaceSettings:
        now = self._clock.now()
        settings = self._namespaces.get(namespace) or _NEVER_WRITTEN
        self._known[namespace] = now, settings
        return settings


class NoSettings(CachedSettings):
    """Stands for the settings in a stack whose namespaces have none: no limit, no default, every target."""

    def __init__(self) -> None:
        """It reads nothing."""

    def enlist(self, namespace: str) -> None:
        """List nothing."""

    def _settings(self, namespace: str, *, fresh: bool = False) -> NamespaceSettings:  # noqa: ARG002 - as its base
        return _NEVER_WRITTEN
