"""Ways to break the worker of a line, and a search for seeds that complain.

`python -m tests.simulation.flow.mutations [part of a name]` prints the first such seed of each.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final
from unittest.mock import patch

from sweephand.model.policy_line import LineEntry, LinePlace, LineTop
from sweephand.runs.flow import line_claims, line_walk, line_worker, permits
from sweephand.runs.flow.line_claims import LineClaims
from sweephand.runs.flow.line_share import LineShare
from sweephand.runs.flow.line_shift import Shift
from sweephand.runs.flow.line_taken import TakenEntry, TakenTrigger
from sweephand.runs.flow.line_walk import LineWalk
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.tokens import Tokens
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicyLines
from tests.simulation.flow.seeds import run
from tests.simulation.flow.world import FlowWorld
from tests.simulation.mutations.registry import Instead

from sweephand.model import policy_line
from sweephand.model.policy import PRIORITIES, Policy, PolicyKey, Token
from sweephand.ports.flow import PermitStore
from sweephand.wheel.sending import LineUp

#: A seed is searched among so many.
SEEDS_MAX: Final = 200

_WORK: Final = LineWorker.work
_RELEASE: Final = Permits.release
_DELIVER: Final = Shift._deliver

#: More entries than a line ever has.
_ALL: Final = 100_000


_SPLIT: Final = LineWalk._split


def _drops_the_rest(walk: LineWalk, taken: TakenEntry, until: int) -> None:
    for number in set(taken.left) - taken.begun:
        del taken.left[number]
    _SPLIT(walk, taken, until)


def _forgets_those_that_wait(walk: LineWalk, taken: TakenEntry, until: int) -> None:
    waits, taken.waits = taken.waits, []
    walk._line_up.put_all(waits, taken.entry.token)
    _SPLIT(walk, taken, until)


def _keeps_what_it_has_lost(walk: LineWalk, place: LinePlace) -> None:
    walk._waiting = deque(each for each in walk._waiting if each.taken.place != place)


@contextmanager
def _takes_all_for_open() -> Iterator[None]:
    nothing, everything = property(lambda _: []), property(lambda taken: dict(taken.left))
    with patch.object(TakenEntry, "unbegun", nothing), patch.object(TakenEntry, "open", everything):
        yield


def _works_once(worker: LineWorker, message: Any, receives: int, *others: Any) -> Any:
    return _WORK(worker, message, min(receives, 1), *others)


def _forgets_open_requests(held: Permits) -> None:
    held._open.clear()
    _RELEASE(held)


@contextmanager
def _short_holders() -> Iterator[None]:
    with patch.object(line_worker, "HOLDER_MS", 5_000), patch.object(permits, "CLOCK_SKEW_MAX_MS", 0):
        yield


def _named_after_its_trigger(shift: Shift, taken: TakenTrigger, request: str) -> None:
    held, name = shift._permits, taken.message.trigger.id
    held._open[name] = held._open.pop(request, None)
    _DELIVER(shift, taken, name)


@contextmanager
def _cursors() -> Iterator[None]:
    """The line remembers how far it was walked, and shows nothing before that."""
    passed: dict[tuple[MemoryPolicyLines, LinePlace], str] = {}
    top = MemoryPolicyLines.top

    def walked(lines: MemoryPolicyLines, place: LinePlace, entry: LineEntry) -> bool:
        passed[lines, place] = max(passed.get((lines, place), ""), entry.sort_key)
        return True

    def rest(lines: MemoryPolicyLines, place: LinePlace, before: int, limit: int) -> LineTop:
        seen, cursor = top(lines, place, before, _ALL), passed.get((lines, place), "")
        return LineTop(seen.claim, tuple(each for each in seen.entries if each.sort_key > cursor)[:limit])

    with patch.multiple(MemoryPolicyLines, delete=walked, top=rest):
        yield


@contextmanager
def _holders_that_go() -> Iterator[None]:
    """A policy that is deleted takes its permits along."""
    watch = FlowWorld.watch_limits

    def watched(world: FlowWorld) -> None:
        watch(world)
        put = world.memory_policies.put

        def cleared(policy: Policy, replacing: str | None) -> bool:
            is_written = put(policy, replacing)
            if is_written and policy.deleted_at is not None:
                world.memory_permits._holders.clear()
            return is_written

        world.memory_policies.put = cleared  # type: ignore[method-assign]

    with patch.object(FlowWorld, "watch_limits", watched):
        yield


@contextmanager
def _tokens_without_their_source() -> Iterator[None]:
    with patch.object(policy_line, "_token_of", lambda _, messages: _TOKEN_OF("", messages)):
        yield


_TOKEN_OF: Final = policy_line._token_of


def _forgets_the_token(lines: MemoryPolicyLines, place: LinePlace, entry: LineEntry) -> bool:
    lines._entries.get(place, {}).pop(entry.sort_key, None)
    return True


def _never_looks(held: Permits) -> bool:
    held._read_at = held._clock.now()
    return False


_LOOK: Final = Permits.look


def _ignores_a_lowered_limit(held: Permits) -> bool:
    """Looks for everything but a lowered limit."""
    before = held._policy
    has_looked = _LOOK(held)
    if before is not None and held._policy is not None and held._policy.permits < before.permits:
        held._policy = before
    return has_looked


@contextmanager
def _low_first() -> Iterator[None]:
    low_first = tuple(reversed(PRIORITIES))
    with (
        patch.object(line_claims, "PRIORITIES", low_first),
        patch.object(line_walk, "PRIORITIES", low_first),
        patch.object(LineClaims, "find_higher", lambda *_: ()),
    ):
        yield


@contextmanager
def _takes_tokens_of_others() -> Iterator[None]:
    """A worker keeps the tokens for which it has asked, also if another one has taken them first."""
    make: Any = Tokens.__init__

    def made(tokens: Tokens, key: PolicyKey, *, permits: PermitStore, **others: Any) -> None:
        def moved(*arguments: Any) -> bool:
            permits.move_bucket(*arguments)
            return True

        make(tokens, key, permits=Instead(permits, move_bucket=moved), **others)

    with patch.object(Tokens, "__init__", made):
        yield


#: Each way by its name: what it replaces.
MUTATIONS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "a holder shorter than its worker": _short_holders,
    "a remainder that is not written back": lambda: patch.object(LineWalk, "_split", _drops_the_rest),
    "triggers that are held and not written": lambda: patch.object(LineUp, "put_all", lambda *_: None),
    "triggers that are held and forgotten before they are written": lambda: patch.object(
        LineWalk, "_split", _forgets_those_that_wait
    ),
    "a token that is lost with a trigger that is held": lambda: patch.object(
        Tokens, "give_back", lambda *_: None
    ),
    "entries of a lost partition that a worker keeps": lambda: patch.object(
        LineWalk, "_lose", _keeps_what_it_has_lost
    ),
    "triggers that have not begun and count as open": _takes_all_for_open,
    "a second receive without its delayed copy": lambda: patch.object(LineWorker, "work", _works_once),
    "a dropped message without the line being read again": lambda: patch.object(
        LineWorker, "_look_back", lambda *_: None
    ),
    "a message that is dropped before its time and does not come again": lambda: patch.object(
        LineWorker, "_drop", lambda _worker, _message, why: why
    ),
    "a permit named after its trigger": lambda: patch.object(Shift, "_deliver", _named_after_its_trigger),
    "a cursor instead of deletion": _cursors,
    "holders that go with their policy": _holders_that_go,
    "an entry deleted without its token": lambda: patch.object(
        MemoryPolicyLines, "delete", _forgets_the_token
    ),
    "a token without the source of its entry": _tokens_without_their_source,
    "a policy that is read once": lambda: patch.object(Permits, "look", _never_looks),
    "a limit lowered while in use": lambda: patch.object(Permits, "look", _ignores_a_lowered_limit),
    "a priority that is starved": _low_first,
    "open requests of a leaving worker that count for nothing": lambda: patch.object(
        Permits, "release", _forgets_open_requests
    ),
    "work for a helper that is not written": lambda: patch.object(LineShare, "put", lambda *_, **__: None),
    "tokens that are taken without the condition": _takes_tokens_of_others,
    "a request that leaves when its slot has passed": lambda: patch.object(Token, "is_open", lambda *_: True),
    "a wake mark that is never cleared": lambda: patch.object(MemoryPermits, "clear_mark", lambda *_: None),
}


def main(wanted: list[str], first: int = 0) -> None:
    """Search a seed for each mutation."""
    for name, broken in MUTATIONS.items():
        if wanted and not any(each in name for each in wanted):
            continue
        found = "no seed"
        for seed in range(first, first + SEEDS_MAX):
            with broken():
                complaints = run(seed).complaints
            if complaints:
                found = f"seed {seed}: {dict(complaints)}"
                break
        print(f"{name}: {found}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
