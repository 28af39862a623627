"""A set of ports for an App (sweephand.runtime.app_ports.Ports)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from sweephand.jobs.payload_audit import AuditStore
from sweephand.ports.access import AdminChangeStore, KeyStore, NamedSecretStore, SecretStore
from sweephand.ports.batches import BatchStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import (
    AllowanceStore,
    NamespaceStore,
    PermitStore,
    PolicyLines,
    PolicyStore,
    WorkQueue,
)
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadPlace, PayloadStore
from sweephand.ports.queue import DeliveryFunctions, Queue, StackQueues, Targets
from sweephand.ports.runs import FlagStore, LineStore, RunStore, StatsStore
from sweephand.ports.wheel import ExpirySwitch, LeaseStore, Sweepers, TimerStore, WheelHistory
from sweephand.runs.audit_rounds import AuditRoundStore


class _Missing:
    """Stands for a port that a test does not have. Every use of it fails."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"the test has no such port, and {name} was called")


MISSING: Final[Any] = _Missing()


@dataclass(frozen=True, slots=True)
class FakePorts:
    """app_ports.Ports. A call of a port that the test leaves out fails."""

    clock: Clock
    ids: Ids
    jobs: JobStore = MISSING
    changes: ChangeStore = MISSING
    runs: RunStore = MISSING
    flags: FlagStore = MISSING
    stats: StatsStore = MISSING
    wheel_history: WheelHistory = MISSING
    batches: BatchStore = MISSING
    lines: LineStore = MISSING
    timers: TimerStore = MISSING
    leases: LeaseStore = MISSING
    payloads: PayloadStore = MISSING
    payload_places: Sequence[PayloadPlace] = ()
    audits: AuditStore = MISSING
    audit_rounds: AuditRoundStore = MISSING
    secrets: SecretStore = MISSING
    keys: KeyStore = MISSING
    named_secrets: NamedSecretStore = MISSING
    admin_changes: AdminChangeStore = MISSING
    queue: Queue = MISSING
    targets: Targets = MISSING
    sweepers: Sweepers = MISSING
    delivery_functions: DeliveryFunctions = MISSING
    policies: PolicyStore = MISSING
    allowances: AllowanceStore = MISSING
    permits: PermitStore = MISSING
    policy_lines: PolicyLines = MISSING
    work: WorkQueue = MISSING
    namespaces: NamespaceStore = MISSING
    stack_queues: StackQueues = MISSING
    expiry_switch: ExpirySwitch = MISSING
