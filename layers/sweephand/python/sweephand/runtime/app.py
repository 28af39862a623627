"""The one place where use cases are made, from any implementation of the ports.

Functions, tests, the simulator and benchmarks take their use cases from an App. Only their ports differ.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from sweephand.base.concurrency import Concurrently
from sweephand.runtime.options import Options as Options  # noqa: PLC0414 - whoever makes an App needs them
from sweephand.runtime.threads import deliver_concurrently, sweep_concurrently, write_concurrently

if TYPE_CHECKING:
    from sweephand.jobs.bulk import Bulk, BulkWriter
    from sweephand.jobs.commit import Commits
    from sweephand.jobs.expiry import JobExpiry
    from sweephand.jobs.on_demand import OnDemand
    from sweephand.jobs.pause import Pauser
    from sweephand.jobs.read import Reader
    from sweephand.jobs.resume import Resumer
    from sweephand.jobs.write import Writer
    from sweephand.runs.attempt import Signing
    from sweephand.runs.callbacks import Callbacks
    from sweephand.runs.handlers import Handlers
    from sweephand.runs.intake import Decoder, Intake
    from sweephand.runtime.app_flow import FlowUseCases
    from sweephand.runtime.app_insight import InsightUseCases
    from sweephand.runtime.app_namespaces import NamespaceUseCases
    from sweephand.runtime.app_policies import PolicyUseCases
    from sweephand.runtime.app_ports import Ports
    from sweephand.runtime.app_repair import RepairUseCases
    from sweephand.runtime.app_secrets import SecretUseCases
    from sweephand.web.services import Services
    from sweephand.wheel.sweep import Sweeper
    from sweephand.wheel.tick import Ticker


class App:
    """The use cases over one set of ports. Each is imported and made when it is first asked for, and kept.

    Tests set what follows `options`. `namespace_limit` returns triggers a minute (0: any number).
    """

    def __init__(
        self,
        ports: "Ports",
        options: Options = Options(),  # noqa: B008 - a NamedTuple does not change
        *,
        signing: "Signing | None" = None,
        shard_count: Callable[[], int] | None = None,
        decode: "Decoder | None" = None,
        namespace_limit: Callable[[str], int] | None = None,
        write_concurrently: Concurrently = write_concurrently,
        sweep_concurrently: Concurrently = sweep_concurrently,
        deliver_concurrently: Concurrently = deliver_concurrently,
    ) -> None:
        self.ports = ports
        self.options = options
        self._signing = signing
        self._shard_count = shard_count
        self._decode = decode
        self._namespace_limit = namespace_limit
        self._write_concurrently = write_concurrently
        self._sweep_concurrently = sweep_concurrently
        self._deliver_concurrently = deliver_concurrently

    @cached_property
    def services(self) -> "Services":
        """What the operations of the API call."""
        from sweephand.access.auth_mode import Auth
        from sweephand.targets.reach import Reach
        from sweephand.web.services import Services

        ports = self.ports
        return Services(
            writer=self.writer,
            bulk_writer=self.bulk_writer,
            pauser=self.pauser,
            resumer=self.resumer,
            bulk=self.bulk,
            changes=self.insight.change_history,
            on_demand=self.on_demand,
            reader=self.reader,
            forecaster=self.insight.forecaster,
            runs=ports.runs,
            flagged=self.insight.flagged_list,
            explainer=self.insight.explainer(self.policies.policy_check),
            stats=self.insight.stats_reader,
            batches=self.insight.batch_reader(self.policies.policy_check),
            lines=ports.lines,
            callbacks=self.callbacks,
            redriver=self.repair.redriver,
            rebuilder=self.repair.rebuilder,
            auditor=self.repair.auditor,
            policy_writer=self.policies.policy_writer,
            policy_reader=self.policies.policy_reader,
            policy_changes=self.policies.policy_changes,
            namespaces=self.namespaces.admin,
            defaults=self.namespaces.defaults,
            keys=ports.keys,
            admin_changes=ports.admin_changes,
            rates=self.secrets.request_rates,
            signing=self.secrets.signing_keys,
            secrets=self.secrets.admin,
            leases=ports.leases,
            clock=ports.clock,
            ids=ports.ids,
            reach=Reach() if self.options.reach is None else self.options.reach,
            auth=self.options.auth or Auth(),
        )

    @cached_property
    def writer(self) -> "Writer":
        """Creates, replaces, patches and deletes jobs."""
        from sweephand.jobs.write import Writer

        ports = self.ports
        return Writer(
            jobs=ports.jobs,
            changes=ports.changes,
            commits=self._commits,
            policies=self.policies.policy_check,
            left_policy=self.policies.left_policy,
            defaults=self.namespaces.defaults,
            secrets=self.secrets.check,
            quotas=self.namespaces.quotas,
            clock=ports.clock,
            ids=ports.ids,
            shards=self._shards,
        )

    @cached_property
    def bulk_writer(self) -> "BulkWriter":
        """Creates and replaces many jobs."""
        from sweephand.jobs.bulk import BulkWriter

        return BulkWriter(
            jobs=self.ports.jobs,
            writer=self.writer,
            commits=self._commits,
            left_policy=self.policies.left_policy,
            quotas=self.namespaces.quotas,
            ids=self.ports.ids,
            shards=self._shards,
            concurrently=self._write_concurrently,
        )

    @cached_property
    def pauser(self) -> "Pauser":
        """Pauses jobs."""
        from sweephand.jobs.pause import Pauser

        ports = self.ports
        return Pauser(jobs=ports.jobs, changes=ports.changes, clock=ports.clock, ids=ports.ids)

    @cached_property
    def resumer(self) -> "Resumer":
        """Resumes jobs."""
        from sweephand.jobs.resume import Resumer

        return Resumer(
            jobs=self.ports.jobs,
            runs=self.insight.runs,
            changes=self.insight.change_history,
            commits=self._commits,
            expiry=self._expiry,
            ids=self.ports.ids,
        )

    @cached_property
    def bulk(self) -> "Bulk":
        """Pauses, resumes and deletes many jobs."""
        from sweephand.jobs.bulk import Bulk

        return Bulk(
            jobs=self.ports.jobs,
            pauser=self.pauser,
            resumer=self.resumer,
            writer=self.writer,
            clock=self.ports.clock,
            concurrently=self._write_concurrently,
        )

    @cached_property
    def policies(self) -> "PolicyUseCases":
        """Writes and reads flow policies."""
        from sweephand.runtime.app_policies import PolicyUseCases

        return PolicyUseCases(self.ports, self.options.flow_functions_max, self._write_concurrently)

    @cached_property
    def insight(self) -> "InsightUseCases":
        """Says what has happened and what will happen."""
        from sweephand.runtime.app_insight import InsightUseCases

        return InsightUseCases(self.ports, counts_deliveries=self.options.counts_deliveries)

    @cached_property
    def namespaces(self) -> "NamespaceUseCases":
        """The settings of namespaces, and their limits."""
        from sweephand.runtime.app_namespaces import NamespaceUseCases

        return NamespaceUseCases(self.ports, self.options)

    @cached_property
    def on_demand(self) -> "OnDemand":
        """Makes triggers that a caller asks for."""
        from sweephand.jobs.on_demand import OnDemand

        ports = self.ports
        return OnDemand(
            jobs=ports.jobs,
            queue=ports.queue,
            payloads=ports.payloads,
            clock=ports.clock,
            ids=ports.ids,
            quotas=self.namespaces.quotas,
        )

    @cached_property
    def reader(self) -> "Reader":
        """Reads jobs."""
        from sweephand.jobs.read import Reader

        ports = self.ports
        return Reader(
            jobs=ports.jobs,
            runs=ports.runs,
            payloads=ports.payloads,
            policies=self.policies.policy_check,
            clock=ports.clock,
        )

    @cached_property
    def repair(self) -> "RepairUseCases":
        """What is done about what was lost or left over."""
        from sweephand.runtime.app_repair import RepairUseCases

        return RepairUseCases(self.ports)

    @cached_property
    def callbacks(self) -> "Callbacks":
        """Handles callbacks of consumers, and cancels runs."""
        from sweephand.runs.callbacks import Callbacks
        from sweephand.runs.flow.overlap_queue import OverlapQueue

        ports, runs = self.ports, self.insight.runs
        queue, clock, ids = ports.queue, ports.clock, ports.ids
        return Callbacks(
            jobs=ports.jobs,
            runs=runs,
            overlap_queue=OverlapQueue(lines=ports.lines, runs=runs, queue=queue, clock=clock, ids=ids),
            expiry=self._expiry,
            flow=self.flow.of_handlers,
            progress=self.flow.batch_progress,
            secrets=self.secrets.of_runs(self._signing, self.namespaces.target),
            queue=queue, clock=clock, ids=ids,
        )  # fmt: skip

    @cached_property
    def handlers(self) -> "Handlers":
        """Handles one message of the delivery queue."""
        from sweephand.runs.handlers import Handlers

        ports = self.ports
        return Handlers(
            jobs=ports.jobs,
            changes=lambda: ports.changes,
            runs=self.insight.runs,
            lines=ports.lines,
            timers=lambda: ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            targets=ports.targets,
            namespaces=self.namespaces.parts(self._signing or self.secrets.signing_keys),
            clock=ports.clock,
            ids=ports.ids,
            flow=self.flow.of_handlers,
        )

    @cached_property
    def intake(self) -> "Intake":
        """Handles the messages that one invocation of the delivery function receives."""
        from sweephand.model.wire import decode
        from sweephand.runs.intake import Intake

        ports = self.ports
        return Intake(
            handlers=self.handlers,
            progress=lambda: self.flow.batch_progress,
            flow=self.flow.of_handlers,
            jobs=ports.jobs,
            queue=ports.queue,
            decode=self._decode or decode,
            clock=ports.clock,
            ids=ports.ids,
            concurrently=self._deliver_concurrently,
        )

    @cached_property
    def flow(self) -> "FlowUseCases":
        """Puts triggers into the lines of flow policies, and walks the lines."""
        from sweephand.runtime.app_flow import FlowUseCases, valve_of

        of_namespace = self._namespace_limit or self.namespaces.trigger_limit
        return FlowUseCases(
            self.ports,
            lambda: self.intake,
            self._deliver_concurrently,
            self._sweep_concurrently,
            lambda: valve_of(self.ports, self.options, of_namespace),
            functions_max=self.options.flow_functions_max,
        )

    @cached_property
    def sweeper(self) -> "Sweeper":
        """Sweeps shards."""
        from sweephand.wheel.sweep import Sweeper

        ports = self.ports
        return Sweeper(
            jobs=ports.jobs,
            timers=ports.timers,
            leases=ports.leases,
            runs=lambda: self.insight.runs,
            queue=ports.queue,
            line_up=lambda: self.flow.line_up,
            clock=ports.clock,
            concurrently=self._sweep_concurrently,
            bundle_span_ms=self.options.bundle_span_ms,
        )

    @cached_property
    def ticker(self) -> "Ticker":
        """Starts the sweepers of a minute."""
        from sweephand.wheel.tick import Ticker
        from sweephand.wheel.warm import WarmFunctions

        return Ticker(
            leases=self.ports.leases,
            sweeper=self.sweeper,
            sweepers=self.ports.sweepers,
            warm_functions=WarmFunctions(
                delivery_functions=self.ports.delivery_functions,
                deliveries_max=self.options.deliveries_max,
                sends_bundles=self.options.bundle_span_ms > 0,
            ),
            clock=self.ports.clock,
            shards=self.options.shards,
            sweepers_max=self.options.sweepers_max,
            is_enabled=self.options.is_enabled,
            limit=self.options.triggers_per_minute_max,
            history=lambda: self.ports.wheel_history,
        )

    @cached_property
    def secrets(self) -> "SecretUseCases":
        """The secrets that sign deliveries, and those that jobs name."""
        from sweephand.runtime.app_secrets import SecretUseCases

        return SecretUseCases(self.ports)

    @cached_property
    def _commits(self) -> "Commits":
        from sweephand.jobs.commit import Commits

        ports = self.ports
        return Commits(
            jobs=ports.jobs,
            changes=ports.changes,
            timers=ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            clock=ports.clock,
        )

    @cached_property
    def _expiry(self) -> "JobExpiry":
        from sweephand.jobs.expiry import JobExpiry

        ports = self.ports
        return JobExpiry(
            jobs=ports.jobs, runs=ports.runs, lines=ports.lines, clock=ports.clock, ids=ports.ids
        )

    @cached_property
    def _shards(self) -> Callable[[], int]:
        if self._shard_count is not None:
            return self._shard_count
        from sweephand.wheel.arm import ShardCount

        return ShardCount(leases=self.ports.leases, clock=self.ports.clock, shards=self.options.shards)
