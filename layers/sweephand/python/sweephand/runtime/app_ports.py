"""What an App asks of the world: one implementation of each port."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from sweephand.jobs.payload_audit import AuditStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadPlace, PayloadStore
from sweephand.ports.queue import DeliveryFunctions, Queue, Targets
from sweephand.ports.runs import LineStore, RunStore
from sweephand.ports.wheel import LeaseStore, Sweepers, TimerStore

if TYPE_CHECKING:
    # Only the API and the authorizer store keys and secrets. The other functions start without them. Many
    # stacks have no flow policies.
    from sweephand.ports.access import AdminChangeStore, KeyStore, NamedSecretStore, SecretStore
    from sweephand.ports.batches import BatchStore
    from sweephand.ports.flow import (
        AllowanceStore,
        NamespaceStore,
        PermitStore,
        PolicyLines,
        PolicyStore,
        WorkQueue,
    )
    from sweephand.ports.queue import StackQueues
    from sweephand.ports.runs import FlagStore, StatsStore
    from sweephand.ports.wheel import ExpirySwitch, WheelHistory
    from sweephand.runs.audit_rounds import AuditRoundStore


class Ports(Protocol):
    """Everything that the use cases ask of the world.

    The package ports has the promise of each.

    An attribute is read when a use case that needs it is first asked for, and not before. So a function makes
    only the clients that it uses.
    """

    @property
    def jobs(self) -> JobStore: ...  # noqa: D102 - the class says it

    @property
    def changes(self) -> ChangeStore: ...  # noqa: D102 - same

    @property
    def runs(self) -> RunStore: ...  # noqa: D102 - same

    @property
    def wheel_history(self) -> "WheelHistory": ...  # noqa: D102 - same

    @property
    def flags(self) -> "FlagStore": ...  # noqa: D102 - same

    @property
    def stats(self) -> "StatsStore": ...  # noqa: D102 - same

    @property
    def batches(self) -> "BatchStore": ...  # noqa: D102 - same

    @property
    def lines(self) -> LineStore: ...  # noqa: D102 - same

    @property
    def timers(self) -> TimerStore: ...  # noqa: D102 - same

    @property
    def leases(self) -> LeaseStore: ...  # noqa: D102 - same

    @property
    def payloads(self) -> PayloadStore: ...  # noqa: D102 - same

    @property
    def payload_places(self) -> Sequence[PayloadPlace]:
        """Where payloads may lie. The first place is the one to which new payloads are written."""
        ...

    @property
    def audits(self) -> AuditStore: ...  # noqa: D102 - same

    @property
    def audit_rounds(self) -> "AuditRoundStore": ...  # noqa: D102 - same

    @property
    def secrets(self) -> "SecretStore": ...  # noqa: D102 - same

    @property
    def named_secrets(self) -> "NamedSecretStore": ...  # noqa: D102 - same

    @property
    def keys(self) -> "KeyStore": ...  # noqa: D102 - same

    @property
    def admin_changes(self) -> "AdminChangeStore": ...  # noqa: D102 - same

    @property
    def queue(self) -> Queue: ...  # noqa: D102 - same

    @property
    def targets(self) -> Targets: ...  # noqa: D102 - same

    @property
    def sweepers(self) -> Sweepers: ...  # noqa: D102 - same

    @property
    def delivery_functions(self) -> DeliveryFunctions: ...  # noqa: D102 - same

    @property
    def policies(self) -> "PolicyStore": ...  # noqa: D102 - same

    @property
    def permits(self) -> "PermitStore": ...  # noqa: D102 - same

    @property
    def policy_lines(self) -> "PolicyLines": ...  # noqa: D102 - same

    @property
    def namespaces(self) -> "NamespaceStore": ...  # noqa: D102 - same

    @property
    def work(self) -> "WorkQueue": ...  # noqa: D102 - same

    @property
    def allowances(self) -> "AllowanceStore": ...  # noqa: D102 - same

    @property
    def stack_queues(self) -> "StackQueues": ...  # noqa: D102 - same

    @property
    def expiry_switch(self) -> "ExpirySwitch": ...  # noqa: D102 - same

    @property
    def clock(self) -> Clock: ...  # noqa: D102 - same

    @property
    def ids(self) -> Ids: ...  # noqa: D102 - same
