"""The bill: a million triggers by kind of job, rate, consumer and history, and a month of an idle stack."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from sweephand.base.instants import DAY_MS
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.delivery.functions import hold_ms
from sweephand.wheel.tick import WARM_EVERY_MINUTES, WARM_FUNCTIONS
from sweephand_engine.costs import pollers, prices
from sweephand_engine.costs.measured import Count, Measured, Usage
from sweephand_engine.costs.pollers import DYNAMODB_S, Polled, Work, core_of
from sweephand_engine.costs.prices import GB, MILLION, MONTH_DAYS, MONTH_MINUTES, MONTH_S, Line
from sweephand_engine.costs.template import Template

#: Parts of the bill of a trigger, in the order of the page. The design's aims count those of OF_AIM.
API: Final = "the API that creates the job"
WRITES: Final = "DynamoDB: writes"
READS: Final = "DynamoDB: reads"
SQS: Final = "SQS requests"
CALLS: Final = "Lambda calls"
DELIVERY: Final = "time of the delivery function"
SWEEPING: Final = "time of the sweep"
LOGS: Final = "logs, kept as the template says"
METRICS: Final = "metrics"
STORAGE: Final = "storage of timers, jobs and history"
EGRESS: Final = "data to the consumer"
OF_AIM: Final = (API, WRITES, READS, SQS, CALLS, DELIVERY, SWEEPING, LOGS)
PARTS: Final = (*OF_AIM, METRICS, STORAGE, EGRESS)

#: Triggers that are played for a rate, at least, the seconds in which they fall due, and minutes of a herd.
_PLAYED: Final = 4_000
_PLAYED_S: Final = (30, 12_000)
_HERD_MINUTES: Final = 60

#: Requests to DynamoDB, one after the other: of the API for one job, and of an idle tick.
_REQUESTS_OF_PUT: Final = 3
_REQUESTS_OF_TICK: Final = 3

#: A bulk call commits eight jobs at a time, and makes five more requests (docs/performance.md).
_ROUNDS_OF_BULK: Final = JOBS_PER_BULK_MAX / 8 + 5

#: A sweep makes this many requests in a row for each thousand triggers.
_REQUESTS_OF_SWEEP: Final = 8

#: Bytes that a client sends to open a TLS connection and to close it, TCP and IP included. It is assumed.
CONNECTION_BYTES: Final = 1_200

#: How long a record and a completed job are kept by default (docs/jobs.md): 30 days, and 7 days after the
#: day of retries.
HISTORY_DAYS: Final = 30
_JOB_DAYS: Final = 8

#: How long a job waits from its creation to its trigger, in the bill.
_AHEAD_DAYS: Final = 1

#: AWS documents five pollers for a queue, or two where Lambda sees little traffic and no maximum concurrency
#: is set (services-sqs-scaling). A long poll lasts 20 s at most.
POLLERS: Final = 5
POLLERS_MIN: Final = 2
_POLL_S: Final = 20

#: A tick of a stack that is switched off asks twice for the round that keeps what waits.
_KEEP_READS: Final = 2


@dataclass(frozen=True, slots=True)
class Case:
    """What is billed. `rate` is in triggers a second, spread at random.

    Without a rate, `herd` triggers fall due together at the beginning of each minute. `kind` is `recurring`,
    `oneOffInBulk` or `oneOffSingly`. Every consumer answers after `answer_s`.
    """

    kind: str = "recurring"
    rate: float | None = None
    herd: int = 0
    answer_s: float = 0.2
    keeps_history: bool = False

    @property
    def per_minute(self) -> float:
        """Triggers a minute on average."""
        return self.herd if self.rate is None else self.rate * 60

    def __str__(self) -> str:
        """The rate of the case, or its herd, as the page names it."""
        return f"{self.rate:,g} a second" if self.rate else f"{self.herd:,} together"


@dataclass(frozen=True, slots=True)
class Load:
    """What triggers use, for each of them, and what the pollers do. `kept` is the share that leaves a record.

    There are `per_minute` in each minute that has any, and `per_month` in a month. `byte_days` are stored
    besides timers and records.
    """

    used: Usage
    polled: Polled
    per_minute: float
    per_month: float
    kept: float
    byte_days: float = 0


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
        has_alarms=bool(template.default("AlarmTopicArn")),
        shards=int(template.default("ShardCount")),
        has_snapshots=template.default("SnapStart") != "None",
        pollers=POLLERS if template.bounds_pollers else POLLERS_MIN,
        queues=template.polled_queues,
        log_days=int(template.default("LogRetentionDays")),
    )


class Bill:
    """The bill of this checkout's template, from measured points."""

    def __init__(self, measured: Measured, template: Template) -> None:
        self.measured = measured
        self.template = template
        self._polled = cache(self._play)
        # History is counted at one rate at least: what a record takes does not depend on the rate.
        rate = measured.rates("recurringWithHistory")[-1]
        kept, plain = measured.count("recurringWithHistory", rate), measured.count("recurring", rate)
        self._history_writes = max(0.0, kept.writes - plain.writes)
        self._history_bytes = kept.jobs_bytes

    def gb(self, function: str) -> float:
        """The memory of a function, given as `Deliver`, `Tick` and so on."""
        return self.template.memory_mb(function) / 1024

    def lines(self, case: Case) -> list[Line]:
        """The lines of a million triggers."""
        return [each.times(MILLION) for each in self._of_trigger(case)]

    def dollars(self, case: Case, parts: Sequence[str] = PARTS) -> float:
        """Dollars of a million triggers, or of some parts of them."""
        return prices.total(each for each in self.lines(case) if each.part in parts)

    def polled(self, case: Case) -> Polled:
        """What the pollers do in that case. Cases that differ in what pollers do not see share a play."""
        return self._polled(replace(case, kind="recurring"))

    def is_counted(self, case: Case) -> bool:
        """Whether the units of such a case were counted: one-offs that are due together are for one herd."""
        herds = [
            each.per_minute for each in self.measured.counts if (each.kind, each.rate) == (case.kind, None)
        ]
        return case.rate is not None or case.herd in herds

    def _of_trigger(self, case: Case) -> Iterator[Line]:
        count, per_minute = self._count(case), case.per_minute
        byte_days = 0.0
        if case.kind != "recurring":
            yield from self._of_api(case)
            byte_days = count.jobs_bytes * (_JOB_DAYS + _AHEAD_DAYS)
        polled, kept = self.polled(case), float(case.keeps_history)
        yield from self.of_load(Load(count, polled, per_minute, per_minute * MONTH_MINUTES, kept, byte_days))

    def of_load(self, load: Load) -> Iterator[Line]:
        """The lines of one trigger of a load, without the API that created its job."""
        count, polled, handling = load.used, load.polled, self.measured.handling
        yield Line(WRITES, prices.WRITES, count.writes + self._history_writes * load.kept)
        yield Line(READS, prices.READS, count.reads)
        yield Line(SQS, prices.SQS_REQUESTS, count.sends + 2 * polled.calls)
        yield Line(SQS, prices.MESSAGE_GROUPS, count.sends + 2 * polled.calls)
        yield Line(CALLS, prices.INVOCATIONS, polled.calls)
        yield Line(DELIVERY, prices.GB_SECOND, polled.billed_s * self.gb("Deliver"))
        sweep_gb_s = self._sweep_gb_s(count.sweep_cpu_ms, load.per_minute, self.template.memory_mb("Tick"))
        yield Line(SWEEPING, prices.GB_SECOND, sweep_gb_s)
        log_bytes = polled.calls * handling.log_call_bytes + handling.log_trigger_bytes
        yield from self._of_log(LOGS, log_bytes, self.template.default("LogRetentionDays"))
        yield Line(METRICS, prices.METRICS, handling.metrics / load.per_month)
        yield from self._of_storage(load)
        yield Line(EGRESS, prices.EGRESS, (handling.request_bytes + CONNECTION_BYTES) / GB)

    def api_s(self, kind: str, memory_mb: int) -> float:
        """Seconds of the API function for a job of that kind."""
        handling, core = self.measured.handling, core_of(memory_mb)
        if kind == "oneOffSingly":
            return handling.put_ms / 1_000 / core + _REQUESTS_OF_PUT * DYNAMODB_S
        return handling.bulk_job_ms / 1_000 / core + _ROUNDS_OF_BULK * DYNAMODB_S / JOBS_PER_BULK_MAX

    def _of_api(self, case: Case) -> Iterator[Line]:
        """The share of a job in the call that creates it."""
        share = 1.0 if case.kind == "oneOffSingly" else 1 / JOBS_PER_BULK_MAX
        yield Line(API, prices.HTTP_API, share)
        yield Line(API, prices.INVOCATIONS, share)
        seconds = self.api_s(case.kind, self.template.memory_mb("Api"))
        yield Line(API, prices.GB_SECOND, seconds * self.gb("Api"))
        log_bytes = share * (self.measured.handling.api_log_bytes + self.template.access_log_bytes)
        yield from self._of_log(API, log_bytes, self.template.default("LogRetentionDays"))

    def _of_log(self, part: str, log_bytes: float, days: float) -> Iterator[Line]:
        yield Line(part, prices.LOGS, log_bytes / GB)
        yield Line(part, prices.LOG_STORAGE, log_bytes / GB * days / MONTH_DAYS)

    def _of_storage(self, load: Load) -> Iterator[Line]:
        byte_days = load.used.timers_bytes * (TIMER_RETENTION_MS / DAY_MS + _AHEAD_DAYS) + load.byte_days
        byte_days += self._history_bytes * HISTORY_DAYS * load.kept
        gb_months = byte_days / GB / MONTH_DAYS
        yield Line(STORAGE, prices.STORAGE, gb_months)
        yield Line(STORAGE, prices.RECOVERY, gb_months)  # both tables have it (template.yaml)

    def sweep_gb_s(self, case: Case, memory_mb: int) -> float:
        """GB-seconds of the sweep for a trigger. What tick takes without anything due is in the idle bill.

        The requests of a sweep overlap, or are shared by many triggers: eight in a row for each thousand.
        """
        return self._sweep_gb_s(self._count(case).sweep_cpu_ms, case.per_minute, memory_mb)

    def _sweep_gb_s(self, sweep_cpu_ms: float, per_minute: float, memory_mb: int) -> float:
        idle_ms = self.measured.idle.sweep_cpu_ms / per_minute
        cpu_s = max(0.0, sweep_cpu_ms - idle_ms) / 1_000 / core_of(memory_mb)
        turns = max(1.0, per_minute / 1_000)
        return (cpu_s + _REQUESTS_OF_SWEEP * DYNAMODB_S * turns / per_minute) * memory_mb / 1024

    def _count(self, case: Case) -> Count:
        """The count of the case, or of the next lower rate that was counted, and of the lowest if none is."""
        if case.rate is None:
            return self.measured.count(case.kind, None, case.herd)
        counted = self.measured.rates(case.kind)
        lower = [rate for rate in counted if rate <= case.rate]
        return self.measured.count(case.kind, lower[-1] if lower else counted[0])

    def _play(self, case: Case) -> Polled:
        span_s = float(self.template.default("BundleSeconds"))
        return pollers.poll(dues(case), span_s, self.work(case))

    def work(self, case: Case) -> Work:
        """What a call does in that case. Each trigger opens a TLS connection, as to a host of its own."""
        handling = self.measured.handling
        trigger_ms = handling.deliver_trigger_ms + handling.tls_ms
        if case.keeps_history:
            trigger_ms += handling.history_ms
        return Work(
            trigger_ms / 1_000,
            core_of(self.template.memory_mb("Deliver")),
            case.answer_s,
            handling.deliver_call_ms / 1_000,
            case.keeps_history,
        )

    def idle(self, parameters: Parameters | None = None) -> list[Line]:
        """The lines of a month in which nothing is due. By default the parameters are the template's."""
        return list(self._idle(parameters or defaults(self.template)))

    def _idle(self, parameters: Parameters) -> Iterator[Line]:
        idle, minutes = self.measured.idle, MONTH_MINUTES
        tables, tick = "tick: heartbeat, leases and shards in DynamoDB", "tick: its calls and its time"
        waking, logs = "wake-ups of the delivery function", "logs of tick and of the wake-ups"
        yield Line(tables, prices.WRITES, idle.writes * minutes)
        # While the stack is off, tick reads the leases, the round that keeps what waits, and no shard.
        swept = parameters.shards - 1 if parameters.is_enabled else _KEEP_READS - 1
        yield Line(tables, prices.READS, (idle.reads + swept) * minutes)
        yield Line(tick, prices.INVOCATIONS, idle.invocations * minutes)
        yield Line(tick, prices.GB_SECOND, self.tick_gb_s(self.template.memory_mb("Tick")) * minutes)
        yield Line("EventBridge Scheduler, which wakes tick", prices.SCHEDULES, minutes)
        wake_ups = WARM_FUNCTIONS * minutes / WARM_EVERY_MINUTES if parameters.is_enabled else 0
        yield Line(waking, prices.INVOCATIONS, wake_ups)
        yield Line(waking, prices.GB_SECOND, wake_ups * hold_ms(WARM_FUNCTIONS) / 1_000 * self.gb("Deliver"))
        polls = parameters.queues * parameters.pollers * MONTH_S / _POLL_S if parameters.is_enabled else 0
        yield Line("the delivery queue's pollers", prices.SQS_REQUESTS, polls)
        log_bytes = (minutes + wake_ups) * self.measured.handling.log_call_bytes
        yield from self._of_log(logs, log_bytes, parameters.log_days)
        if parameters.has_alarms:
            yield Line("alarms", prices.ALARMS, self.template.alarm_metrics())
        if parameters.has_snapshots:
            yield Line(
                "SnapStart", prices.SNAPSHOT_GB_SECOND, sum(map(self.gb, self.template.snapshots)) * MONTH_S
            )

    def tick_gb_s(self, memory_mb: int) -> float:
        """GB-seconds of a tick that finds nothing due."""
        cpu_s = self.measured.idle.sweep_cpu_ms / 1_000 / core_of(memory_mb)
        return (cpu_s + _REQUESTS_OF_TICK * DYNAMODB_S) * memory_mb / 1024


def dues(case: Case) -> Sequence[float]:
    """Due times of enough triggers of a case, in seconds, the same each time."""
    if case.rate is None:
        return pollers.together(case.herd, _HERD_MINUTES)
    least, most = _PLAYED_S
    seconds = min(max(_PLAYED / case.rate, least), most)
    return pollers.spread(case.rate, seconds, random.Random(3))  # noqa: S311 - the same each time


def scheduler() -> list[Line]:
    """A million schedules of EventBridge Scheduler that start a Lambda function or send to an SQS queue."""
    return [Line("Scheduler", prices.SCHEDULES, MILLION)]


def eventbridge() -> list[Line]:
    """A million one-off or recurring schedules that call an HTTP endpoint: Scheduler, bus, API destination.

    EventBridge bills each part by the trigger, at any rate. Logs and data to the consumer are left out.
    """
    return [
        *scheduler(),
        Line("bus", prices.EVENTS, MILLION),
        Line("API destination", prices.API_DESTINATIONS, MILLION),
    ]
