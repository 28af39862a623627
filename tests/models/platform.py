"""What goes on around the programs of gates: time, changes of a limit, queues, crashes, and what must hold.

The last operation of a function acknowledges its message, too. Three things are taken for granted: a function
that lives is never expired; a guard message comes later than its sender can live; the late batons of a change
come when no function acts by an earlier version of the limits.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import ClassVar, TypeAlias

from tests.models.programs import Answer, Position, Programs
from tests.models.state import NO_GUARD, NO_MESSAGE, NOWHERE, Entry, Function, Gate, Message, State, World

Steps: TypeAlias = Iterator[tuple[str, State]]


class Platform:
    """Runs the programs of a subclass, which is a model for the explorer. A mutation is a subclass, too.

    `skips` names operations that are not done, each with the answer that the function assumes. `ignores`
    names operations that are done, each with what the function takes for their answer.
    """

    skips: ClassVar[Mapping[str, Answer]] = {}
    ignores: ClassVar[Mapping[str, Answer]] = {}

    def __init__(self, world: World) -> None:
        self.world = world
        self._programs = Programs(self)

    # ---- the model, for the explorer

    def start(self) -> State:
        world, gates = self.world, len(self.world.shares[0])
        triggers = [Message("trigger", trigger) for trigger in range(world.triggers)]
        return State(
            gates=(Gate(),) * gates,
            lines=((Entry.NONE,) * world.triggers,) * gates,
            messages=tuple(sorted([*triggers, *world.sent])),
            delivered=(False,) * world.triggers,
            crashes_left=world.crashes,
            copies_left=world.copies,
        )

    def steps(self, state: State) -> Steps:
        yield from self.outer_steps(state)
        if len(state.functions) < self.world.functions and self.is_on(state):
            for message, _ in groupby(state.messages):
                if self.may_come(state, message):
                    yield from self._receives(state, message)
        for function, _ in groupby(state.functions):
            me = state.functions.index(function)
            yield from self._goes_on(state, me)
            if state.crashes_left:
                yield f"{function.position.program} crashes", self._crashed(state, me).in_order()

    def complaint(self, state: State) -> str | None:
        shares = self.world.shares[: state.version + 1]
        open_at = [0] * len(state.gates)
        for function in state.functions:
            if function.request != NOWHERE:
                open_at[function.request] += 1
        for _, gate in state.runs:
            open_at[gate] += 1
        if any(here > max(share[gate] for share in shares) for gate, here in enumerate(open_at)):
            return "a gate exceeds its share"
        if self.world.one_policy and sum(open_at) > max(map(sum, shares)):
            return "the limit is exceeded"
        if any(gate.used < 0 for gate in state.gates):
            return "a slot was given back twice"
        if state.delivered_twice and not self.had_fault(state):
            return "a trigger was delivered twice without a fault"
        return None

    def is_done(self, state: State) -> bool:
        return (
            all(state.delivered)
            and not state.functions
            and not state.changes
            and state.version == len(self.world.shares) - 1
            and all(self._may_be_left(message) for message in state.messages)
            and all(trigger in self.world.endless for trigger, _ in state.runs)
            and not any(self._owes(state, gate) for gate in range(len(state.gates)))
        )

    def _may_be_left(self, message: Message) -> bool:
        return message.kind == "guard" or (message.kind == "over" and message.about in self.world.endless)

    def _owes(self, state: State, gate: int) -> bool:
        """Whether a line has entries that have to go.

        After a fault, a copy of a delivered trigger may stay in a line whose gate has no guard. Its message
        came again and went to another gate. The next function that serves this line delivers the copy again.
        """
        line = state.lines[gate]
        if self.had_fault(state) and state.gates[gate].guard == NO_GUARD:
            return any(
                entry is Entry.LEASED or (entry is not Entry.NONE and self.owes_entry(state, gate, trigger))
                for trigger, entry in enumerate(line)
            )
        return any(line)

    def owes_entry(self, state: State, _line: int, trigger: int) -> bool:
        """Whether an entry holds something that was not delivered."""
        return not state.delivered[trigger]

    def had_fault(self, state: State) -> bool:
        return state.crashes_left + state.copies_left < self.world.crashes + self.world.copies

    # ---- time, and the owner of the policy

    def outer_steps(self, state: State) -> Steps:
        if any(gate.dead for gate in state.gates) or any(Entry.ORPHANED in line for line in state.lines):
            yield "leases of crashed functions expire", self._expired(state)
        if state.version + 1 < len(self.world.shares):
            version = state.version + 1
            changed = state._replace(version=version, changes=(*state.changes, version))
            yield f"the limit changes to {self.world.shares[version]}", changed
        for change in state.changes:
            if self.views_are_over(state, change):
                others = tuple(other for other in state.changes if other != change)
                yield "late batons", self.late_batons(state._replace(changes=others), change)

    def _expired(self, state: State) -> State:
        gates = tuple(gate._replace(dead=0, expired=gate.expired + gate.dead) for gate in state.gates)
        orphans = {Entry.ORPHANED: Entry.EXPIRED}
        lines = tuple(tuple(orphans.get(entry, entry) for entry in line) for line in state.lines)
        return state._replace(gates=gates, lines=lines)

    def views_are_over(self, state: State, change: int) -> bool:
        """Whether no function acts by limits from before this change."""
        return all(function.view >= change for function in state.functions)

    def late_batons(self, state: State, change: int) -> State:
        """Sends batons to the gates that existed before the change or exist after it."""
        for gate in range(len(state.gates)):
            if self.is_concerned(gate, change):
                state = state.with_message(Message("baton", gate))
        return state

    def is_concerned(self, gate: int, change: int) -> bool:
        """Whether a change may let something go on here. A gate that only shrank has nothing to do."""
        before, after = self.world.shares[change - 1][gate], self.world.shares[change][gate]
        return after > before or not after

    # ---- queues

    def is_on(self, _state: State) -> bool:
        """Whether functions receive messages."""
        return True

    def may_come(self, state: State, message: Message) -> bool:
        if message.kind == "guard":
            if any(function.sent == message.number for function in state.functions):
                return False
            return self.world.guards_come or self.had_fault(state)
        return message.kind != "over" or message.about not in self.world.endless

    def _receives(self, state: State, message: Message) -> Steps:
        kind, about, number = message
        received = state.without_message(message)
        for position in self.positions_for(state, message):
            function = Function(self._programs.next(position)[0], state.version, message)
            after = received._replace(functions=(*state.functions, function))
            label = f"{position.program} {position.arguments}"
            yield label, after.in_order()
            if state.copies_left and kind != "guard":
                copy = Message(kind, about, 1 if kind == "trigger" else number)
                yield (
                    f"{label}, and a copy stays",
                    after._replace(copies_left=state.copies_left - 1).with_message(copy).in_order(),
                )

    def positions_for(self, state: State, message: Message) -> Iterable[Position]:
        kind, about, number = message
        shares = self.world.shares[state.version]
        if kind == "baton":
            return [Position("baton" if shares[about] else "forward", (about,))]
        if kind == "over":
            return [Position(kind, (about, number))]
        if kind != "trigger":
            return [Position(kind, (about,))]
        gates = [gate for gate, share in enumerate(shares) if share or not any(shares)]
        chosen = [gate for gate in gates if not self.world.chosen or gate in self.world.chosen]
        return [Position(kind, (about, gate, number)) for gate in chosen]

    # ---- functions

    def _goes_on(self, state: State, me: int) -> Steps:
        function = state.functions[me]
        position, step = self._programs.next(function.position)
        assert step is not None, "a function ends with its last operation"
        skipped, assumed = self.skips.get(step.label), self.ignores.get(step.label)
        for after, true_answer in step.outcomes(state, me) if skipped is None else [(state, skipped)]:
            answer = true_answer if assumed is None else assumed
            answered = position._replace(answers=(*position.answers, answer))
            going_on, following = self._programs.next(answered)
            label = f"{position.program} {position.arguments}: {step} -> {answer!r}"
            if following is None:
                yield label, after.without_function(me).in_order()
            else:
                yield label, after.with_function(me, position=going_on).in_order()

    def _crashed(self, state: State, me: int) -> State:
        function = state.functions[me]
        after = state._replace(crashes_left=state.crashes_left - 1).without_function(me)
        if function.slot != NOWHERE:
            after = after.with_gate(function.slot, dead=after.gates[function.slot].dead + 1)
        line, trigger = function.lease
        if line != NOWHERE and state.lines[line][trigger] is Entry.LEASED:
            after = after.with_entry(line, trigger, Entry.ORPHANED)
        message = function.message
        if message.kind == "trigger":
            message = message._replace(number=1)
        return after if message == NO_MESSAGE else after.with_message(message)
