"""The use cases of the lines of flow policies, made like those of an App."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from sweephand.base.concurrency import Concurrently

if TYPE_CHECKING:
    from sweephand.runs.batch_progress import BatchProgress
    from sweephand.runs.flow.policy_flow import PolicyFlow
    from sweephand.runs.flow.run_permits import RunPermits
    from sweephand.runs.flow.work_intake import WorkIntake
    from sweephand.runs.intake import Intake
    from sweephand.runs.valve import Valve
    from sweephand.runtime.app_ports import Ports
    from sweephand.runtime.options import Options
    from sweephand.wheel.sending import LineUp


class FlowUseCases:
    """The use cases of the lines over one set of ports. Each is made when it is first asked for."""

    def __init__(
        self,
        ports: "Ports",
        intake: Callable[[], "Intake"],
        deliver_concurrently: Concurrently,
        read_concurrently: Concurrently,
        make_valve: Callable[[], "Valve | None"],
        *,
        functions_max: int,
    ) -> None:
        """`functions_max` is how many flow functions the stack may run at once."""
        self._functions_max = functions_max
        self._make_valve = make_valve
        self._ports = ports
        self._intake = intake
        self._deliver_concurrently = deliver_concurrently
        self._read_concurrently = read_concurrently

    @cached_property
    def work_intake(self) -> "WorkIntake":
        """Handles the work messages that the flow function receives."""
        from sweephand.model.policy import workers_max_of
        from sweephand.runs.delivery import JobReads
        from sweephand.runs.flow.left_triggers import LeftTriggers
        from sweephand.runs.flow.line_delivery import LineDelivery
        from sweephand.runs.flow.line_worker import LineWorker
        from sweephand.runs.flow.work_intake import WorkIntake

        ports = self._ports

        def worker(deliver: LineDelivery) -> LineWorker:
            return LineWorker(
                policies=ports.policies,
                permits=ports.permits,
                lines=ports.policy_lines,
                line_up=self.line_up,
                deliver=deliver,
                clock=ports.clock,
                ids=ports.ids,
                workers_max=workers_max_of(self._functions_max),
                concurrently=self._deliver_concurrently,
                read_concurrently=self._read_concurrently,
                before_delete=deliver.flush,
            )

        def left_triggers() -> LeftTriggers:
            return LeftTriggers(
                policies=ports.policies,
                lines=ports.policy_lines,
                line_up=self.line_up,
                jobs=ports.jobs,
                runs=ports.runs,
                queue=ports.queue,
                clock=ports.clock,
                ids=ports.ids,
            )

        job_reads = JobReads(jobs=ports.jobs, clock=ports.clock)
        return WorkIntake(
            make_worker=worker,
            make_delivery=lambda: LineDelivery(
                intake=self._intake(), progress=self.batch_progress, job_reads=job_reads
            ),
            make_left_triggers=left_triggers,
            work=ports.work,
            queue=ports.queue,
        )

    @cached_property
    def batch_progress(self) -> "BatchProgress":
        """Marks the runs of batches that are over, with a policy or without."""
        from sweephand.runs.batch_progress import BatchProgress

        ports = self._ports
        return BatchProgress(batches=ports.batches, jobs=ports.jobs, queue=ports.queue, clock=ports.clock)

    @cached_property
    def line_up(self) -> "LineUp":
        """Puts triggers into the lines of policies."""
        from sweephand.wheel.sending import LineUp

        ports = self._ports
        return LineUp(policies=ports.policies, lines=ports.policy_lines, work=ports.work, clock=ports.clock)

    @cached_property
    def of_handlers(self) -> "PolicyFlow":
        """What the handlers of triggers and runs need."""
        from sweephand.runs.flow.policy_flow import PolicyFlow

        ports = self._ports

        def run_permits() -> "RunPermits":
            from sweephand.runs.flow.run_permits import RunPermits

            return RunPermits(permits=ports.permits, work=ports.work, clock=ports.clock)

        return PolicyFlow(lambda: self.line_up, run_permits, self._make_valve())


def valve_of(
    ports: "Ports", options: "Options", namespace_limit: Callable[[str], int] | None
) -> "Valve | None":
    """The valve of a stack; None if neither the stack nor its namespaces have a limit."""
    from sweephand.runs.valve import Valve

    stack_limit, namespace_default = options.triggers_per_minute_max, options.namespace_triggers_default
    if not stack_limit and not namespace_default and namespace_limit is None:
        return None
    return Valve(
        allowances=ports.allowances,
        clock=ports.clock,
        stack_limit=stack_limit,
        namespace_limit=namespace_limit or (lambda _: 0),
        namespace_default=namespace_default,
    )
