"""The use cases of the settings of namespaces, made like those of an App, which has one of these."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweephand.jobs.namespace_settings import NamespaceAdmin
    from sweephand.jobs.quotas import CachedLimits, Quotas
    from sweephand.runtime.app_ports import Ports


class NamespaceUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports") -> None:
        self._ports = ports

    @cached_property
    def limits(self) -> "CachedLimits":
        """The limits of namespaces, which are read at most once a minute."""
        from sweephand.jobs.quotas import CachedLimits

        return CachedLimits(namespaces=self._ports.namespaces, clock=self._ports.clock)

    @cached_property
    def quotas(self) -> "Quotas":
        """Refuses jobs and data beyond these limits."""
        from sweephand.jobs.quotas import Quotas

        ports = self._ports
        return Quotas(namespaces=ports.namespaces, limits=self.limits, clock=ports.clock, ids=ports.ids)

    @cached_property
    def admin(self) -> "NamespaceAdmin":
        """Shows and writes the settings."""
        from sweephand.jobs.namespace_settings import NamespaceAdmin

        ports = self._ports
        return NamespaceAdmin(
            namespaces=ports.namespaces, quotas=self.quotas, clock=ports.clock, ids=ports.ids
        )
