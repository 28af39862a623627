"""What a million triggers cost: each part of the bill, by kind of job, rate, consumer and history."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from infra.bench import prices
from infra.bill import pollers
from infra.bill.lines import GB, MILLION, MONTH_DAYS, MONTH_S, Line
from infra.bill.measured import Count, Measured
from infra.bill.pollers import AWS, CORE_MB, DYNAMODB_S, Platform, Polled, Work
from infra.bill.template import Template

from sweephand.base.instants import DAY_MS
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.base.timing import TIMER_RETENTION_MS

#: Parts of the bill of a trigger, in the order of the page. The design's aims count the first eight.
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

#: Triggers that are played at least for a rate, and minutes of a herd.
_PLAYED: Final = 4_000
_PLAYED_S_MAX: Final = 12_000
_PLAYED_S_MIN: Final = 30
_HERD_MINUTES: Final = 60

#: Requests to DynamoDB that the API makes for one job.
_REQUESTS_OF_PUT: Final = 3

#: A bulk call commits eight jobs at a time, and makes five more requests (docs/performance.md).
_ROUNDS_OF_BULK: Final = JOBS_PER_BULK_MAX / 8 + 5

#: Bytes that a client sends to open a TLS connection and to close it, TCP and IP included. It is assumed.
CONNECTION_BYTES: Final = 1_200

#: How long a record and a completed job are kept by default (docs/guide.md): 30 days, and 7 days after the
#: day of retries.
HISTORY_DAYS: Final = 30
_JOB_DAYS: Final = 8

#: How long a job waits from its creation to its trigger, in the bill.
_AHEAD_DAYS: Final = 1


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
    def per_s(self) -> float:
        """Triggers a second on average."""
        return self.herd / 60 if self.rate is None else self.rate


class Bill:
    """The bill of this checkout's template, from measured points."""

    def __init__(self, measured: Measured, template: Template) -> None:
        self.measured = measured
        self.template = template
        self._polled = cache(self._play)

    def lines(self, case: Case) -> list[Line]:
        """The lines of a million triggers."""
        return [each.times(MILLION) for each in self._of_trigger(case)]

    def polled(self, case: Case, platform: Platform = AWS, memory_mb: int | None = None) -> Polled:
        """What the pollers do in that case. Cases that differ in what pollers do not see share a play."""
        memory_mb = memory_mb or self.template.memory_mb("Deliver")
        seen = replace(case, kind="recurring")
        return self._polled(seen, platform, memory_mb)

    def is_counted(self, case: Case) -> bool:
        """Whether the units of such a case were counted: one-offs that are due together are for one herd."""
        return case.rate is not None or any(
            (each.kind, each.rate, each.per_minute) == (case.kind, None, case.herd)
            for each in self.measured.counts
        )

    def _of_trigger(self, case: Case) -> Iterator[Line]:
        count, polled, handling = self._count(case), self.polled(case), self.measured.handling
        deliver_gb = self.template.memory_mb("Deliver") / 1024
        if case.kind != "recurring":
            yield from self._of_api(case)
        yield Line(WRITES, prices.WRITES, count.writes + (self.history_writes if case.keeps_history else 0))
        yield Line(READS, prices.READS, count.reads)
        yield Line(SQS, prices.SQS_REQUESTS, count.sends + 2 * polled.calls)
        yield Line(SQS, prices.MESSAGE_GROUPS, count.sends + 2 * polled.calls)
        yield Line(CALLS, prices.INVOCATIONS, polled.calls)
        yield Line(DELIVERY, prices.GB_SECOND, polled.billed_s * deliver_gb)
        yield Line(SWEEPING, prices.GB_SECOND, self.sweep_gb_s(case))
        log_gb = (polled.calls * handling.log_call_bytes + handling.log_trigger_bytes) / GB
        yield from self._of_log(log_gb)
        yield Line(METRICS, prices.METRICS, handling.metrics / (case.per_s * MONTH_S))
        yield from self._of_storage(case, count)
        sent_bytes = handling.request_bytes + CONNECTION_BYTES
        yield Line(EGRESS, prices.EGRESS, sent_bytes / GB)

    def api_s(self, kind: str, memory_mb: int) -> float:
        """Seconds of the API function for a job of that kind."""
        handling, core = self.measured.handling, min(1.0, memory_mb / CORE_MB)
        if kind == "oneOffSingly":
            return handling.put_ms / 1_000 / core + _REQUESTS_OF_PUT * DYNAMODB_S
        return handling.bulk_job_ms / 1_000 / core + _ROUNDS_OF_BULK * DYNAMODB_S / JOBS_PER_BULK_MAX

    def _of_api(self, case: Case) -> Iterator[Line]:
        """The share of a job in the call that creates it."""
        handling, memory_mb = self.measured.handling, self.template.memory_mb("Api")
        share = 1.0 if case.kind == "oneOffSingly" else 1 / JOBS_PER_BULK_MAX
        seconds = self.api_s(case.kind, memory_mb)
        yield Line(API, prices.HTTP_API, share)
        yield Line(API, prices.INVOCATIONS, share)
        yield Line(API, prices.GB_SECOND, seconds * memory_mb / 1024)
        log_gb = share * (handling.api_log_bytes + self.template.access_log_bytes) / GB
        yield from (each._replace(part=API) for each in self._of_log(log_gb))

    def _of_log(self, log_gb: float) -> Iterator[Line]:
        yield Line(LOGS, prices.LOGS, log_gb)
        days = self.template.default("LogRetentionDays")
        yield Line(LOGS, prices.LOG_STORAGE, log_gb * days / MONTH_DAYS)

    def _of_storage(self, case: Case, count: Count) -> Iterator[Line]:
        timer_days = TIMER_RETENTION_MS / DAY_MS + _AHEAD_DAYS
        byte_days = count.timers_bytes * timer_days
        if case.kind != "recurring":
            byte_days += count.jobs_bytes * (_JOB_DAYS + _AHEAD_DAYS)
        if case.keeps_history:
            byte_days += self.history_bytes * HISTORY_DAYS
        gb_months = byte_days / GB / MONTH_DAYS
        yield Line(STORAGE, prices.STORAGE, gb_months)
        if self.template.has_recovery:
            yield Line(STORAGE, prices.RECOVERY, gb_months)

    @property
    def history_writes(self) -> float:
        """Write units that a trigger takes for its record, as counted: with history, less without."""
        return max(0.0, self._kept.writes - self.measured.count("recurring", self._kept.rate).writes)

    @property
    def history_bytes(self) -> float:
        """Bytes of a record."""
        return self._kept.jobs_bytes

    @property
    def _kept(self) -> Count:
        return max(
            (each for each in self.measured.counts if each.kind == "recurringWithHistory"),
            key=lambda each: each.rate or 0,
        )

    def sweep_gb_s(self, case: Case, memory_mb: int | None = None) -> float:
        """GB-seconds of the sweep for a trigger. What tick takes without anything due is in the idle bill.

        Nothing but the processor is counted: the requests of a sweep overlap, or are shared by many triggers.
        """
        memory_mb = memory_mb or self.template.memory_mb("Tick")
        core = min(1.0, memory_mb / CORE_MB)
        idle_ms = self.measured.idle.cpu_ms / (case.per_s * 60)
        cpu_ms = max(0.0, self._count(case).sweep_cpu_ms - idle_ms)
        requests_s = self._requests_s_of_sweep(case)
        return (cpu_ms / 1_000 / core + requests_s) * memory_mb / 1024

    def _requests_s_of_sweep(self, case: Case) -> float:
        """Seconds for which a sweep waits, for each trigger: eight requests in a row for each thousand."""
        turns = max(1.0, case.per_s * 60 / 1_000)
        return 8 * DYNAMODB_S * turns / (case.per_s * 60)

    def _count(self, case: Case) -> Count:
        """The count of the case, or of the next lower rate that was counted, and of the lowest if none is."""
        if case.rate is None:
            return self.measured.count(case.kind, None, case.herd)
        counted = sorted(each.rate for each in self.measured.counts if each.kind == case.kind and each.rate)
        lower = [rate for rate in counted if rate <= case.rate]
        return self.measured.count(case.kind, lower[-1] if lower else counted[0])

    def _play(self, case: Case, platform: Platform, memory_mb: int) -> Polled:
        span_s = float(self.template.default("BundleSeconds"))
        return pollers.poll(dues(case), span_s, self.work(case, memory_mb), platform)

    def work(self, case: Case, memory_mb: int) -> Work:
        """What a call does in that case. Each trigger opens a TLS connection, as to a host of its own."""
        handling = self.measured.handling
        trigger_ms = handling.deliver_trigger_ms + handling.tls_ms
        if case.keeps_history:
            trigger_ms += handling.history_ms
        return Work(
            case.answer_s,
            handling.deliver_call_ms / 1_000,
            trigger_ms / 1_000,
            memory_mb,
            keeps_history=case.keeps_history,
        )


def dues(case: Case) -> Sequence[float]:
    """Due times of enough triggers of a case, in seconds, the same each time."""
    if case.rate is None:
        return pollers.together(case.herd, _HERD_MINUTES)
    seconds = min(max(_PLAYED / case.rate, _PLAYED_S_MIN), _PLAYED_S_MAX)
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
