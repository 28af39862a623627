"""Mistakes of a turn, of lines, and of policies and rates."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryGateLines
from tests.simulation.flow.world import FlowWorld
from tests.simulation.mutations.registry import Instead

from sweephand.flow import leasing
from sweephand.flow import tokens as tokens_module
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.leasing import Leasing
from sweephand.flow.taken import LeftEntry, TakenEntry
from sweephand.flow.tokens import Tokens
from sweephand.flow.turn import Turn
from sweephand.jobs import policies
from sweephand.model import gate_line
from sweephand.model import policy as policy_module
from sweephand.model.gate import Changed, GateName, Taking, Token
from sweephand.model.gate_line import Entry, LineTop
from sweephand.model.policy import PRIORITIES, Policy
from sweephand.ports.flow import GateStore

#: More entries than a line ever has.
_ALL: Final = 100_000


def _gives_everything_back(turn_: Turn) -> None:
    # Also the slots of requests that are open.
    turn_._open = 0
    _STOP(turn_)


_STOP: Final = Turn._stop


def _stop_with(
    *, calls_first: bool = False, calls: bool = True, own_only: bool = False, marks: bool = True
) -> Callable[[Turn], None]:
    """The end of a turn with one mistake."""

    def stop(turn_: Turn) -> None:
        gates = turn_._gates
        with turn_._lock:
            turn_._is_over = True
            left = turn_._taken.stop()
            idle = turn_._slots.size - turn_._open
        turn_._together([partial(turn_._free, each) for each in left])
        others = () if own_only else (each.taken.line for each in left)
        for name in sorted({turn_._name, *others}):
            if calls_first:
                gates.call(name, turn_._policy)
            if name == turn_._name and idle > 0:
                gate = turn_._slots.give_back(idle, queues=True if marks else None)
            else:
                gate = gates.mark(name) if marks else gates.store.get(name)
            is_free = gate.free(turn_._policy.share(name.number), turn_._clock.now()) > 0
            if calls and is_free and not calls_first:
                gates.call(name, turn_._policy)

    return stop


def _leave_with(*, looks: bool = True, marks: bool = True, unmarks: bool = False) -> Callable[[Turn], bool]:
    """The end of a turn that has found nothing, with one mistake."""

    def leave(turn_: Turn) -> bool:
        while turn_._clean():
            pass
        gates, now = turn_._gates, turn_._clock.now()
        top = gates.lines.top(turn_._name, 60)
        if top.takeable(now):
            turn_._look_at = now
            return True
        turn_._is_over = True
        turn_._slots.give_back(turn_._slots.size, queues=False if unmarks or top.is_empty else None)
        if looks and gates.lines.top(turn_._name, 60).takeable(now):
            if marks:
                gates.mark(turn_._name)
            gates.call(turn_._name, turn_._policy)
        return True

    return leave


def _closes_in_silence(turn_: Turn, permit: Any) -> None:
    with patch.object(turn_._gates, "call", lambda *_, **__: None):
        _CLOSE(turn_, permit)


_CLOSE: Final = Turn._close


def _deletes_on_taking(lease: Leasing, name: GateName, entry: Entry, now: int) -> Entry | None:
    leased = _LEASE(lease, name, entry, now)
    if leased is not None:
        lease._gates.lines.replace(name, leased, None)
    return leased


_LEASE: Final = Leasing._lease


def _frees_without_the_rest(turn_: Turn, left: LeftEntry) -> None:
    """What has not begun is forgotten."""
    taken = left.taken
    if not left.is_open:
        turn_._gates.lines.replace(taken.line, taken.entry, None)
        return
    with turn_._lock:
        turn_._taken.shrunk(taken, taken.entry)


def _shrinks_first(turn_: Turn, left: LeftEntry) -> None:
    """The entry is shrunk before its part is written."""
    if not left.is_open:
        _FREE(turn_, left)
        return
    taken, lines = left.taken, turn_._gates.lines
    with turn_._lock:
        still_open = tuple(taken.left.values())
    shrunk = taken.entry._replace(messages=still_open, token=turn_._gates.ids.token())
    lines.replace(taken.line, taken.entry, shrunk if still_open else None)
    token = turn_._gates.ids.token()
    part = taken.entry._replace(messages=tuple(left.rest), token=token, name=token, owner=None, until=0)
    lines.put(taken.line, part)
    with turn_._lock:
        turn_._taken.shrunk(taken, shrunk)


def _does_not_shrink(turn_: Turn, left: LeftEntry) -> None:
    """The part is written, and stays in the entry as well."""
    if not left.is_open:
        _FREE(turn_, left)
        return
    taken, token = left.taken, turn_._gates.ids.token()
    part = taken.entry._replace(messages=tuple(left.rest), token=token, name=token, owner=None, until=0)
    turn_._gates.lines.put(taken.line, part)
    with turn_._lock:
        turn_._taken.shrunk(taken, taken.entry)


_FREE: Final = Turn._free


def _never_looks(turn_: Turn, now: int) -> bool:
    turn_._read_at = now
    return False


def _ignores_a_lowered_limit(turn_: Turn, now: int) -> bool:
    before = turn_._policy
    _HAS_LOST_SLOTS(turn_, now)
    if turn_._policy.slots < before.slots:
        turn_._policy = before
    return False


_HAS_LOST_SLOTS: Final = Turn._has_lost_slots


@contextmanager
def _forgets_those_that_wait() -> Iterator[None]:
    with patch.object(TakenEntry, "unbegun", property(lambda _: [])):
        yield


@contextmanager
def _low_first() -> Iterator[None]:
    low_first = tuple(reversed(PRIORITIES))
    with patch.object(gate_line, "PRIORITIES", low_first), patch.object(leasing, "PRIORITIES", low_first):
        yield


@contextmanager
def _cursors() -> Iterator[None]:
    """The line remembers how far it was served, and shows nothing before that."""
    passed: dict[tuple[MemoryGateLines, GateName], str] = {}
    top, replace = MemoryGateLines.top, MemoryGateLines.replace

    def walked(lines: MemoryGateLines, name: GateName, seen: Entry, entry: Entry | None) -> bool:
        if entry is None:
            passed[lines, name] = max(passed.get((lines, name), ""), seen.sort_key)
        return replace(lines, name, seen, entry)

    def rest(lines: MemoryGateLines, name: GateName, limit: int, after: str | None = None) -> LineTop:
        found, cursor = top(lines, name, _ALL, after), passed.get((lines, name), "")
        return LineTop([each for each in found.entries if each.sort_key > cursor][:limit])

    with patch.multiple(MemoryGateLines, replace=walked, top=rest):
        yield


def _deletes_whatever_is_there(
    lines: MemoryGateLines, name: GateName, seen: Entry, entry: Entry | None
) -> bool:
    if entry is None:
        lines._entries.get(name, {}).pop(seen.sort_key, None)
        return True
    return _REPLACE(lines, name, seen, entry)


_REPLACE: Final = MemoryGateLines.replace


def _leases_whatever_is_there(
    lines: MemoryGateLines, name: GateName, seen: Entry, entry: Entry | None
) -> bool:
    if entry is None or entry.owner is None or seen.sort_key not in lines._entries.get(name, {}):
        return _REPLACE(lines, name, seen, entry)
    lines._entries[name][seen.sort_key] = entry
    return True


@contextmanager
def _names_without_their_source() -> Iterator[None]:
    with patch.object(gate_line, "_entry", lambda messages, priority, _: _ENTRY(messages, priority, "")):
        yield


_ENTRY: Final = gate_line._entry


@contextmanager
def _gates_that_go() -> Iterator[None]:
    """A policy that is deleted takes its gates along."""
    watch = FlowWorld.watch_limits

    def watched(world: FlowWorld) -> None:
        watch(world)
        put = world.memory_policies.put

        def cleared(policy: Policy, replacing: str | None, *, seen: Policy | None = None) -> bool:
            is_written = put(policy, replacing, seen=seen)
            if is_written and policy.deleted_at is not None:
                world.memory_gates.clear()
            return is_written

        world.memory_policies.put = cleared  # type: ignore[method-assign]

    with patch.object(FlowWorld, "watch_limits", watched):
        yield


@contextmanager
def _takes_tokens_of_others() -> Iterator[None]:
    """A function keeps the tokens for which it has asked, also if another one has taken them first."""
    make: Any = Tokens.__init__

    def made(tokens: Tokens, slots: HeldSlots, *, store: GateStore, **others: Any) -> None:
        def moved(*arguments: Any) -> Changed:
            return store.change(*arguments)._replace(is_made=True)

        make(tokens, slots, store=Instead(store, change=moved), **others)

    with patch.object(Tokens, "__init__", made):
        yield


def _begins_anew(*asked: Any, **how: Any) -> Taking | None:
    """Tokens begin at this moment, whatever others have taken since the bucket was seen."""
    wants = policy_module.taking(*asked, **how)
    return None if wants is None else wants._replace(last_min_us=0, last_max_us=wants.last_max_us + 10**12)


def _slots_too_close(rate: policy_module.Rate) -> int:
    return -(-rate.per_ms * 1_000 // rate.limit)


#: Each way by its name: what it replaces.
OF_TURNS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "slots of open requests that are given back at the end of a turn": lambda: patch.object(
        Turn, "_stop", _gives_everything_back
    ),
    "a call before slots are given back": lambda: patch.object(Turn, "_stop", _stop_with(calls_first=True)),
    "a turn that ends and calls nobody": lambda: patch.object(Turn, "_stop", _stop_with(calls=False)),
    "entries of other lines that are freed without a call there": lambda: patch.object(
        Turn, "_stop", _stop_with(own_only=True)
    ),
    "a turn that ends and leaves its line unmarked": lambda: patch.object(
        Turn, "_stop", _stop_with(marks=False)
    ),
    "a slot that comes back after its turn, and nobody is called": lambda: patch.object(
        Turn, "_close", _closes_in_silence
    ),
    "slots that are given back without another look at the line": lambda: patch.object(
        Turn, "_leave", _leave_with(looks=False)
    ),
    "a line that is not marked again": lambda: patch.object(Turn, "_leave", _leave_with(marks=False)),
    "a mark that goes while entries are leased": lambda: patch.object(
        Turn, "_leave", _leave_with(unmarks=True)
    ),
    "an entry that is deleted when it is taken": lambda: patch.object(Leasing, "_lease", _deletes_on_taking),
    "an entry that two functions lease": lambda: patch.object(
        MemoryGateLines, "replace", _leases_whatever_is_there
    ),
    "an entry that is deleted without its token": lambda: patch.object(
        MemoryGateLines, "replace", _deletes_whatever_is_there
    ),
    "a remainder that is not written back": lambda: patch.object(Turn, "_free", _frees_without_the_rest),
    "an entry that is shrunk before its part is written": lambda: patch.object(Turn, "_free", _shrinks_first),
    "a part that stays in its entry as well": lambda: patch.object(Turn, "_free", _does_not_shrink),
    "triggers that have not begun and count as open": _forgets_those_that_wait,
    "a name without the source of its entry": _names_without_their_source,
    "a cursor instead of deletion": _cursors,
    "gates that go with their policy": _gates_that_go,
    "a policy that is read once": lambda: patch.object(Turn, "_has_lost_slots", _never_looks),
    "a limit lowered while in use": lambda: patch.object(Turn, "_has_lost_slots", _ignores_a_lowered_limit),
    "batons at the commit of a change": lambda: patch.object(policies, "POLICY_CHANGE_MS", 0),
    "a function with too much to do calls no other one": lambda: patch.object(
        Turn, "_share", lambda *_: None
    ),
    "lines of other gates that nobody reads": lambda: patch.object(Leasing, "_others", lambda *_: ()),
    "a priority that is starved": _low_first,
    "tokens that are taken without the condition": _takes_tokens_of_others,
    "a bucket that counts as quiet whatever others have taken": lambda: patch.object(
        tokens_module, "taking", _begins_anew
    ),
    "a request that leaves when its slot has passed": lambda: patch.object(Token, "is_open", lambda *_: True),
    "slots of a rate that lie too close": lambda: patch.object(policy_module, "step_us_of", _slots_too_close),
    "tokens that are lost at the end of a turn": lambda: patch.object(
        Turn, "_is_at_end", lambda turn_, now: now >= turn_._ends_at
    ),
}
