"""The use cases of the settings of namespaces, made like those of an App, which has one of these."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sweephand.jobs.namespace_defaults import NamespaceDefaults
    from sweephand.jobs.namespace_settings import NamespaceAdmin
    from sweephand.jobs.quotas import Quotas
    from sweephand.jobs.settings_cache import CachedSettings
    from sweephand.model.namespace import AllowedTargets
    from sweephand.runs.attempt import NamespaceParts, Signing
    from sweephand.runtime.app_ports import Ports
    from sweephand.runtime.options import Options


class NamespaceUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports", options: "Options") -> None:
        self._ports = ports
        self._options = options

    @cached_property
    def settings(self) -> "CachedSettings":
        """The settings of namespaces, which are read at most once a minute."""
        from sweephand.jobs.settings_cache import CachedSettings

        return CachedSettings(namespaces=self._ports.namespaces, clock=self._ports.clock)

    @cached_property
    def obeyed_settings(self) -> "CachedSettings":
        """These settings, or none at all in a stack whose namespaces have none."""
        from sweephand.jobs.settings_cache import NoSettings

        return self.settings if self._options.limits_namespaces else NoSettings()

    @cached_property
    def defaults(self) -> "NamespaceDefaults":
        """Gives jobs the defaults of their namespaces."""
        from sweephand.jobs.namespace_defaults import NamespaceDefaults
        from sweephand.targets.queues import Reach

        reach = Reach() if self._options.reach is None else self._options.reach
        return NamespaceDefaults(self.obeyed_settings, reach)

    def parts(self, signing: "Signing") -> "NamespaceParts":
        """What deliveries take from the namespaces of their jobs."""
        from sweephand.runs.attempt import NamespaceParts

        return NamespaceParts(signing, self.target, self.allowed)

    def target(self, namespace: str, spec: "Mapping[str, Any]") -> "Mapping[str, Any] | None":
        """The target that a spec of the type `default` stands for (NamespaceDefaults.target)."""
        return self.defaults.target(namespace, spec)

    def allowed(self, namespace: str, fresh: bool) -> "AllowedTargets | None":  # noqa: FBT001 - as Allowed has it
        """Where the namespace's targets may be; None in a stack whose namespaces have no settings."""
        return self.settings.allowed_of(namespace, fresh=fresh) if self._options.limits_namespaces else None

    @cached_property
    def quotas(self) -> "Quotas":
        """Refuses jobs and data beyond these limits."""
        from sweephand.jobs.quotas import Quotas

        ports = self._ports
        return Quotas(
            namespaces=ports.namespaces, limits=self.obeyed_settings, clock=ports.clock, ids=ports.ids
        )

    @property
    def trigger_limit(self) -> "Callable[[str], int] | None":
        """Returns how many triggers a minute a namespace may deliver; None in a stack without settings."""
        return self.settings.triggers_per_minute if self._options.limits_namespaces else None

    @cached_property
    def admin(self) -> "NamespaceAdmin":
        """Shows and writes the settings."""
        from sweephand.jobs.namespace_settings import NamespaceAdmin
        from sweephand.runtime.app_secrets import SecretUseCases

        ports = self._ports
        return NamespaceAdmin(
            namespaces=ports.namespaces,
            quotas=self.quotas,
            settings=self.settings,
            secrets=SecretUseCases(ports).check,
            clock=ports.clock,
            ids=ports.ids,
        )
