"""The switch of the stack. While it is off, batons and guards are kept back, and lost after some time.

Triggers and deadlines are kept. Switching on again wakes each gate that a scan finds with a
guard.
"""

from tests.models.gates import Gates
from tests.models.platform import Steps
from tests.models.state import Message, State

ON, OFF, OFF_FOR_LONG, ON_AGAIN = range(4)
LOST = frozenset({"baton", "guard", "wake"})


class Switch(Gates):
    """The model of gates in a stack that is switched off and on once."""

    def is_on(self, state: State) -> bool:
        return state.switch in {ON, ON_AGAIN}

    def is_done(self, state: State) -> bool:
        return super().is_done(state) and state.switch == ON_AGAIN

    def outer_steps(self, state: State) -> Steps:
        yield from super().outer_steps(state)
        if state.switch == ON:
            yield "the stack is switched off", state._replace(switch=OFF)
        if state.switch == OFF and not state.functions:
            kept = tuple(message for message in state.messages if message.kind not in LOST)
            yield "batons and guards are lost", state._replace(switch=OFF_FOR_LONG, messages=kept)
        if state.switch in {OFF, OFF_FOR_LONG}:
            yield "the stack is switched on", self.woken(state._replace(switch=ON_AGAIN)).in_order()

    def woken(self, state: State) -> State:
        """Sends a wake-up to each gate that has a guard. It names the guard that the scan found."""
        for number, gate in enumerate(state.gates):
            if gate.guard:
                state = state.with_message(Message("wake", number, gate.guard))
        return state
