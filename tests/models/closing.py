"""The end of a policy: a policy that is deleted closes, and an audit removes it when nobody is left.

A closed policy keeps its limit. No job may name it that did not name it before. A PUT opens it again. There
is one job. Three things are taken for granted: a job is written on the version that was read; the audit
begins when each function has ended that ran when the policy was closed; a gate of a missing policy is one
without a share.
"""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple, TypeAlias

from tests.models.programs import Answer, Position, Program, Programs, operation


class Policy(IntEnum):
    """What is stored of a policy."""

    MISSING = 0
    OPEN = 1
    CLOSED = 2


class Running(NamedTuple):
    """A function, and the version of the policy when it began."""

    position: Position
    since: int


class State(NamedTuple):
    """The policy, the job and the line at one instant."""

    policy: Policy = Policy.OPEN
    version: int = 0
    is_named: bool = False
    job_version: int = 0
    #: Whether a trigger of the job waits in the line of the policy.
    waits: bool = False
    #: Whether the last word of the owner was that there be a policy.
    is_wanted: bool = True
    functions: tuple[Running, ...] = ()
    #: How often each thing may still happen: deletion, PUT, write of the job, its leaving, a trigger.
    left: tuple[int, ...] = (2, 1, 2, 1, 1)


Outcomes: TypeAlias = Iterable[tuple[State, Answer]]
DELETE, PUT, WRITE, LEAVE, FIRE = range(5)


class Closing:
    """The model of the end of a policy."""

    def __init__(self) -> None:
        self._programs = Programs(self)

    def start(self) -> State:
        return State()

    def complaint(self, state: State) -> str | None:
        if state.is_wanted and state.policy is not Policy.OPEN:
            return "a policy that was put is not open"
        if not state.functions and state.is_named and state.policy is Policy.MISSING:
            return "a job names a policy that was removed"
        return None

    def is_done(self, state: State) -> bool:
        is_rightly_closed = state.policy is Policy.CLOSED and state.is_named
        return (
            not state.functions
            and not state.waits
            and (state.policy is not Policy.CLOSED or is_rightly_closed)
        )

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        yield from self._steps_of_owner(state)
        if state.is_named:
            moved = state._replace(is_named=False, job_version=state.job_version + 1)
            yield from self._once(LEAVE, "the job leaves", moved)
        if state.waits and (state.policy is not Policy.MISSING or not state.is_named):
            yield "the trigger is delivered, or goes with its job", state._replace(waits=False)
        if len(state.functions) < 2:
            yield from self._begins(WRITE, "write_job", state)
            yield from self._begins(FIRE, "fire", state)
            if state.policy is Policy.CLOSED and self.may_audit(state):
                running = Running(Position("audit", (state.version,)), state.version)
                yield "the audit begins", state._replace(functions=(*state.functions, running))
        for function, _ in groupby(state.functions):
            yield from self._goes_on(state, state.functions.index(function))

    def may_audit(self, state: State) -> bool:
        """Whether a policy has been closed for longer than any function lives."""
        return all(function.since >= state.version for function in state.functions)

    def _steps_of_owner(self, state: State) -> Iterator[tuple[str, State]]:
        following = state._replace(version=state.version + 1)
        if state.policy is Policy.OPEN:
            closed = following._replace(policy=Policy.CLOSED, is_wanted=False)
            yield from self._once(DELETE, "the owner deletes the policy", closed)
        else:
            opened = following._replace(policy=Policy.OPEN, is_wanted=True)
            yield from self._once(PUT, "the owner puts the policy", opened)

    @staticmethod
    def _once(what: int, label: str, after: State) -> Iterator[tuple[str, State]]:
        if after.left[what]:
            left = tuple(count - (kind == what) for kind, count in enumerate(after.left))
            yield label, after._replace(left=left)

    def _begins(self, what: int, program: str, state: State) -> Iterator[tuple[str, State]]:
        functions = (*state.functions, Running(Position(program), state.version))
        yield from self._once(what, f"{program} begins", state._replace(functions=functions))

    def _goes_on(self, state: State, me: int) -> Iterator[tuple[str, State]]:
        function = state.functions[me]
        position, step = self._programs.next(function.position)
        assert step is not None, "a function ends with its last operation"
        others = state.functions[:me] + state.functions[me + 1 :]
        for after, answer in step.outcomes(state, me):
            going_on, following = self._programs.next(position._replace(answers=(*position.answers, answer)))
            mine = () if following is None else (function._replace(position=going_on),)
            label = f"{position.program}: {step} -> {answer!r}"
            yield label, after._replace(functions=tuple(sorted((*others, *mine))))

    # ---- functions

    def write_job(self) -> Program:
        """A job that already names the policy may go on to name it."""
        version, is_named = yield self.read_job()
        if is_named or (yield self.read_whether_open()):
            yield self.write_on(version)
        return None

    def fire(self) -> Program:
        _, is_named = yield self.read_job()
        if is_named:
            yield self.put_entry()
        return None

    def audit(self, version: int) -> Program:
        if (yield self.walk_jobs()) or (yield self.look_at_gates()):
            return None
        yield self.remove_on(version)
        return None

    @operation("reads the job")
    def read_job(self, state: State, _me: int) -> Outcomes:
        return [(state, (state.job_version, state.is_named))]

    @operation("reads whether the policy is open")
    def read_whether_open(self, state: State, _me: int) -> Outcomes:
        return [(state, state.policy is Policy.OPEN)]

    @operation("writes the job")
    def write_on(self, state: State, _me: int, version: int) -> Outcomes:
        if state.job_version != version:
            return [(state, False)]
        return [(state._replace(is_named=True, job_version=version + 1), True)]

    @operation("puts an entry")
    def put_entry(self, state: State, _me: int) -> Outcomes:
        return [(state._replace(waits=True), True)]

    @operation("walks over the jobs")
    def walk_jobs(self, state: State, _me: int) -> Outcomes:
        return [(state, state.is_named)]

    @operation("looks at the gates")
    def look_at_gates(self, state: State, _me: int) -> Outcomes:
        return [(state, state.waits)]

    @operation("removes the policy")
    def remove_on(self, state: State, _me: int, version: int) -> Outcomes:
        if state.version != version:
            return [(state, False)]
        return [(state._replace(policy=Policy.MISSING, version=version + 1), True)]
