"""What handlers need of flow policies. It is made when a job with a policy is first met."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Most invocations meet no job with a policy, and import neither.
    from sweephand.runs.flow.run_permits import RunPermits
    from sweephand.wheel.line_up import LineUp


class PolicyFlow:
    """The ways into a policy's line and out of its permits. Several threads may share one object."""

    def __init__(
        self, make_line_up: Callable[[], "LineUp"], make_run_permits: Callable[[], "RunPermits"]
    ) -> None:
        self._make_line_up = make_line_up
        self._make_run_permits = make_run_permits

    @cached_property
    def line_up(self) -> "LineUp":
        """Puts triggers into lines."""
        return self._make_line_up()

    @cached_property
    def run_permits(self) -> "RunPermits":
        """Frees the permits of asynchronous runs."""
        return self._make_run_permits()
