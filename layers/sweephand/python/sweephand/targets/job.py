"""What a target of type `job` takes: another job of the namespace, triggered when a run has ended."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import NAME_LENGTH_MAX
from sweephand.base.spelling import suggestion

FIELDS: Final = ("type", "name", "when")

#: When it is triggered: by the state in which the run ended.
WHEN: Final[Mapping[str, frozenset[str]]] = {
    "succeeded": frozenset({"succeeded"}),
    "failed": frozenset({"failed"}),
    "always": frozenset({"succeeded", "failed", "skipped", "cancelled"}),
}
WHEN_DEFAULT: Final = "succeeded"

# Left for re to compile and keep when it is first used: importing this must be cheap.
_NAME: Final = r"(?!\.{1,2}\Z)[A-Za-z0-9._~:@+=-]+"


def job_violations(spec: Mapping[str, Any], *, has_data: bool, allow_insecure: bool) -> list[Violation]:  # noqa: ARG001 - every type is asked alike
    """What is wrong with a target of type `job`; empty if nothing is. Pointers begin below the target."""
    found: list[Violation] = []
    name = spec.get("name")
    if not isinstance(name, str) or len(name) > NAME_LENGTH_MAX or not re.fullmatch(_NAME, name):
        found.append(Violation("/name", "Give the name of a job of this namespace."))
    when = spec.get("when", WHEN_DEFAULT)
    if not isinstance(when, str) or when not in WHEN:
        found.append(Violation("/when", f"{suggestion(when, WHEN)} Use one of {', '.join(WHEN)}.".lstrip()))
    return found


def job_time_ms(spec: Mapping[str, Any]) -> int:  # noqa: ARG001 - every type is asked alike; this one makes no request
    """How long telling it may take at most, in ms: nobody is connected to."""
    return 0
