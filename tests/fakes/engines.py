"""The engines that stores are tested on.

`memory` implements the ports themselves. The others are the production adapters, over a client in memory
(`wire`), moto, and AWS's own DynamoDB Local where it can run.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from unittest.mock import patch
from uuid import uuid4

import pytest
from moto.core.botocore_stubber import BotocoreStubber
from tests.fakes.doubles import HandClock
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.flow_memory import (
    MemoryAllowances,
    MemoryGateLines,
    MemoryGates,
    MemoryNamespaces,
    MemoryPolicies,
)
from tests.fakes.memory import MemoryChanges, MemoryJobs, MemoryLeases, MemoryLines, MemoryRuns
from tests.fakes.memory_access import MemoryAdminChanges, MemoryKeys, MemoryNamedSecrets, MemorySecrets
from tests.fakes.memory_batches import MemoryBatches
from tests.fakes.memory_calendars import MemoryCalendars
from tests.fakes.memory_insight import MemoryFlags, MemoryStats, MemoryWheelHistory
from tests.fakes.memory_schedule_groups import MemoryScheduleGroups
from tests.fakes.memory_timers import MemoryTimers
from tests.fakes.tables import create_table

from sweephand.ports.access import AdminChangeStore, KeyStore, NamedSecretStore, SecretStore
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.flow import (
    AllowanceStore,
    GateLines,
    GateStore,
    NamespaceStore,
    PolicyStore,
)
from sweephand.ports.jobs import ChangeStore, JobStore
from sweephand.ports.runs import BatchStore, FlagStore, LineStore, RunStore, StatsStore
from sweephand.ports.schedule_groups import ScheduleGroupStore
from sweephand.ports.wheel import LeaseStore, TimerStore, WheelHistory
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.batches import DynamoBatches
from sweephand.storage.calendars import DynamoCalendars
from sweephand.storage.changes import DynamoAdminChanges, DynamoChanges
from sweephand.storage.counters import DynamoAllowances, DynamoStats
from sweephand.storage.gates import DynamoGateLines, DynamoGates
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases, DynamoWheelHistory
from sweephand.storage.lines import DynamoLines
from sweephand.storage.namespaces import DynamoNamespaces
from sweephand.storage.policies import DynamoPolicies
from sweephand.storage.runs import DynamoFlags, DynamoRuns
from sweephand.storage.schedule_groups import DynamoScheduleGroups
from sweephand.storage.signing_secrets import DynamoNamedSecrets, DynamoSecrets
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGION: Final = "us-east-1"
BUCKET: Final = "payloads"
LOCAL: Final = pytest.param("dynamodb_local", marks=pytest.mark.dynamodb_local)


@dataclass(frozen=True)
class Stores:
    """One implementation of each port whose store is DynamoDB. The stores are empty."""

    jobs: JobStore
    timers: TimerStore
    leases: LeaseStore
    runs: RunStore
    flags: FlagStore
    stats: StatsStore
    wheel_history: WheelHistory
    changes: ChangeStore
    lines: LineStore
    batches: BatchStore
    secrets: SecretStore
    keys: KeyStore
    policies: PolicyStore
    calendars: CalendarStore
    gates: GateStore
    gate_lines: GateLines
    namespaces: NamespaceStore
    allowances: AllowanceStore
    named_secrets: NamedSecretStore
    admin_changes: AdminChangeStore
    schedule_groups: ScheduleGroupStore
    #: The clock of those stores that have one.
    clock: HandClock


@dataclass(frozen=True)
class Dynamo:
    """Two empty tables on an engine, its client, and the waits of the stores in ms."""

    client: "DynamoDBClient"
    jobs_table: str
    timers_table: str
    waits_ms: list[int] = field(default_factory=list)

    def table(self, name: str) -> Table:
        return Table(self.client, name, self.waits_ms.append)

    def stores(self) -> Stores:
        jobs, timers = self.table(self.jobs_table), self.table(self.timers_table)
        clock = HandClock()
        return Stores(
            DynamoJobs(jobs),
            DynamoTimers(timers),
            DynamoLeases(timers),
            DynamoRuns(jobs),
            DynamoFlags(jobs),
            DynamoStats(jobs),
            DynamoWheelHistory(jobs),
            DynamoChanges(jobs),
            DynamoLines(jobs),
            DynamoBatches(jobs),
            DynamoSecrets(jobs),
            DynamoKeys(jobs),
            DynamoPolicies(jobs),
            DynamoCalendars(jobs),
            DynamoGates(timers, clock.now),
            DynamoGateLines(timers),
            DynamoNamespaces(jobs),
            DynamoAllowances(jobs),
            DynamoNamedSecrets(jobs),
            DynamoAdminChanges(jobs),
            DynamoScheduleGroups(jobs),
            clock,
        )


def in_memory() -> Stores:
    jobs, clock, trail = MemoryJobs(), HandClock(), MemoryAdminChanges()
    return Stores(
        jobs,
        MemoryTimers(),
        MemoryLeases(),
        MemoryRuns(),
        MemoryFlags(),
        MemoryStats(),
        MemoryWheelHistory(),
        MemoryChanges(),
        MemoryLines(),
        MemoryBatches(),
        MemorySecrets(trail),
        MemoryKeys(trail),
        MemoryPolicies(),
        MemoryCalendars(trail),
        MemoryGates(),
        MemoryGateLines(),
        MemoryNamespaces(jobs, trail),
        MemoryAllowances(),
        MemoryNamedSecrets(trail),
        trail,
        MemoryScheduleGroups(),
        clock,
    )


def on_fake(client: FakeDynamoDB) -> Dynamo:
    """The adapters over a client in memory, whose tables exist as soon as a request names them."""
    return Dynamo(cast("DynamoDBClient", client), "jobs", "timers")


def with_tables(client: "DynamoDBClient") -> Dynamo:
    salt = uuid4().hex
    dynamo = Dynamo(client, f"jobs-{salt}", f"timers-{salt}")
    create_table(client, "JobsTable", dynamo.jobs_table)
    create_table(client, "TimersTable", dynamo.timers_table)
    return dynamo


@contextmanager
def one_request_at_a_time() -> Iterator[None]:
    """Let moto answer one request at a time, so that a condition and its write are one step as in DynamoDB.

    moto checks an item and writes it in two steps. Without the lock, another thread can act in between.
    """
    lock, answer = threading.Lock(), BotocoreStubber.__call__

    def answered(stubber: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
        with lock:
            return answer(stubber, *args, **kwargs)

    with patch.object(BotocoreStubber, "__call__", answered):
        yield
