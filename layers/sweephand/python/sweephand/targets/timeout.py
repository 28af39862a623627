"""The field `timeout` of targets whose answer is awaited."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import BadRequestError, Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.targets.target_type import Field

DEFAULT_MS: Final = 15 * SECOND_MS

#: What a time-out may be, for the meaning of the field.
BOUNDS: Final = f"at most {TARGET_TIMEOUT_S_MAX} s; {DEFAULT_MS // SECOND_MS}s by default."


def timeout_field(meaning: str) -> Field:
    """The field `timeout` of a target type."""
    return Field("timeout", DURATION_SCHEMA, meaning)


def timeout_ms(spec: Mapping[str, Any]) -> int:
    """The time-out of a target in ms. It is the default if none was written, or one that is not valid."""
    return _read(spec.get("timeout")) or DEFAULT_MS


def timeout_violations(spec: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the time-out of a target; empty if it has none."""
    written = spec.get("timeout")
    if written is None or _read(written) is not None:
        return []
    most = TARGET_TIMEOUT_S_MAX
    return [Violation("/timeout", f"Give a duration of more than 0 and at most {most}s, as in 15s.")]


def _read(written: object) -> int | None:
    """The time-out in ms; None if it cannot be accepted."""
    if not isinstance(written, str):
        return None
    try:
        found = parse_duration_ms(written)
    except BadRequestError:
        return None
    return found if 0 < found <= TARGET_TIMEOUT_S_MAX * SECOND_MS else None
