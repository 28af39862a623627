"""The use cases that show what happened and what will happen, made like those of an App, which has these."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweephand.jobs.change_history import ChangeHistory
    from sweephand.jobs.forecast import Forecaster
    from sweephand.jobs.policy_check import PolicyCheck
    from sweephand.ports.runs import RunStore
    from sweephand.runs.batch_reads import BatchReader
    from sweephand.runs.delivery_stats import DeliveryStats, StatsReader
    from sweephand.runs.explain.explainer import Explainer
    from sweephand.runs.flagged_list import FlaggedList
    from sweephand.runtime.app_ports import Ports


class InsightUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports", *, counts_deliveries: bool = False) -> None:
        self._ports = ports
        self._counts_deliveries = counts_deliveries

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

    @cached_property
    def runs(self) -> "RunStore":
        """The store of runs, which also writes flags."""
        from sweephand.runs.flagged import FlaggedRuns

        return FlaggedRuns(self._ports.runs, lambda: self._ports.flags)

    def explainer(self, policies: "PolicyCheck") -> "Explainer":
        """Says why a job fired, or did not."""
        from sweephand.runs.explain.explainer import Explainer, ExplainStores

        ports = self._ports
        return Explainer(
            ExplainStores(
                jobs=ports.jobs,
                changes=self.change_history,
                runs=ports.runs,
                lines=ports.lines,
                timers=ports.timers,
                leases=ports.leases,
                history=ports.wheel_history,
                allowances=ports.allowances,
                policies=policies,
            )
        )

    def batch_reader(self, policies: "PolicyCheck") -> "BatchReader":
        """Shows how far batches are."""
        from sweephand.runs.batch_reads import BatchReader

        ports = self._ports
        return BatchReader(
            batches=ports.batches,
            jobs=ports.jobs,
            runs=ports.runs,
            changes=self.change_history,
            policies=policies,
        )

    @cached_property
    def flagged_list(self) -> "FlaggedList":
        """Lists the runs of a namespace that did not simply succeed."""
        from sweephand.runs.flagged_list import FlaggedList

        ports = self._ports
        return FlaggedList(flags=ports.flags, runs=ports.runs, jobs=ports.jobs)

    @cached_property
    def delivery_stats(self) -> "DeliveryStats | None":
        """Counts what deliveries did; None in a stack that does not count."""
        if not self._counts_deliveries:
            return None
        from sweephand.runs.delivery_stats import DeliveryStats

        return DeliveryStats(stats=lambda: self._ports.stats, clock=self._ports.clock)

    @cached_property
    def stats_reader(self) -> "StatsReader":
        """Shows what deliveries counted."""
        from sweephand.runs.delivery_stats import StatsReader

        return StatsReader(
            stats=self._ports.stats if self._counts_deliveries else None, clock=self._ports.clock
        )
