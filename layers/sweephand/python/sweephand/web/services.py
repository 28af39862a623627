"""The use cases and ports that the API's operations call."""

from dataclasses import dataclass

from sweephand.access.authentication import Auth
from sweephand.access.callers import RequestRates
from sweephand.access.named_secrets import SecretAdmin
from sweephand.access.signing_keys import SigningKeys
from sweephand.jobs.bulk import Bulk, BulkWriter
from sweephand.jobs.change_history import ChangeHistory, PolicyChangeHistory
from sweephand.jobs.forecast import Forecaster
from sweephand.jobs.namespace_settings import NamespaceAdmin
from sweephand.jobs.on_demand import OnDemand
from sweephand.jobs.pause import Pauser
from sweephand.jobs.policies import PolicyWriter
from sweephand.jobs.policy_reader import PolicyReader
from sweephand.jobs.read import Reader
from sweephand.jobs.resume import Resumer
from sweephand.jobs.settings_cache import JobDefaults
from sweephand.jobs.write import Writer
from sweephand.ports.access import AdminChangeStore, KeyStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.runs import LineStore, RunStore
from sweephand.ports.wheel import LeaseStore
from sweephand.runs.audit import Auditor
from sweephand.runs.batch_reads import BatchReader
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.delivery_stats import StatsReader
from sweephand.runs.explain.explainer import Explainer
from sweephand.runs.flagged_list import FlaggedList
from sweephand.runs.rebuild import Rebuilder
from sweephand.runs.redrive import Redriver
from sweephand.targets.reach import Reach


@dataclass(frozen=True, slots=True)
class Services:
    """One of each use case and port.

    `reach` says which resources the targets of jobs may reach, and `auth` how callers prove who they are.
    """

    writer: Writer
    bulk_writer: BulkWriter
    pauser: Pauser
    resumer: Resumer
    bulk: Bulk
    changes: ChangeHistory
    on_demand: OnDemand
    reader: Reader
    forecaster: Forecaster
    runs: RunStore
    flagged: FlaggedList
    explainer: Explainer
    stats: StatsReader
    batches: BatchReader
    lines: LineStore
    redriver: Redriver
    rebuilder: Rebuilder
    auditor: Auditor
    callbacks: Callbacks
    policy_writer: PolicyWriter
    policy_reader: PolicyReader
    policy_changes: PolicyChangeHistory
    namespaces: NamespaceAdmin
    defaults: JobDefaults
    keys: KeyStore
    admin_changes: AdminChangeStore
    rates: RequestRates
    signing: SigningKeys
    secrets: SecretAdmin
    leases: LeaseStore
    clock: Clock
    ids: Ids
    reach: Reach
    auth: Auth
