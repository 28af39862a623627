"""All stores that use cases are made of. The package ports has the promise of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweephand.jobs.payload_audit import AuditStore
from sweephand.ports.access import AdminChangeStore, KeyStore, NamedSecretStore
from sweephand.ports.jobs import PayloadPlace
from sweephand.ports.schedule_groups import ScheduleGroupStore
from sweephand.runs.audit_rounds import AuditRoundStore
from sweephand.runtime.compose_rare import FlowStores
from sweephand.runtime.compose_wheel import WheelStores


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stores(WheelStores, FlowStores):
    """All stores.

    `payload_places` are where payloads may lie. New payloads are written to the first place.
    """

    payload_places: Sequence[PayloadPlace]
    audits: AuditStore
    audit_rounds: AuditRoundStore
    named_secrets: NamedSecretStore
    keys: KeyStore
    admin_changes: AdminChangeStore
    schedule_groups: ScheduleGroupStore
