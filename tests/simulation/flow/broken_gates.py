"""Mistakes of who waits, takes slots, and looks after gates."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryGates
from tests.simulation.mutations.registry import Instead

from sweephand.base.timing import GUARD_MS, TOKEN_LEAD_MS
from sweephand.flow import gates as gates_module
from sweephand.flow import held_slots
from sweephand.flow.forward import Forward
from sweephand.flow.gates import Gates
from sweephand.flow.leasing import Leasing
from sweephand.flow.server import Server
from sweephand.jobs.policies import PolicyWriter
from sweephand.model.gate import Baton, Changed, Gate, GateChange, GateName, Swap, server_slots_of
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX, Entry, entries_of
from sweephand.model.policy import Policy


def _looks_before_it_puts(
    gates: Gates, name: GateName, policy: Policy | None, *entry: Any, **_: bool
) -> None:
    priority, messages, source = entry
    size = ENTRY_TRIGGERS_MAX if policy is None else 3 * server_slots_of(policy.slots)
    gates.see_to(name, policy, again=any(each.crashes for each in messages))
    for each in entries_of(messages, priority, source, min(ENTRY_TRIGGERS_MAX, size)):
        gates.lines.put(name, each)


def _calls_nobody_for_an_entry(gates: Gates, name: GateName, _: Policy | None, **__: bool) -> None:
    _SEE_TO(gates, name, None)


def _trusts_the_mark(gates: Gates, name: GateName, policy: Policy | None, *, again: bool = False) -> None:
    gate = gates.store.get(name)
    if gate.guard is None:
        gate = gates.begin_guard(name)
    if policy is not None and gate.free(policy.share(name.number), gates.clock.now()) > 0:
        gates.call(name, policy, again=again)


def _stores_a_guard_before_it_sends(gates: Gates, name: GateName) -> Gate:
    guard = gates._guard_id(name)
    gate = gates.store.change(name, GateChange(guard_if_absent=guard, queues=True)).gate
    gates.send("guard", name, gates.clock.now() + GUARD_MS, guard=guard)
    return gate


def _sends_a_baton_before_it_stores(
    gates: Gates, name: GateName, policy: Policy | None, **others: Any
) -> None:
    if others.get("again") or gates.store.get(name).baton is None:
        at = gates.clock.now() if policy is None else gates.token_near_at(name, policy)
        gates.send("baton", name, at, hint=others.get("hint"))
        gates.store.change(name, GateChange(baton=Baton(at, gates.ids.token()), replaces_baton=True))


_SEE_TO: Final = Gates.see_to
_TAKE: Final = Gates.take
_SEND: Final = Gates.send
_WITH_EXPIRED: Final = held_slots.with_expired


@contextmanager
def _short_holders() -> Iterator[None]:
    with patch.object(gates_module, "HOLDER_MS", 5_000), patch.object(held_slots, "CLOCK_SKEW_MAX_MS", 0):
        yield


@contextmanager
def _slots_with(change: Callable[..., GateChange]) -> Iterator[None]:
    """Slots are taken by that change instead of with_expired()."""
    with (
        patch.object(gates_module, "with_expired", change),
        patch.object(held_slots, "with_expired", change),
    ):
        yield


def _without_comparing(change: GateChange, *others: Any) -> GateChange:
    return _WITH_EXPIRED(change, *others)._replace(used_max=None)


def _keeps_the_baton(gates: Gates, name: GateName, policy: Policy, **at_most: int) -> Any:
    def change(of: GateName, wanted: GateChange) -> Changed:
        return gates.store.change(of, wanted._replace(removes_baton=False))

    return _TAKE(_with(gates, Instead(gates.store, change=change)), name, policy, **at_most)


def _with(gates: Gates, store: Any) -> Any:
    return Instead(gates, store=store)


def _does_not_look_after_removing(gates: Gates, name: GateName, policy: Policy, **at_most: int) -> Any:
    if gates.store.get(name).free(policy.share(name.number), gates.clock.now()) <= 0:
        gates.store.change(name, GateChange(removes_baton=True))
        return None
    return _TAKE(gates, name, policy, **at_most)


@contextmanager
def _numbers_that_nobody_compares() -> Iterator[None]:
    """A write of a holder expects its slots, and not that nobody has written it since."""

    def unnumbered(gates: MemoryGates, name: GateName, change: GateChange) -> Changed:
        stored = gates.get(name).holders
        swaps: dict[str, Swap] = {}
        for token, swap in change.holders.items():
            there, was = stored.get(token), swap.was
            same = there is not None and not isinstance(was, str | None) and there.slots == was.slots
            swaps[token] = Swap(there, swap.becomes) if same else swap
        return _CHANGE(gates, name, change._replace(holders=swaps))

    with patch.object(MemoryGates, "change", unnumbered):
        yield


_CHANGE: Final = MemoryGates.change


def _guard_with(*, reads_first: bool = True, reads_again: bool = True, counts_leased: bool = True) -> Any:
    """The handler of a guard with one mistake."""

    def guarded(server: Server, name: GateName, guard: str, acknowledge: Callable[[], None]) -> str | None:
        gates = server._gates

        def is_empty() -> bool:
            top = gates.lines.top(name, 1 if counts_leased else 1_000)
            return top.is_empty if counts_leased else not top.takeable(gates.clock.now())

        there = gates.store.get(name).guard
        if there not in {None, guard}:
            return "other"
        empty = reads_first is False or is_empty()
        if there == guard and not empty:
            server._replace(name, guard)
            acknowledge()
            return None
        if there == guard:
            if not gates.store.change(name, GateChange(guard=Swap(guard, None))).is_made:
                return "other"
            empty = is_empty() if reads_again else True
        if empty:
            return "empty"
        gates.begin_guard(name)
        acknowledge()
        return None

    return guarded


def _sends_no_guard(gates: Gates, name: GateName, former: str | None = None) -> str:
    return gates._guard_id(name, former)


def _forgets_who_waits_for_a_token(server: Server, name: GateName, policy: Policy) -> bool:
    gates = server._gates
    return gates.token_near_at(name, policy) > gates.clock.now() + TOKEN_LEAD_MS


def _deletes_first(forward: Forward, name: GateName, entry: Entry, now: int) -> None:
    if (leased := forward._leased(name, entry, now)) is not None:
        forward._gates.lines.replace(name, leased, None)
        forward._gates.enqueue(name.policy, entry.priority, leased.messages, leased.token)


def _moves_in_silence(forward: Forward, name: GateName, entry: Entry, now: int) -> None:
    if (leased := forward._leased(name, entry, now)) is not None:
        with patch.object(forward._gates, "see_to", lambda *_, **__: None):
            gates = forward._gates
            policy = gates.policies.get(name.policy)
            to = gates.name_for(name.policy, policy, name.key)
            gates.put(to, policy, entry.priority, leased.messages, leased.token, joins=False)
        forward._gates.lines.replace(name, leased, None)


def _sends_without_a_place(gates: Gates, *arguments: Any, after: str | None = None, **named: Any) -> None:  # noqa: ARG001 - it is the mistake
    _SEND(gates, *arguments, **named)


def _joins_what_was_written_since(gates: Gates, name: GateName, entry: Entry, size: int) -> bool:
    """Writes what it has read over whatever stands there."""
    top = gates.lines.top(name, 4, entry.second)
    pairs = [(each, each.joined_by(entry, size, gates.ids.token())) for each in top.entries]
    for seen, joined in pairs:
        if joined is not None:
            now = {each.name: each for each in gates.lines.top(name, 1_000).entries}
            return gates.lines.replace(name, now.get(seen.name, seen), joined)
    return False


def _joins_a_lease(seen: Entry, other: Entry, size: int, token: str) -> Entry | None:
    free = _JOINED_BY(seen._replace(owner=None), other, size, token)
    return None if free is None else free._replace(owner=seen.owner)


_JOINED_BY: Final = Entry.joined_by


def _moves_every_entry(forward: Forward, name: GateName, entries: Sequence[Entry], now: int) -> None:
    forward._together([partial(forward._move, name, entry, now) for entry in entries])


def _leases_what_it_has_not_read(leasing: Leasing, name: GateName, entry: Entry, now: int) -> Entry | None:
    """Writes an entry as it was read, with its lease, over what has joined it since."""
    found = leasing._gates.lines.top(name, 1_000).entries
    there = next((each for each in found if each.name == entry.name and each.owner is None), entry)
    return _LEASE(leasing, name, entry._replace(token=there.token), now)


_LEASE: Final = Leasing._lease


#: Each way by its name: what it replaces.
OF_GATES: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "the gate is read before the entry is written": lambda: patch.object(Gates, "put", _looks_before_it_puts),
    "a trigger that joins an entry which was written since": lambda: patch.object(
        Gates, "_has_joined", _joins_what_was_written_since
    ),
    "a trigger that joins a leased entry": lambda: patch.object(Entry, "joined_by", _joins_a_lease),
    "a lease that erases what has joined the entry": lambda: patch.object(
        Leasing, "_lease", _leases_what_it_has_not_read
    ),
    "nobody is called for a new entry": lambda: patch.object(Gates, "see_to", _calls_nobody_for_an_entry),
    "a line whose gate has a guard is not marked": lambda: patch.object(Gates, "see_to", _trusts_the_mark),
    "a guard that is stored before it is sent": lambda: patch.object(
        Gates, "begin_guard", _stores_a_guard_before_it_sends
    ),
    "a guard that is not sent": lambda: patch.object(Gates, "send_guard", _sends_no_guard),
    "a guard that comes once": lambda: patch.object(Server, "_replace", lambda *_: None),
    "a guard that is removed before the line is read": lambda: patch.object(
        Server, "_guard", _guard_with(reads_first=False, reads_again=False)
    ),
    "a guard that is removed without the line being read again": lambda: patch.object(
        Server, "_guard", _guard_with(reads_again=False)
    ),
    "a guard that is removed although entries are leased": lambda: patch.object(
        Server, "_guard", _guard_with(counts_leased=False)
    ),
    "a baton that is sent before it is stored": lambda: patch.object(
        Gates, "call", _sends_a_baton_before_it_stores
    ),
    "a baton whose mark stays": lambda: patch.object(Gates, "take", _keeps_the_baton),
    "a baton that does not look again at a full gate": lambda: patch.object(
        Gates, "take", _does_not_look_after_removing
    ),
    "a holder shorter than its function": _short_holders,
    "slots that are taken without a look at the share": lambda: _slots_with(_without_comparing),
    "holders that stay when their time is over": lambda: patch.object(Gate, "expired", lambda *_: {}),
    "writes of a holder whose numbers nobody compares": _numbers_that_nobody_compares,
    "a change that sends no batons": lambda: patch.object(Server, "_tell_of_change", lambda *_: "changed"),
    "a paused policy whose gates keep their shares": lambda: patch.object(
        Policy, "share", Policy.share_of_limit
    ),
    "a resume that sends no message": lambda: patch.object(PolicyWriter, "_announce", lambda *_: None),
    "a paused policy whose entries move to other gates": lambda: patch.object(
        Forward, "_send_leavers", _moves_every_entry
    ),
    "a long line that is read from its beginning again": lambda: patch.object(
        Gates, "send", _sends_without_a_place
    ),
    "a gate without a share that forwards nothing": lambda: patch.object(Forward, "forward", lambda *_: None),
    "a forwarded entry that is deleted first": lambda: patch.object(Forward, "_move", _deletes_first),
    "a forwarded entry to which nobody sees": lambda: patch.object(Forward, "_move", _moves_in_silence),
    "a gate that waits for a token, and nobody is called": lambda: patch.object(
        Server, "_waits_for_token", _forgets_who_waits_for_a_token
    ),
}
