"""Which watches a job may have (decision 110)."""

from collections.abc import Mapping
from typing import Any

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import ALERT_AFTER_S_MIN
from sweephand.schedules import parse_duration_ms


def watch_violations(
    written: Mapping[str, Any], sound: Mapping[str, Any], *, are_durations_valid: bool
) -> list[Violation]:
    """What is wrong with a job's watch, beside the shapes of its fields and its target; empty if it has none.

    `sound` are the fields of `written` whose shape is right. `are_durations_valid` says that no duration of
    the job is longer than it may be, or cannot be read.
    """
    found: list[Violation] = []
    if "onAlert" in written and "alertAfter" not in written:
        detail = "Give it with onAlert: the time in which a trigger must succeed, such as 10m."
        found.append(Violation("/alertAfter", detail))
    if "alertAfter" in written and "onAlert" not in written:
        found.append(Violation("/onAlert", "Give it with alertAfter: the target that gets the alerts."))
    if "alertAfter" in sound and are_durations_valid:
        if parse_duration_ms(sound["alertAfter"]) < ALERT_AFTER_S_MIN * SECOND_MS:
            detail = f"Give at least {ALERT_AFTER_S_MIN}s (alertAfterSecondsMin)."
            found.append(Violation("/alertAfter", detail))
        if sound.get("history") == "failures":
            detail = "Give outcome or full, or leave it out: a watch needs the records of successes."
            found.append(Violation("/history", detail))
    return found
