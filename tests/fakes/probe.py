"""How much CPU time a request may take, and how fast the machine is at present."""

from json import loads
from time import process_time
from typing import Final

#: The CPU time that a request may take, in seconds.
CPU_S_MAX: Final = 0.5

#: A text, and the CPU time that Python's own reader takes for it on an idle machine. It takes longer while a
#: machine is busy, because busy cores share caches and clock.
PROBE: Final = f"[{'[],' * 340_000}[]]"
PROBE_S: Final = 0.05


def slowness() -> float:
    """How much longer the machine takes at present than an idle one; 1 at least."""
    began_s = process_time()
    loads(PROBE)
    return max(1.0, (process_time() - began_s) / PROBE_S)
