"""Reading and writing the settings of a namespace: the limits and defaults that an admin sets for it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import UnavailableError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import (
    DATA_BYTES_MAX,
    NAMESPACE_JOBS_MAX,
    NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
    NAMESPACE_TRIGGERS_PER_MINUTE_MAX,
)
from sweephand.jobs.fields.field import Field, Number, Object
from sweephand.jobs.fields.registry import RETRY
from sweephand.jobs.preconditions import check_revision, check_time_limit
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.settings_cache import CachedSettings
from sweephand.jobs.validation import object_violations
from sweephand.jobs.write_check import SecretCheck, refs_at
from sweephand.model.change import AdminChange, AdminVerb, changes_between
from sweephand.model.namespace import (
    EVERYWHERE,
    AllowedTargets,
    NamespaceDefaults,
    NamespaceLimits,
    NamespaceSettings,
)
from sweephand.model.page import Page
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import NamespaceStore
from sweephand.targets.reach import Reach
from sweephand.targets.registry import default_target_types, target_violations

LIMITS: Final = Object(
    "NamespaceLimitsRequest",
    (
        Field(
            "triggersPerMinute",
            Number(1, NAMESPACE_TRIGGERS_PER_MINUTE_MAX),
            "How many triggers of the namespace are delivered a minute. Triggers beyond it wait. A whole "
            f"number from 1 to {NAMESPACE_TRIGGERS_PER_MINUTE_MAX}; without it, about "
            f"{NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT}.",
        ),
        Field(
            "jobs",
            Number(1, NAMESPACE_JOBS_MAX),
            "How many jobs the namespace may store. A new job beyond it is refused with 429. A whole number "
            f"from 1 to {NAMESPACE_JOBS_MAX}.",
        ),
        Field(
            "payload",
            Number(1, DATA_BYTES_MAX),
            "The largest `data` of a job or of a trigger on demand, in bytes of compact JSON. Larger data is "
            f"refused with 422. A whole number from 1 to {DATA_BYTES_MAX}.",
        ),
    ),
)


def defaults_violations(written: Mapping[str, Any], reach: Reach) -> list[Violation]:
    """What is wrong with `defaultTarget` and `defaultRetry`, each of which may be missing."""
    found: list[Violation] = []
    if "defaultTarget" in written:
        found += target_violations(
            written["defaultTarget"],
            has_data=False,
            reach=reach,
            at="/defaultTarget",
            types=default_target_types(),
        )
    if "defaultRetry" in written:
        found += object_violations(RETRY, written["defaultRetry"], "/defaultRetry")
    return found


class WantedSettings(NamedTuple):
    """The settings that an admin wants."""

    limits: NamespaceLimits
    defaults: NamespaceDefaults = NamespaceDefaults()
    allowed: AllowedTargets = EVERYWHERE


class NamespaceView(NamedTuple):
    """The settings of a namespace, None if none were written, and how many jobs count toward its limit."""

    settings: NamespaceSettings | None
    jobs_counted: int | None = None


class NamespaceAdmin:
    """Shows and writes the settings of namespaces. Without preconditions, the last write wins."""

    def __init__(
        self,
        *,
        namespaces: NamespaceStore,
        quotas: Quotas,
        settings: CachedSettings,
        secrets: SecretCheck,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._namespaces = namespaces
        self._settings = settings
        self._secrets = secrets
        self._quotas = quotas
        self._clock = clock
        self._ids = ids

    def get(self, namespace: str) -> NamespaceView:
        """The settings, and how many jobs are counted if their number is limited."""
        settings = self._namespaces.get(namespace)
        if settings is None or settings.limits.jobs_max is None:
            return NamespaceView(settings)
        count = self._namespaces.job_count(namespace)
        return NamespaceView(settings, None if count is None else count.used)

    def put(
        self,
        namespace: str,
        wanted: WantedSettings,
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
    ) -> NamespaceSettings:
        """Write the settings. Equal ones change nothing. Every process knows them a minute later.

        Raises InvalidError for a default target whose secrets do not exist. Raises PreconditionError, and
        UnavailableError after 20 s or if another write came first; then nothing was written. Raises
        StoreError, after which the write may be committed.
        """
        stored = self._namespaces.get(namespace)
        version = None if stored is None else stored.version
        check_revision(f"namespace {namespace} with settings", version, if_match, if_absent=if_absent)
        limits, defaults, allowed = wanted
        if stored is not None and (stored.limits, stored.defaults, stored.allowed) == wanted:
            return stored
        if defaults.target is not None:
            self._secrets.check(namespace, refs_at("/defaultTarget", defaults.target))
        has_limit = stored is not None and stored.limits.jobs_max is not None
        if limits.jobs_max is not None and not has_limit:
            self._quotas.begin(namespace)
        token, now = self._ids.token(), self._clock.now()
        settings = NamespaceSettings(namespace, token, limits, now, who, defaults, allowed)
        check_time_limit(self._clock, requested_at)
        if not self._namespaces.put(settings, version, _change(stored, settings)):
            raise UnavailableError("The settings were written by another request. Try again.")
        self._settings.enlist(namespace)
        return settings

    def page(self, after: str, limit: int) -> Page[str]:
        """Up to `limit` namespaces that were used, in the order of their names, after the name `after`."""
        return self._namespaces.page(after, limit)

    def enlist(self, namespace: str) -> None:
        """List a namespace among those that were used."""
        self._settings.enlist(namespace)


def shown_settings(settings: NamespaceSettings) -> dict[str, Any]:
    """The fields of settings that are set, as the API shows them. `limits` is always there."""
    limits, defaults, allowed = settings.limits, settings.defaults, settings.allowed
    places = _those_set({"hosts": list(allowed.hosts) or None, "networks": list(allowed.networks) or None})
    shown_limits = {
        "triggersPerMinute": limits.triggers_per_minute,
        "jobs": limits.jobs_max,
        "payload": limits.payload_bytes_max,
    }
    shown = {
        "limits": _those_set(shown_limits),
        "defaultTarget": defaults.target,
        "defaultRetry": defaults.retry,
        "allowedTargets": places or None,
    }
    return _those_set(shown)


def _those_set(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _change(before: NamespaceSettings | None, after: NamespaceSettings) -> AdminChange:
    """What the trail says of a write. A default target may hold secrets, so only its name is there."""
    fields = changes_between(_flat(before), _flat(after), ("defaultTarget",))
    what: AdminVerb = "created" if before is None else "replaced"
    return AdminChange(
        after.updated_at, after.owner, what, "settings", after.namespace, "", after.version, tuple(fields)
    )


def _flat(settings: NamespaceSettings | None) -> dict[str, Any]:
    """The fields that are set. Each limit and each list of places is one by itself."""
    shown = {} if settings is None else shown_settings(settings)
    inner = [(name, shown.pop(name, {})) for name in ("limits", "allowedTargets")]
    return shown | {f"{name}.{each}": value for name, fields in inner for each, value in fields.items()}
