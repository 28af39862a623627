"""Runs one function in this very process, which must be fresh, and says how much memory that took.

    python -S probe.py OUTPUT < EVENTS

`-S` leaves nothing on the path but the standard library and what PYTHONPATH names, as in Lambda. It uses
nothing of Sweephand or of the benchmark, which would count as the function's.
"""

import importlib
import json
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace


def main() -> None:
    """Answer in a file, since a function prints."""
    events = json.load(sys.stdin)
    handler = importlib.import_module("handler").handler
    imported_kb = _peak_kb()
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 25_000)
    began = time.monotonic()
    answers = [handler(event, context) for event in events]
    figures = {
        "importedKb": imported_kb,
        "peakKb": _peak_kb(),
        "ms": (time.monotonic() - began) * 1000,
        "answers": answers,
    }
    Path(sys.argv[1]).write_text(json.dumps(figures), encoding="utf-8")


def _peak_kb() -> int:
    """The most memory that this program has held; getrusage's would include that of whoever started it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak
    return int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
