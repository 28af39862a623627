"""docs/cost.md: the text of page.md with the tables, plots and figures of a bill."""

from pathlib import Path
from typing import Final

from infra.bench.flow_units import ANSWER_S, EVENTS, PERMITS_OF_FUNCTION
from infra.bench.prices import CHECKED
from infra.bill import audits, batches, comparison, evidence, keeping, rebuilds, stats, tables, watches
from infra.bill.lines import total
from infra.bill.triggers import CONNECTION_BYTES, METRICS, PARTS, Bill, Case, eventbridge

PAGE: Final = Path(__file__).parents[2] / "docs" / "cost.md"
_TEXT: Final = Path(__file__).with_name("page.md")


def _together_without_metrics(bill: Bill) -> float:
    return comparison.cheaper_together_from(bill, of_parts=[part for part in PARTS if part != METRICS])


def text(bill: Bill) -> str:
    """The whole page. It is the same for the same template, prices and measured points."""
    handling = bill.measured.handling
    figures = {
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
        "idle_dollars": tables.dollars(total(tables.idle_lines(bill))),
        "history_dollars": tables.dollars(
            total(bill.lines(Case(rate=100.0, keeps_history=True))) - total(bill.lines(Case(rate=100.0)))
        ),
        "cheaper_from": f"{comparison.cheaper_from(bill):.1f}",
        "cheaper_from_with_idle": f"{comparison.cheaper_from(bill, with_idle=True):.1f}",
        "cheaper_from_with_history": f"{comparison.cheaper_from(bill, keeps_history=True):.1f}",
        "cheaper_together_without_metrics": f"{-(-_together_without_metrics(bill) // 1):.0f}",
        "cheaper_together": f"{-(-comparison.cheaper_together_from(bill) // 1):.0f}",
        "cheaper_together_with_history": (
            f"{-(-comparison.cheaper_together_from(bill, keeps_history=True) // 1):.0f}"
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
    return _TEXT.read_text(encoding="utf-8").format_map(figures)
