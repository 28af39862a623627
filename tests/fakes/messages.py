"""Messages of every kind that a test reads and writes, and what their fields may hold."""

from typing import Final

from hypothesis import strategies as st

from sweephand.model.job import JobKey
from sweephand.model.trigger import RangeMessage, Trigger, TriggerMessage
from sweephand.schedules import Occurrence, Series

NOON: Final = 1_795_262_400_000
KEY: Final = JobKey("team", "a:b@c+d=e~f_g-h.i")
MESSAGE: Final = TriggerMessage(
    Trigger(KEY, "u" * 16, "r-1", due_at=NOON + 250, sequence=7, armed_at=1_795_262_000_000, index=3),
    not_before=NOON + 5_000,
    attempt=2,
    first_attempt_at=NOON + 300,
    faults=1,
)
SPAN: Final = RangeMessage(
    KEY,
    "u" * 16,
    "r-1",
    Series("0 30 2 * * MON-FRI", "Europe/Paris", NOON, repeats=5),
    Occurrence(1_795_483_800_000, 1),
    until=1_796_000_000_000,
    armed_at=NOON,
)

instants = st.integers(0, 253_402_300_799_999)
counts = st.integers(0, 10**9)
names = st.text("abcXYZ019._~:@+=-", min_size=1, max_size=128)
