"""What the stores, the queues and the functions of a small world of gates hold."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple, Self

from tests.models.programs import Position

NOWHERE: Final = -1
NO_TOKEN: Final = 1000
NO_GUARD: Final = 0
#: The number of all guard messages that no gate knows, and that nobody can store any more.
STALE: Final = 100
#: The guards of a key that follow each other have ids of the same ten. The last of these stands for all
#: messages of such guards that no gate knows. The guards of a gate without a key are the first ten.
CHAIN: Final = 10
#: The kinds of messages whose number is the id of a guard.
OF_GUARDS: Final = ("guard", "wake")


class Entry(IntEnum):
    """What one place of a line holds."""

    NONE = 0
    FREE = 1
    LEASED = 2
    #: The function that leased it has crashed, and the lease lasts on.
    ORPHANED = 3
    EXPIRED = 4


TAKEABLE: Final = (Entry.FREE, Entry.EXPIRED)


class Gate(NamedTuple):
    """The item of a gate."""

    #: Slots in use. Of these: slots of functions that crashed, and those whose holder has expired since.
    used: int = 0
    dead: int = 0
    expired: int = 0
    #: The id of the guard message that looks after the gate (`g`).
    guard: int = NO_GUARD
    #: Whether newcomers must queue (`q`).
    queues: bool = False
    #: Whether a baton is under way (`b`). With a rate, one more than the time until the baton comes.
    baton: int = 0
    #: The guards under which the key stands in the list of waiting keys (`waits#`): one of a chain at most.
    listed: tuple[int, ...] = ()


class Bucket(NamedTuple):
    """What releases the tokens of a rate. Times count from now."""

    #: The slot of the next token (`n`), and the distance of slots by which it was computed (`s`).
    next: int = 0
    step: int = 0


class Message(NamedTuple):
    """A message: a trigger, a baton, a guard, a wake-up, or the end of an asynchronous run (`over`)."""

    kind: str
    #: The trigger or the gate that it is about.
    about: int
    #: The id of a guard, the gate of a run, whether a trigger was received before, or the delay of a baton.
    number: int = 0


NO_MESSAGE: Final = Message("", NOWHERE)


class Function(NamedTuple):
    """A function that runs."""

    position: Position
    #: The version of the limits by which it acts.
    view: int
    #: What it has received and not acknowledged.
    message: Message = NO_MESSAGE
    #: The gate of which it holds a slot, and the entry that it has leased, as line and trigger.
    slot: int = NOWHERE
    lease: tuple[int, int] = (NOWHERE, NOWHERE)
    #: The entry that it has read, as line and trigger, as long as nobody has written it since.
    seen: tuple[int, int] = (NOWHERE, NOWHERE)
    #: The gate whose slot its open request uses.
    request: int = NOWHERE
    #: The last guard that it has sent, unless its gate had one.
    sent: int = NO_GUARD
    #: The slot of its token of a rate.
    token: int = NO_TOKEN


class State(NamedTuple):
    """A whole world at one instant."""

    gates: tuple[Gate, ...]
    #: For each gate, what the place of each trigger in its line holds.
    lines: tuple[tuple[Entry, ...], ...]
    messages: tuple[Message, ...]
    delivered: tuple[bool, ...]
    crashes_left: int
    copies_left: int
    #: The version of the limits, and the changes whose late batons are not sent yet.
    version: int = 0
    changes: tuple[int, ...] = ()
    functions: tuple[Function, ...] = ()
    #: The slots of asynchronous runs, as trigger and gate.
    runs: tuple[tuple[int, int], ...] = ()
    delivered_twice: bool = False
    #: The buckets of a rate, and how long ago requests left, as far back as the rate counts.
    buckets: tuple[Bucket, ...] = ()
    departures: tuple[int, ...] = ()
    delays_left: int = 0
    #: Whether the stack is on, off, or on again after it was off for long.
    switch: int = 0
    #: What entries hold that hold something else than the trigger of their place: line, place, triggers.
    contents: tuple[tuple[int, int, tuple[int, ...]], ...] = ()

    def with_gate(self, gate: int, **changes: Any) -> Self:
        """The state after a write of this gate."""
        after = self.gates[gate]._replace(**changes)
        return self._replace(gates=(*self.gates[:gate], after, *self.gates[gate + 1 :]))

    def with_entry(self, line: int, trigger: int, entry: Entry) -> Self:
        """The state after a write of this place of a line."""
        places = self.lines[line]
        after = (*places[:trigger], entry, *places[trigger + 1 :])
        written = self._replace(lines=(*self.lines[:line], after, *self.lines[line + 1 :]))
        if entry is Entry.NONE:
            written = written.with_contents(line, trigger, (trigger,))
        if any(function.seen == (line, trigger) for function in self.functions):
            functions = (
                each._replace(seen=(NOWHERE, NOWHERE)) if each.seen == (line, trigger) else each
                for each in self.functions
            )
            written = written._replace(functions=tuple(functions))
        return written

    def contents_of(self, line: int, trigger: int) -> tuple[int, ...]:
        """The triggers of the entry at this place."""
        found = (held for of, place, held in self.contents if (of, place) == (line, trigger))
        return next(found, (trigger,))

    def with_contents(self, line: int, trigger: int, held: tuple[int, ...]) -> Self:
        """The state in which the entry at this place holds these triggers."""
        others = [each for each in self.contents if each[:2] != (line, trigger)]
        if held != (trigger,):
            others.append((line, trigger, held))
        return self if not (others or self.contents) else self._replace(contents=tuple(sorted(others)))

    def with_function(self, me: int, **changes: Any) -> Self:
        """The state after a change of this function."""
        after = self.functions[me]._replace(**changes)
        return self._replace(functions=(*self.functions[:me], after, *self.functions[me + 1 :]))

    def without_function(self, me: int) -> Self:
        """The state after the end of this function."""
        return self._replace(functions=self.functions[:me] + self.functions[me + 1 :])

    def with_message(self, message: Message) -> Self:
        """The state after this message was sent. A third equal one would do what two do."""
        if self.messages.count(message) >= 2:
            return self
        return self._replace(messages=tuple(sorted((*self.messages, message))))

    def without_message(self, message: Message) -> Self:
        """The state after this message was received."""
        rest = list(self.messages)
        rest.remove(message)
        return self._replace(messages=tuple(rest))

    def in_order(self) -> Self:
        """The same state, with functions and guards in order. It stands for all that differ only in that."""
        functions = tuple(sorted(self.functions)) if len(self.functions) > 1 else self.functions
        known = [guard for gate in self.gates for guard in (gate.guard, *gate.listed)]
        for function in functions:
            known += (
                function.sent,
                function.message.number if function.message.kind in OF_GUARDS else NO_GUARD,
            )
        found = [message.number for message in self.messages if message.kind in OF_GUARDS]
        numbers = _numbered(known, found)
        if all(number == guard for guard, number in numbers.items()):
            return self if functions == self.functions else self._replace(functions=functions)
        after = self._replace(
            gates=tuple(
                gate._replace(
                    guard=numbers[gate.guard], listed=tuple(sorted(numbers[each] for each in gate.listed))
                )
                for gate in self.gates
            ),
            functions=tuple(
                function._replace(sent=numbers[function.sent], message=_renumbered(function.message, numbers))
                for function in functions
            ),
            messages=(),
        )
        for message in self.messages:
            after = after.with_message(_renumbered(message, numbers))
        return after


def _numbered(known: Iterable[int], found: Iterable[int]) -> Mapping[int, int]:
    """The new number of each guard, in the order in which it is known. Guards of one chain stay together."""
    numbers = {NO_GUARD: NO_GUARD, STALE: STALE}
    chains = {0: 0}
    sizes: Counter[int] = Counter()
    for guard in known:
        if guard not in numbers:
            chain = chains.setdefault(guard // CHAIN, len(chains))
            sizes[chain] += 1
            numbers[guard] = CHAIN * chain + sizes[chain]
    for guard in found:
        if guard not in numbers:
            chain = chains.get(guard // CHAIN, 0)
            numbers[guard] = CHAIN * chain + CHAIN - 1 if chain else STALE
    return numbers


def _renumbered(message: Message, numbers: Mapping[int, int]) -> Message:
    if message.kind not in OF_GUARDS:
        return message
    return message._replace(number=numbers[message.number])


@dataclass(frozen=True)
class World:
    """What happens in a world."""

    triggers: int = 2
    functions: int = 2
    #: The share of each gate, for each version of the limits.
    shares: tuple[tuple[int, ...], ...] = ((1,),)
    crashes: int = 0
    #: How many messages SQS delivers twice.
    copies: int = 0
    #: Whether guard messages come although nothing went wrong.
    guards_come: bool = False
    #: The triggers whose runs are asynchronous, and those of them that never end.
    asynchronous: frozenset[int] = frozenset()
    endless: frozenset[int] = frozenset()
    #: Whether the time of a serving function may be up at any moment.
    time_is_up: bool = False
    #: Whether all gates belong to one policy. Otherwise each is the only gate of its own policy.
    one_policy: bool = True
    #: The rate of each bucket, for each version of the limits: how many requests may leave in `Rates.PER`.
    rates: tuple[tuple[int, ...], ...] = ()
    #: How often time may pass while a function does something else than wait for a slot of a rate.
    delays: int = 2
    #: The gates that triggers choose first, if not all.
    chosen: tuple[int, ...] = ()
    #: Messages that are in the queue from the beginning, besides the triggers.
    sent: tuple[Message, ...] = ()
