"""The ports of a stack in AWS: DynamoDB, S3, SQS and Lambda, by the stack's settings."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT
from sweephand.runtime import tables
from sweephand.runtime.app import App, Options
from sweephand.runtime.ids import SystemIds
from sweephand.runtime.settings import Settings

if TYPE_CHECKING:
    from sweephand.access.named_secrets import SecretReader
    from sweephand.delivery.functions import LambdaDeliveryFunctions, LambdaSweepers
    from sweephand.delivery.registry import TargetsByType
    from sweephand.delivery.sqs_clients import SqsClients
    from sweephand.delivery.sqs_queue import SqsQueue
    from sweephand.delivery.stack_queues import SqsStackQueues, SqsWorkQueue
    from sweephand.ports.jobs import PayloadPlace, PayloadStore
    from sweephand.runtime.clock import SystemClock
    from sweephand.storage.allowances import DynamoAllowances
    from sweephand.storage.api_keys import DynamoKeys
    from sweephand.storage.audit_rounds import DynamoAuditRounds, DynamoAudits
    from sweephand.storage.batches import DynamoBatches
    from sweephand.storage.changes import DynamoAdminChanges, DynamoChanges
    from sweephand.storage.expiry_switch import DynamoExpirySwitch
    from sweephand.storage.flags import DynamoFlags
    from sweephand.storage.jobs import DynamoJobs
    from sweephand.storage.leases import DynamoLeases, DynamoWheelHistory
    from sweephand.storage.lines import DynamoLines
    from sweephand.storage.namespaces import DynamoNamespaces
    from sweephand.storage.payload_table import DynamoPayloads
    from sweephand.storage.payloads import S3Payloads
    from sweephand.storage.permits import DynamoPermits
    from sweephand.storage.policy_lines import DynamoPolicies, DynamoPolicyLines
    from sweephand.storage.runs import DynamoRuns
    from sweephand.storage.signing_secrets import DynamoNamedSecrets, DynamoSecrets
    from sweephand.storage.stats import DynamoStats
    from sweephand.storage.table import Table
    from sweephand.storage.timers import DynamoTimers


class DynamoPorts:
    """The ports over the two tables. Each adapter is made when it is first asked for, and then kept.

    `jobs` and `timers` return the tables. An adapter calls one of them when it is made.
    """

    def __init__(self, jobs: "Callable[[], Table]", timers: "Callable[[], Table]") -> None:
        self._jobs_table = jobs
        self._timers_table = timers

    @cached_property
    def jobs(self) -> "DynamoJobs":
        """ports.JobStore."""
        from sweephand.storage.jobs import DynamoJobs

        return DynamoJobs(self._jobs_table())

    @cached_property
    def changes(self) -> "DynamoChanges":
        """ports.ChangeStore."""
        from sweephand.storage.changes import DynamoChanges

        return DynamoChanges(self._jobs_table())

    @cached_property
    def runs(self) -> "DynamoRuns":
        """ports.RunStore."""
        from sweephand.storage.runs import DynamoRuns

        return DynamoRuns(self._jobs_table())

    @cached_property
    def wheel_history(self) -> "DynamoWheelHistory":
        """ports.WheelHistory."""
        from sweephand.storage.leases import DynamoWheelHistory

        return DynamoWheelHistory(self._jobs_table())

    @cached_property
    def flags(self) -> "DynamoFlags":
        """ports.FlagStore."""
        from sweephand.storage.flags import DynamoFlags

        return DynamoFlags(self._jobs_table())

    @cached_property
    def stats(self) -> "DynamoStats":
        """ports.StatsStore."""
        from sweephand.storage.stats import DynamoStats

        return DynamoStats(self._jobs_table())

    @cached_property
    def batches(self) -> "DynamoBatches":
        """ports.BatchStore."""
        from sweephand.storage.batches import DynamoBatches

        return DynamoBatches(self._jobs_table())

    @cached_property
    def lines(self) -> "DynamoLines":
        """ports.LineStore."""
        from sweephand.storage.lines import DynamoLines

        return DynamoLines(self._jobs_table())

    @cached_property
    def timers(self) -> "DynamoTimers":
        """ports.TimerStore."""
        from sweephand.storage.timers import DynamoTimers

        return DynamoTimers(self._timers_table())

    @cached_property
    def leases(self) -> "DynamoLeases":
        """ports.LeaseStore."""
        from sweephand.storage.leases import DynamoLeases

        return DynamoLeases(self._timers_table())

    @cached_property
    def audits(self) -> "DynamoAudits":
        """payload_audit.AuditStore."""
        from sweephand.storage.audit_rounds import DynamoAudits

        return DynamoAudits(self._timers_table())

    @cached_property
    def audit_rounds(self) -> "DynamoAuditRounds":
        """audit_rounds.AuditRoundStore."""
        from sweephand.storage.audit_rounds import DynamoAuditRounds

        return DynamoAuditRounds(self._timers_table())

    @cached_property
    def secrets(self) -> "DynamoSecrets":
        """ports.SecretStore."""
        from sweephand.storage.signing_secrets import DynamoSecrets

        return DynamoSecrets(self._jobs_table())

    @cached_property
    def named_secrets(self) -> "DynamoNamedSecrets":
        """ports.NamedSecretStore."""
        from sweephand.storage.signing_secrets import DynamoNamedSecrets

        return DynamoNamedSecrets(self._jobs_table())

    @cached_property
    def keys(self) -> "DynamoKeys":
        """ports.KeyStore."""
        from sweephand.storage.api_keys import DynamoKeys

        return DynamoKeys(self._jobs_table())

    @cached_property
    def admin_changes(self) -> "DynamoAdminChanges":
        """ports.AdminChangeStore."""
        from sweephand.storage.changes import DynamoAdminChanges

        return DynamoAdminChanges(self._jobs_table())

    @cached_property
    def policies(self) -> "DynamoPolicies":
        """ports.PolicyStore."""
        from sweephand.storage.policy_lines import DynamoPolicies

        return DynamoPolicies(self._jobs_table())

    @cached_property
    def permits(self) -> "DynamoPermits":
        """ports.PermitStore."""
        from sweephand.storage.permits import DynamoPermits

        return DynamoPermits(self._jobs_table())

    @cached_property
    def allowances(self) -> "DynamoAllowances":
        """ports.AllowanceStore."""
        from sweephand.storage.allowances import DynamoAllowances

        return DynamoAllowances(self._jobs_table())

    @cached_property
    def namespaces(self) -> "DynamoNamespaces":
        """ports.NamespaceStore."""
        from sweephand.storage.namespaces import DynamoNamespaces

        return DynamoNamespaces(self._jobs_table())


class AwsPorts(DynamoPorts):
    """app_ports.Ports. Each adapter is imported and made when it is first asked for, and then kept."""

    def __init__(self) -> None:
        super().__init__(tables.jobs_table, tables.timers_table)

    @cached_property
    def payloads(self) -> "PayloadStore":
        """ports.PayloadStore."""
        places = self.payload_places
        if len(places) == 1:
            return places[0]
        from sweephand.storage.payload_table import PayloadsInPlaces

        return PayloadsInPlaces(places)

    @property
    def payload_places(self) -> "Sequence[PayloadPlace]":
        """The payload table if there is one, the bucket, and the former payload table if there is one."""
        return self._places

    @cached_property
    def _places(self) -> "Sequence[DynamoPayloads | S3Payloads]":
        settings = tables.settings()
        written = self._payload_tables("PayloadTable", settings.payload_table)
        # One table must not be two places: the audit discards the copy in the former one.
        is_another = settings.former_payload_table != settings.payload_table
        former = settings.former_payload_table if is_another else ""
        from sweephand.storage.payloads import S3Payloads

        bucket = S3Payloads(settings.payload_bucket)
        return (*written, bucket, *self._payload_tables("FormerPayloadTable", former))

    def _payload_tables(self, parameter: str, name: str) -> "Sequence[DynamoPayloads]":
        """The payload table that a parameter names, or nothing if it names none."""
        if not name:
            return ()
        from sweephand.storage.payload_table import DynamoPayloads

        bucket = tables.settings().payload_bucket
        return (DynamoPayloads(tables.table(name), bucket, self.clock.now, parameter),)

    @cached_property
    def queue(self) -> "SqsQueue":
        """ports.Queue."""
        from sweephand.delivery.sqs_queue import SqsQueue

        settings = tables.settings()
        return SqsQueue(
            self.sqs_clients,
            settings.delivery_queue_url,
            settings.dead_letter_queue_url,
            lambda duration_s: tables.wait_ms(round(duration_s * SECOND_MS)),
            allow_insecure=settings.allows_insecure_targets,
            queues=settings.queues,
            lanes=settings.lanes,
        )

    @cached_property
    def targets(self) -> "TargetsByType":
        """ports.Targets."""
        from sweephand.delivery.registry import targets

        return targets(self.clock, self.sqs_clients, tables.settings().reach, self._read_secrets)

    def _read_secrets(self, namespace: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
        # Most deliveries name no secret, so the reader is made at the first one that does.
        return self._secret_reader.active(namespace, names)

    @cached_property
    def _secret_reader(self) -> "SecretReader":
        from sweephand.access.named_secrets import SecretReader

        return SecretReader(secrets=self.named_secrets, clock=self.clock)

    @cached_property
    def sweepers(self) -> "LambdaSweepers":
        """ports.Sweepers."""
        from sweephand.delivery.functions import LambdaSweepers

        return LambdaSweepers(tables.settings().sweep_function)

    @cached_property
    def delivery_functions(self) -> "LambdaDeliveryFunctions":
        """ports.DeliveryFunctions."""
        from sweephand.delivery.functions import LambdaDeliveryFunctions
        from sweephand.runtime.threads import sweep_concurrently

        return LambdaDeliveryFunctions(tables.settings().deliver_function, sweep_concurrently)

    @cached_property
    def policy_lines(self) -> "DynamoPolicyLines":
        """ports.PolicyLines."""
        from sweephand.storage.policy_lines import DynamoPolicyLines

        return DynamoPolicyLines(tables.timers_table(), self.clock.now)

    @cached_property
    def work(self) -> "SqsWorkQueue":
        """ports.WorkQueue."""
        from sweephand.delivery.stack_queues import SqsWorkQueue

        return SqsWorkQueue(self.sqs_clients, tables.settings().flow_queue_url)

    @cached_property
    def stack_queues(self) -> "SqsStackQueues":
        """ports.StackQueues."""
        from sweephand.delivery.stack_queues import SqsStackQueues

        settings = tables.settings()
        urls = {
            "delivery": settings.delivery_queue_url,
            "high": settings.high_queue_url,
            "low": settings.low_queue_url,
            "flow": settings.flow_queue_url,
        }
        return SqsStackQueues(self.sqs_clients, self.queue, urls)

    @cached_property
    def expiry_switch(self) -> "DynamoExpirySwitch":
        """ports.ExpirySwitch."""
        from sweephand.storage.expiry_switch import DynamoExpirySwitch

        settings = tables.settings()
        return DynamoExpirySwitch(tables.dynamodb(), (settings.jobs_table, settings.timers_table))

    @cached_property
    def sqs_clients(self) -> "SqsClients":
        """The clients of the queues' regions, which the queue and the targets share."""
        from sweephand.delivery.sqs_clients import SqsClients

        return SqsClients()

    @property
    def clock(self) -> "SystemClock":
        """ports.Clock."""
        return tables.clock()

    @cached_property
    def ids(self) -> SystemIds:
        """ports.Ids."""
        return SystemIds()


ports = cache(AwsPorts)


def make_clients() -> None:
    """Make the clients of DynamoDB and SQS that a function uses in nearly every call.

    Making them takes 60 ms of CPU. Lambda gives a function a whole core while it starts, and afterwards a
    part that depends on its memory. So the first triggers after an idle hour would be late by several times
    that. The clients that few calls need are made when they are needed.

    Nothing is made without the settings of a stack.
    """
    if Settings.read().jobs_table:
        tables.jobs_table()
        tables.timers_table()
        ports().sqs_clients.client(None)


@cache
def app() -> App:
    """The use cases over this stack."""
    settings = tables.settings()
    options = Options(
        shards=settings.shards,
        sweepers_max=settings.sweepers_max,
        deliveries_max=settings.deliveries_max,
        bundle_span_ms=settings.bundle_seconds * SECOND_MS,
        is_enabled=settings.is_enabled,
        triggers_per_minute_max=settings.triggers_per_minute_max,
        namespace_triggers_default=NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
        reach=settings.reach,
        flow_functions_max=settings.flow_functions_max if settings.has_flow_policies else 0,
        limits_namespaces=True,
        auth=settings.auth,
        counts_deliveries=settings.counts_deliveries,
    )
    return App(ports(), options)
