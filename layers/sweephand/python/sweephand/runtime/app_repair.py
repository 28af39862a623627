"""The use cases that mend a stack which has lost a part of what it stored, made like those of an App."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweephand.runs.rebuild import Rebuilder
    from sweephand.runtime.app_ports import Ports


class RepairUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports") -> None:
        self._ports = ports

    @cached_property
    def rebuilder(self) -> "Rebuilder":
        """Arms every job again."""
        from sweephand.runs.rebuild import Rebuilder

        ports = self._ports
        return Rebuilder(
            jobs=ports.jobs,
            changes=ports.changes,
            runs=ports.runs,
            timers=ports.timers,
            leases=ports.leases,
            namespaces=ports.namespaces,
            queue=ports.queue,
            clock=ports.clock,
        )
