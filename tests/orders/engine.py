"""Runs actors in every order of their steps, up to a bound of preemptions and of crashes.

A step is a call of a port and the code after it, up to the next call. Code between two calls touches nothing
that actors share. So no order is left out by switching before calls alone, and a crash after a call is one
before the next. A preemption is a switch away from an actor that could go on.

Orders are walked depth first. Each one runs from the beginning, since an actor cannot be copied. A state that
was met before is not walked again. It consists of all that is shared, of what each actor has learnt, and of
the preemptions and crashes that are left: what an actor does next depends on nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Any, NamedTuple, TypeVar

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")


class Killed(BaseException):
    """The actor ended here. It is not an Exception, so that no handler of errors catches it."""


class Steps:
    """Makes calls steps. A call that no actor makes is made at once."""

    def __init__(self) -> None:
        self.running: _Strand | None = None

    @property
    def actor(self) -> int:
        """The number of the actor that runs, from 1 on; 0 if none does."""
        return 0 if self.running is None else self.running.number

    def step(self, called: str, call: Callable[[], Result]) -> Result:
        """Make a call once the actor that asks for it may go on."""
        strand = self.running
        if strand is None:
            return call()
        strand.wait(called)
        try:
            answer = call()
        except Exception as error:
            strand.learn(repr(error))
            raise
        strand.learn(repr(answer))
        return answer

    def port(self, port: object, called: str) -> Any:
        """The port, each call of which is a step."""
        return _Port(port, called, self)


class _Port:
    def __init__(self, port: object, called: str, steps: Steps) -> None:
        self._port = port
        self._called = called
        self._steps = steps

    def __getattr__(self, name: str) -> object:
        method = getattr(self._port, name)

        def call(*args: object, **kwargs: object) -> object:
            return self._steps.step(f"{self._called}.{name}", lambda: method(*args, **kwargs))

        return call


class Actor(NamedTuple):
    """What runs beside others, and its name in stories."""

    name: str
    act: Callable[[], object]


class Scene(NamedTuple):
    """One beginning: its actors, all that they share as a text, and what judges the world after an order.

    `now` is the time, which an actor can read without a call. `judge` is told whether an actor crashed. It
    brings the world to rest, and raises AssertionError if a promise is broken.
    """

    actors: Sequence[Actor]
    now: Callable[[], int]
    shared: Callable[[], str]
    judge: Callable[[bool], None]


class _Strand:
    """An actor in a greenlet of its own. It stands before its next call."""

    def __init__(self, number: int, actor: Actor, steps: Steps, now: Callable[[], int]) -> None:
        self.number = number
        self.name = actor.name
        self.next_call: str | None = None
        self.has_crashed = False
        self.failure: Exception | None = None
        self.learnt = b""
        self._act = actor.act
        self._steps = steps
        self._now = now
        self._greenlet = greenlet(self._run)

    @property
    def is_over(self) -> bool:
        return bool(self._greenlet.dead)

    def _run(self) -> None:
        try:
            self._act()
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - it is a complaint about the order
            self.failure = error

    def wait(self, called: str) -> None:
        """Stand before a call until the actor may go on. The actor itself calls this."""
        if not self.has_crashed:
            self.next_call = called
            assert self._greenlet.parent is not None
            self._greenlet.parent.switch()
        if self.has_crashed:
            raise Killed
        # A call can make other calls, as a request does that reads its job again.
        self.learn("may go on")

    def learn(self, answer: str) -> None:
        """Remember an answer, and the time at which it came."""
        self.learnt = _digest(self.learnt, f"{self.next_call} {self._now()} {answer}")

    def go(self) -> None:
        """Do one step."""
        if self.next_call is None:
            self.learn("begins")
        self._switch()

    def crash(self) -> None:
        """End the actor before its next call."""
        self.has_crashed = True
        self._switch()
        assert self.is_over, f"{self.name} goes on after a crash"

    def _switch(self) -> None:
        self._steps.running = self
        self._greenlet.parent = getcurrent()
        self._greenlet.switch()
        self._steps.running = None


class _Choice(NamedTuple):
    """The actor that does the next step, or crashes."""

    actor: int
    crashes: bool = False


class Told(NamedTuple):
    """A step of a story: the actor makes that call, or crashes before it."""

    actor: str
    call: str
    crashes: bool


class _Order:
    """One order, as far as it was chosen."""

    def __init__(self, build: Callable[[Steps], Scene], preemptions: int | None, crashes: int) -> None:
        steps = Steps()
        self.scene = build(steps)
        self.story: list[Told] = []
        self._strands = [
            _Strand(number, actor, steps, self.scene.now)
            for number, actor in enumerate(self.scene.actors, start=1)
        ]
        self._current = -1
        self._preemptions = preemptions
        self._crashes = crashes
        self.has_crash = False

    def choices(self) -> list[_Choice]:
        """What can happen next: that the same actor goes on comes first."""
        able = [number for number, strand in enumerate(self._strands) if not strand.is_over]
        if not self._goes_on:
            return [_Choice(each) for each in able]
        others = [_Choice(each) for each in able if each != self._current] if self._preemptions != 0 else []
        crash = [_Choice(self._current, crashes=True)] if self._crashes else []
        return [_Choice(self._current), *others, *crash]

    @property
    def _goes_on(self) -> bool:
        """Whether the actor of the last step has another one."""
        return self._current >= 0 and not self._strands[self._current].is_over

    def take(self, choice: _Choice) -> None:
        if self._preemptions is not None and self._goes_on and choice.actor != self._current:
            self._preemptions -= 1
        self._current, strand = choice.actor, self._strands[choice.actor]
        self.story.append(Told(strand.name, strand.next_call or "begins", choice.crashes))
        if choice.crashes:
            self._crashes -= 1
            self.has_crash = True
            strand.crash()
        else:
            strand.go()
        if strand.failure is not None:
            raise AssertionError(f"{strand.name} failed: {strand.failure!r}") from strand.failure

    def shared(self) -> bytes:
        return _digest(bytes([self.has_crash]), self.scene.shared())

    def state(self) -> bytes:
        """The digest of all on which the rest of the order can depend."""
        own = [(each.learnt, each.is_over, each.has_crashed) for each in self._strands]
        return _digest(self.shared(), repr((own, self._current, self._preemptions)))

    def close(self) -> None:
        """End what still stands before a call."""
        for strand in self._strands:
            if not strand.is_over:
                strand.crash()


@dataclass(frozen=True, slots=True)
class Explored:
    """The number of orders, states and worlds after an order, and the first complaint with its story."""

    orders: int
    states: int
    ends: int
    complaint: str | None = None
    story: Sequence[Told] = ()


def explore(build: Callable[[Steps], Scene], preemptions: int | None, crashes: int = 1) -> Explored:
    """Walk every order, until one breaks a promise. `build` makes the same scene each time.

    A preemption is a switch away from an actor that could go on; None permits any number of them.
    """
    edges: dict[bytes, list[bytes]] = {b"": []}
    ends: set[bytes] = set()
    coming: list[tuple[bytes, tuple[_Choice, ...]]] = [(b"", ())]
    while coming:
        before, prefix = coming.pop()
        order = _Order(build, preemptions, crashes)
        try:
            for choice in prefix:
                order.take(choice)
            taken = prefix
            while True:
                state = order.state()
                edges[before].append(state)
                if state in edges:
                    break
                edges[state] = []
                choices = order.choices()
                if not choices:
                    if (end := order.shared()) not in ends:
                        ends.add(end)
                        order.scene.judge(order.has_crash)
                    break
                coming += [(state, (*taken, each)) for each in reversed(choices[1:])]
                before, taken = state, (*taken, choices[0])
                order.take(choices[0])
        except AssertionError as error:
            return Explored(0, len(edges) - 1, len(ends), str(error), order.story)
        finally:
            order.close()
    return Explored(_paths(edges), len(edges) - 1, len(ends))


def first_complaint(build: Callable[[Steps], Scene]) -> Explored:
    """The complaint that shows with the fewest preemptions. There must be one."""
    every = (explore(build, bound) for bound in count())
    return next(found for found in every if found.complaint is not None)


def _paths(edges: dict[bytes, list[bytes]]) -> int:
    """The number of ways from the beginning to an end. A state is met before those that follow it."""
    ways: dict[bytes, int] = {}
    coming = [b""]
    while coming:
        state = coming[-1]
        missing = [each for each in edges[state] if each not in ways]
        coming += missing
        if not missing:
            ways[coming.pop()] = sum(ways[each] for each in edges[state]) if edges[state] else 1
    return ways[b""]


def _digest(before: bytes, text: str) -> bytes:
    # The text of an object without a text of its own has an address, which another object may get.
    assert " at 0x" not in text, f"a state has no text: {text}"
    return blake2b(text.encode(), digest_size=16, key=before).digest()
