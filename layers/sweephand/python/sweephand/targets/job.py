"""The target type `job`: a run's end triggers another job of the namespace."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.names import NAME_SCHEMA, is_name, suggestion
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import Field, TargetType

#: The states of an ended run after which the other job is triggered, by the value of `when`.
WHEN: Final[Mapping[str, frozenset[str]]] = {
    "succeeded": frozenset({"succeeded"}),
    "failed": frozenset({"failed"}),
    "always": frozenset({"succeeded", "failed", "skipped", "cancelled"}),
}
WHEN_DEFAULT: Final = "succeeded"


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; this one has fewer rules
    found: list[Violation] = []
    if not is_name(spec.get("name")):
        found.append(Violation("/name", "Give the name of a job of this namespace."))
    when = spec.get("when", WHEN_DEFAULT)
    if not isinstance(when, str) or when not in WHEN:
        found.append(Violation("/when", f"{suggestion(when, WHEN)} Use one of {', '.join(WHEN)}.".lstrip()))
    return found


def _triggered_job(spec: Mapping[str, Any], state: str) -> str | None:
    name: str = spec["name"]
    return name if state in WHEN[spec.get("when", WHEN_DEFAULT)] else None


#: runs/notify.py sends the trigger to the delivery queue by itself, so this type has no adapter.
TYPE: Final = TargetType(
    name="job",
    summary="Another job of the namespace.",
    description="Another job of the namespace, triggered when a run has ended; its `data` is what is told of "
    "the end.",
    own_fields=(
        Field("name", NAME_SCHEMA, "The name of that job.", is_required=True),
        Field(
            "when",
            {"type": "string", "enum": list(WHEN)},
            f"After which ends it is triggered; {WHEN_DEFAULT} by default.",
        ),
    ),
    rules=_violations,
    attempt_ms_max=lambda _: 0,
    delivery=None,
    triggered_job=_triggered_job,
    takes_triggers=False,
)
