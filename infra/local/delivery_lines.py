"""The line of text that shows one delivery."""

from datetime import datetime

from infra.local.receiver import Delivery

HEAD = "arrived       late     attempt  job                          to"


def delivery_line(delivery: Delivery) -> str:
    """The line of a request that came to a receiver, with its path and any error.

    A trigger of a batch has the due time of its occurrence in the headers. Only the first one is due then, so
    the line of another shows its index instead of its lateness.
    """
    named = delivery.headers
    index = int(named.get("sweephand-batch-index", 0))
    note = "" if delivery.is_signed else "   WRONG SIGNATURE"
    answered = "" if delivery.answer.status < 300 else f"   answered {delivery.answer.status}"  # noqa: PLR2004 - 2xx
    return line(
        delivery.arrived_at,
        named.get("sweephand-due", ""),
        named.get("sweephand-attempt", "?"),
        named.get("sweephand-job", "?"),
        f"{delivery.path}{answered}{note}",
        index=index,
    )


def line(arrived_at: int, due: str, attempt: str, job: str, to: str, *, index: int = 0) -> str:
    """One line under HEAD. `arrived_at` is in epoch ms, `due` in RFC 3339 or empty.

    The lateness of a run is that of its first attempt. The retry policy decides when later attempts come.
    """
    clock = datetime.fromtimestamp(arrived_at / 1000).astimezone().strftime("%H:%M:%S.%f")[:-3]
    late_ms = arrived_at - round(datetime.fromisoformat(due).timestamp() * 1000) if due else 0
    first = f"# {index}" if index else f"{late_ms:5d} ms"
    late = f"{first:>8}" if attempt == "1" else "   retry"
    return f"{clock}  {late}  {attempt:>5}    {job:<27}  {to}"
