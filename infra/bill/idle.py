"""What a stack costs in a month in which nothing fires, by parameter."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from infra.bench import prices
from infra.bill.lines import GB, MONTH_DAYS, MONTH_MINUTES, MONTH_S, Line
from infra.bill.measured import Measured
from infra.bill.pollers import CORE_MB, DYNAMODB_S
from infra.bill.template import Template

from sweephand.delivery.functions import hold_ms
from sweephand.wheel.warm import WARM_EVERY_MINUTES, WARM_FUNCTIONS

TICK: Final = "tick: its calls and its time"
TABLES: Final = "tick: heartbeat, leases and shards in DynamoDB"
SCHEDULE: Final = "EventBridge Scheduler, which wakes tick"
WAKING: Final = "wake-ups of the delivery function"
POLLING: Final = "the delivery queue's pollers"
LOGS: Final = "logs of tick and of the wake-ups"

#: AWS documents five pollers for a queue, or two where Lambda sees little traffic and no maximum concurrency
#: is set (services-sqs-scaling). A long poll lasts 20 s at most.
POLLERS: Final = 5
POLLERS_MIN: Final = 2
_POLL_S: Final = 20

#: A tick of a stack that is switched off asks twice for the round that keeps what waits.
KEEP_READS: Final = 2

#: Requests of an idle tick, one after the other.
_REQUESTS_OF_TICK: Final = 3


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the idle bill of a stack depends on, with `pollers` for each of the `queues` that Lambda polls."""

    has_alarms: bool = False
    shards: int = 1
    has_snapshots: bool = False
    pollers: int = POLLERS
    queues: int = 1
    log_days: int = 30
    is_enabled: bool = True


def defaults(template: Template) -> Parameters:
    """The defaults of the template."""
    return Parameters(
        has_alarms=bool(template.default("AlarmTopicArn")) or not template.alarms_are_optional,
        shards=int(template.default("ShardCount")),
        has_snapshots=template.default("SnapStart") != "None",
        pollers=POLLERS if template.bounds_pollers else POLLERS_MIN,
        queues=template.polled_queues,
        log_days=int(template.default("LogRetentionDays")),
    )


def lines(measured: Measured, template: Template, parameters: Parameters) -> Iterator[Line]:
    """The lines of a month in which nothing is due."""
    idle = measured.idle
    yield Line(TABLES, prices.WRITES, idle.writes * MONTH_MINUTES)
    # While the stack is switched off, tick reads the leases, the round that keeps what waits, and no shard.
    swept = parameters.shards - 1 if parameters.is_enabled else KEEP_READS - 1
    yield Line(TABLES, prices.READS, (idle.reads + swept) * MONTH_MINUTES)
    yield Line(TICK, prices.INVOCATIONS, idle.invocations * MONTH_MINUTES)
    yield Line(TICK, prices.GB_SECOND, tick_gb_s(measured, template.memory_mb("Tick")) * MONTH_MINUTES)
    yield Line(SCHEDULE, prices.SCHEDULES, MONTH_MINUTES)
    wake_ups = WARM_FUNCTIONS * MONTH_MINUTES / WARM_EVERY_MINUTES if parameters.is_enabled else 0
    yield Line(WAKING, prices.INVOCATIONS, wake_ups)
    deliver_gb = template.memory_mb("Deliver") / 1024
    yield Line(WAKING, prices.GB_SECOND, wake_ups * hold_ms(WARM_FUNCTIONS) / 1_000 * deliver_gb)
    polls = parameters.queues * parameters.pollers * MONTH_S / _POLL_S if parameters.is_enabled else 0
    yield Line(POLLING, prices.SQS_REQUESTS, polls)
    log_gb = (MONTH_MINUTES + wake_ups) * measured.handling.log_call_bytes / GB
    yield Line(LOGS, prices.LOGS, log_gb)
    yield Line(LOGS, prices.LOG_STORAGE, log_gb * parameters.log_days / MONTH_DAYS)
    if parameters.has_alarms:
        yield Line("alarms", prices.ALARMS, template.alarm_metrics)
    if parameters.has_snapshots:
        snapshot_gb = sum(template.memory_mb(name) for name in template.snapshots) / 1024
        yield Line("SnapStart", prices.SNAPSHOT_GB_SECOND, snapshot_gb * MONTH_S)


def tick_gb_s(measured: Measured, memory_mb: int) -> float:
    """GB-seconds of a tick that finds nothing due."""
    seconds = measured.idle.cpu_ms / 1_000 / min(1.0, memory_mb / CORE_MB) + _REQUESTS_OF_TICK * DYNAMODB_S
    return seconds * memory_mb / 1024
