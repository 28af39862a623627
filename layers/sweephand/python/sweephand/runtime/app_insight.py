"""The use cases that show what happened and what will happen, made like those of an App, which has these."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweephand.jobs.change_history import ChangeHistory
    from sweephand.jobs.forecast import Forecaster
    from sweephand.runtime.app_ports import Ports


class InsightUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports") -> None:
        self._ports = ports

    @cached_property
    def change_history(self) -> "ChangeHistory":
        """Lists the changes of a job."""
        from sweephand.jobs.change_history import ChangeHistory

        return ChangeHistory(jobs=self._ports.jobs, changes=self._ports.changes)

    @cached_property
    def forecaster(self) -> "Forecaster":
        """Says how much falls due when."""
        from sweephand.jobs.forecast import Forecaster

        return Forecaster(jobs=self._ports.jobs, clock=self._ports.clock)
