"""The deployed stack as a peer, on a local AWS that its functions share the cores with."""

from collections.abc import Mapping, Sequence

from infra.local import processes, stack
from infra.local.client import Client
from infra.local.places import Place, StackError, free_port
from infra.shootout.peer import Run
from infra.shootout.peers.dev import Sweephand
from infra.shootout.processes import with_children

_LOST = "the local AWS has its state in memory"


class Stack(Sweephand):
    """The template's functions on ministack, which stands in for AWS."""

    name = "sweephand-stack"
    setting = "the template on ministack, in memory"
    lacks: Mapping[str, str] = {"kill": _LOST, "clock": "the functions would not share the wrong clock"}

    def start(self, run: Run) -> None:
        """Deploy a stack of its own."""
        self.run = run
        self._place = Place(free_port(), enforces_roles=False)
        self.client = Client.of(stack.up(self._place, say=lambda _: None))

    def restart(self) -> None:
        """Raise StackError: it would be empty."""
        raise StackError(_LOST)

    def pids(self) -> Sequence[int]:
        """The local AWS with the functions that it runs."""
        pid = processes.recorded(self._place.pid_file)
        return [] if pid is None else with_children([pid])

    def stop(self) -> None:
        """End the stack."""
        stack.down(self._place)
