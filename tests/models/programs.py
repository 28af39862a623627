"""Programs of functions, written as they would be read, and run one operation at a time.

A program is a generator that yields operations. Each operation is one call of a store or of a queue: it
happens as a whole, and other functions may act before the next one. Where a function stands is its program,
the program's arguments, and the answers that it had so far. So a state holds no generator, and can be
compared. Positions with the same next line and the same variables count as one. A program that returns a
`Position` goes on there, and forgets its answers.
"""

from collections.abc import Callable, Generator, Hashable, Iterable
from functools import wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

#: What an operation tells its function: a number, a truth, or several of them.
Answer: TypeAlias = int | tuple[int, ...]
Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner")


class Operation(NamedTuple):
    """One step of a function. Called with a state and the function's place, it gives each possible outcome.

    No outcome means that the operation has to wait.
    """

    label: str
    arguments: tuple[object, ...]
    outcomes: Callable[[Any, int], Iterable[tuple[Any, Answer]]]

    def __str__(self) -> str:
        """The operation and what it is about, for a trace."""
        return f"{self.label} {', '.join(map(str, self.arguments))}".strip()


class Position(NamedTuple):
    """Where a function stands."""

    program: str
    arguments: tuple[int, ...] = ()
    answers: tuple[Answer, ...] = ()


#: Where a function stands whose program is over.
ENDED: Final = Position("ends")

Program: TypeAlias = Generator[Operation, Any, Position | None]
#: A part of a program. What it returns is for the program.
Part: TypeAlias = Generator[Operation, Any, int]


def operation(
    label: str,
) -> Callable[
    [Callable[Concatenate[Owner, Any, int, Arguments], Iterable[tuple[Any, Answer]]]],
    Callable[Concatenate[Owner, Arguments], Operation],
]:
    """Makes an operation of a method that gets a state, the function's place in it, and arguments."""

    def decorate(
        method: Callable[Concatenate[Owner, Any, int, Arguments], Iterable[tuple[Any, Answer]]],
    ) -> Callable[Concatenate[Owner, Arguments], Operation]:
        @wraps(method)
        def make(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Operation:
            return Operation(label, args, lambda state, me: method(owner, state, me, *args, **kwargs))

        return make

    return decorate


class Programs:
    """Finds the next operation of a function. Each position is computed once."""

    def __init__(self, owner: object) -> None:
        self._owner = owner
        self._known: dict[Position, tuple[Position, Operation | None]] = {ENDED: (ENDED, None)}
        self._same: dict[Hashable, tuple[Position, Operation | None]] = {}

    def next(self, position: Position) -> tuple[Position, Operation | None]:
        """Where the function really stands, and its next operation. None if its program is over."""
        found = self._known.get(position)
        if found is None:
            found = self._known[position] = self._run(position)
        return found

    def _run(self, position: Position) -> tuple[Position, Operation | None]:
        program: Program = getattr(self._owner, position.program)(*position.arguments)
        try:
            step = next(program)
            for answer in position.answers:
                step = program.send(answer)
        except StopIteration as end:
            return (ENDED, None) if end.value is None else self.next(end.value)
        return self._same.setdefault(_where(program), (position, step))


def _where(program: Any) -> Hashable:
    """The line of each generator and its variables. A program goes on alike wherever these are alike."""
    frames = []
    while program is not None:
        frame = program.gi_frame
        frames.append((frame.f_code, frame.f_lasti, tuple(frame.f_locals.items())))
        program = program.gi_yieldfrom
    return tuple(frames)
