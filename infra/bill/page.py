"""docs/cost.md: the text of page.md with the tables, plots and figures of a bill."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from infra.bench.flow_units import ANSWER_S, EVENTS, PERMITS_OF_FUNCTION
from infra.bench.prices import ALARMS, CHECKED
from infra.bill import audits, batches, comparison, evidence, idle, keeping, rebuilds, stats, tables, watches
from infra.bill.lines import MILLION, MONTH_DAYS, MONTH_S, total
from infra.bill.triggers import CONNECTION_BYTES, METRICS, PARTS, Bill, Case, eventbridge, scheduler

PAGE: Final = Path(__file__).parents[2] / "docs" / "cost.md"
_TEXT: Final = Path(__file__).with_name("page.md")


def _resting(bill: Bill) -> dict[str, str]:
    """What a stack that does nothing costs in a month, and what some parameters add."""
    base = idle.defaults(bill.template)

    def added(**changes: Any) -> float:
        lines = idle.lines(bill.measured, bill.template, replace(base, **changes))
        return total(lines) - total(tables.idle_lines(bill))

    def alarms(condition: str) -> str:
        return tables.dollars(ALARMS.of(bill.template.alarm_metrics_with(condition)))

    resting, snapshots = total(tables.idle_lines(bill)), added(has_snapshots=True)
    return {
        "idle_dollars": tables.dollars(resting),
        "alarm_dollars": tables.dollars(added(has_alarms=True)),
        "idle_dollars_with_alarms": tables.dollars(resting + added(has_alarms=True)),
        "valve_alarm_dollars": alarms("HasValveAlarm"),
        "lane_alarm_dollars": alarms("HasLaneAlarms"),
        "flow_alarm_dollars": alarms("HasFlowAlarms"),
        "queue_dollars": tables.dollars(added(queues=base.queues + 1)),
        "lane_dollars": tables.dollars(added(queues=base.queues + 2)),
        "flow_and_lanes_dollars": tables.dollars(added(queues=base.queues + 3)),
        "snapshot_dollars": tables.dollars(snapshots),
        "snapshot_dollars_a_day": tables.dollars(snapshots / MONTH_DAYS),
    }


def _rate(rate: float) -> str:
    """A rate from which on something holds."""
    return "at no rate" if rate == math.inf else f"from {rate:.0f} triggers a second on"


def _whole(number: float) -> str:
    return f"{math.ceil(number)}"


def text(bill: Bill) -> str:
    """The whole page. It is the same for the same template, prices and measured points."""
    return _TEXT.read_text(encoding="utf-8").format_map(figures(bill))


def figures(bill: Bill) -> dict[str, str]:
    """What stands in the braces of page.md."""
    handling = bill.measured.handling
    return {
        "by_rate": tables.by_rate(bill),
        "parts": tables.parts(bill),
        "aims": tables.aims(bill),
        "answers": tables.answers(bill),
        "months": tables.months(bill),
        "batches": batches.dollars_table(bill),
        "batch_events": f"{EVENTS:,}",
        "batch_answer_s": f"{ANSWER_S:g}",
        "permits_of_function": str(PERMITS_OF_FUNCTION),
        "flow_time": tables.dollars(batches.flow_time(bill)),
        "check_dollars": tables.dollars(total(watches.lines(bill))),
        "watch_month": watches.month(bill, 1),
        "watch_month_of_hours": watches.month(bill, 6),
        "audit_dollars": tables.dollars(total(audits.lines(bill))),
        **keeping.figures(),
        "stats": stats.by_rate(bill),
        "stats_hour": stats.console_hour(),
        "rebuild_dollars": tables.dollars(total(rebuilds.lines(bill))),
        "memory_flow": str(bill.template.memory_mb("Flow")),
        "batches_on": bill.measured.when["batches"],
        "idle": tables.idle_table(bill),
        "idle_parameters": tables.idle_parameters(bill),
        "fill": evidence.fill(bill),
        "pollers": evidence.pollers(bill),
        "counts": evidence.counts(bill),
        "bundle_seconds": evidence.bundle_seconds(bill),
        "memories": evidence.memories(bill),
        "other_memories": evidence.other_memories(bill),
        "price_list": evidence.price_list(),
        "plot": comparison.plot(bill),
        "plot_of_herds": comparison.plot_of_herds(bill),
        "eventbridge": tables.dollars(total(eventbridge())),
        "scheduler": tables.dollars(total(scheduler())),
        **_resting(bill),
        "month_dollars": f"{total(tables.month(bill, 100.0)):.0f}",
        "month_dollars_without_history": f"{total(tables.month(bill, 100.0, keeps_history=False)):.0f}",
        "month_dollars_of_eventbridge": f"{100 * MONTH_S / MILLION * total(eventbridge()):.0f}",
        "history_dollars": tables.dollars(
            total(bill.lines(Case(rate=100.0, keeps_history=True))) - total(bill.lines(Case(rate=100.0)))
        ),
        "cheaper_from": f"{comparison.cheaper_from(bill):.1f}",
        "cheaper_from_with_idle": f"{comparison.cheaper_from(bill, with_idle=True):.1f}",
        "cheaper_from_without_history": f"{comparison.cheaper_from(bill, keeps_history=False):.1f}",
        "cheaper_than_scheduler_from": _rate(comparison.cheaper_from(bill, to_webhook=False)),
        "cheaper_than_scheduler_from_without_history": _rate(
            comparison.cheaper_from(bill, keeps_history=False, to_webhook=False)
        ),
        "cheaper_together": _whole(comparison.cheaper_together_from(bill)),
        "cheaper_together_without_history": _whole(
            comparison.cheaper_together_from(bill, keeps_history=False)
        ),
        "cheaper_together_without_metrics": _whole(
            comparison.cheaper_together_from(bill, of_parts=[part for part in PARTS if part != METRICS])
        ),
        "memory_deliver": str(bill.template.memory_mb("Deliver")),
        "memory_tick": str(bill.template.memory_mb("Tick")),
        "memory_sweep": f"{bill.template.memory_mb('Sweep'):,}",
        "memory_api": str(bill.template.memory_mb("Api")),
        "log_days": str(bill.template.default("LogRetentionDays")),
        "deliver_call_ms": f"{handling.deliver_call_ms:.2f}",
        "deliver_trigger_ms": f"{handling.deliver_trigger_ms:.2f}",
        "history_ms": f"{handling.history_ms:.2f}",
        "tls_ms": f"{handling.tls_ms:.2f}",
        "put_ms": f"{handling.put_ms:.1f}",
        "bulk_job_ms": f"{handling.bulk_job_ms:.2f}",
        "idle_ms": f"{bill.measured.idle.cpu_ms:.1f}",
        "log_call_bytes": str(handling.log_call_bytes),
        "log_trigger_bytes": f"{handling.log_trigger_bytes:.0f}",
        "request_bytes": str(handling.request_bytes),
        "connection_bytes": f"{CONNECTION_BYTES:,}",
        "metrics": str(handling.metrics),
        "measured_on": ", ".join(sorted(set(bill.measured.when.values()))),
        "checked": CHECKED,
    }
