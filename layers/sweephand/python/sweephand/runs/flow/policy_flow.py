"""What handlers need of flow control. The parts of policies are made when a job with a policy is met."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Most invocations meet no job with a policy, and import neither.
    from sweephand.runs.flow.run_permits import RunPermits
    from sweephand.runs.valve import Valve
    from sweephand.wheel.sending import LineUp


class PolicyFlow:
    """The ways into a policy's line and out of its permits, and the valve. Threads may share one object.

    `valve` limits triggers a minute; None stands for no limits.
    """

    def __init__(
        self,
        make_line_up: Callable[[], "LineUp"],
        make_run_permits: Callable[[], "RunPermits"],
        valve: "Valve | None" = None,
    ) -> None:
        self.valve = valve
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
