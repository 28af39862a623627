"""Mistakes of keys: who counts under which one, and who is listed as waiting."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Instead

from sweephand.base.instants import Instant
from sweephand.flow import gates as gates_module
from sweephand.flow import permit as permit_module
from sweephand.flow.gates import Gates
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.server import Server
from sweephand.flow.tokens import Tokens, next_token_at
from sweephand.model.gate import Gate, GateName, WaitingGate
from sweephand.model.gate_message import GateMessage
from sweephand.model.page import Page
from sweephand.model.policy import Rate
from sweephand.ports.flow import GateStore

_TELL_OF_CHANGE: Final = Server._tell_of_change


@contextmanager
def _one_gate_for_all() -> Iterator[None]:
    with (
        patch.object(gates_module, "gate_key", lambda by, *_: f"{by}:"),
        patch.object(permit_module, "is_under", lambda *_: True),
    ):
        yield


def _delists_any(gates: Gates, name: GateName, guard: str) -> None:
    place = WaitingGate(name, guard).place
    for each in gates.store.waiting(name.policy, "", 1_000).items:
        if each.place == place:
            gates.store.delist(each)


def _tells_the_empty_key(server: Server, message: GateMessage) -> str:
    gates = server._gates

    def waiting(*asked: Any) -> Page[WaitingGate]:
        page = gates.store.waiting(*asked)
        return page._replace(items=tuple(each for each in page.items if (each.name.key or "").endswith(":")))

    store: Any = Instead(gates.store, waiting=waiting)
    its_gates: Any = Instead(gates, store=store)
    told: Any = Instead(server, _gates=its_gates)
    return _TELL_OF_CHANGE(told, message)


@contextmanager
def _one_bucket_for_all() -> Iterator[None]:
    make: Any = Tokens.__init__

    def made(tokens: Tokens, slots: HeldSlots, **others: Any) -> None:
        make(tokens, slots, **others)
        tokens._gate = slots.name._replace(key=None)

    def near(name: GateName, rate: Rate, store: GateStore, now: Instant, _: Gate | None) -> Instant:
        return next_token_at(name._replace(key=None), rate, store, now, None)

    with patch.object(Tokens, "__init__", made), patch.object(gates_module, "next_token_at", near):
        yield


#: Each way by its name: what it replaces.
OF_KEYS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "keys that share one gate": _one_gate_for_all,
    "a key that is computed from what the job was": lambda: patch.object(
        permit_module, "is_under", lambda *_: True
    ),
    "keys that share a bucket": _one_bucket_for_all,
    "a key that is not listed": lambda: patch.object(Gates, "enlist", lambda *_: None),
    "a place in the list that is removed on the id of another guard": lambda: patch.object(
        Gates, "delist", _delists_any
    ),
    "a change that reaches the empty key alone": lambda: patch.object(
        Server, "_tell_of_change", _tells_the_empty_key
    ),
    "a guard of a paused key that goes on": lambda: patch.object(Server, "_is_paused", lambda *_: False),
}
