"""Runs one function in this process, which must be new, and reports the memory that it took.

    python -S probe.py OUTPUT < EVENTS

With `-S`, the path holds only the standard library and the directories of PYTHONPATH, as in Lambda. This
module uses nothing of Sweephand or of the benchmark, because that would count as the function's.
"""

import importlib
import json
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace


def main() -> None:
    """The answer goes to a file, because functions print to standard output."""
    events = json.load(sys.stdin)
    handler = importlib.import_module("handler").handler
    imported_kb = _peak_kb()
    context = SimpleNamespace(aws_request_id="8f507cfc", get_remaining_time_in_millis=lambda: 25_000)
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
    """The most memory that this program has held. getrusage would include that of its parent process."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak
    return int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
