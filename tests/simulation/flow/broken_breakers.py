"""Mistakes of breakers: when they open and close, and what leaves meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryPolicies
from tests.simulation.mutations.registry import Instead

from sweephand.base.instants import Instant
from sweephand.flow import breaker as breaker_module
from sweephand.flow import server as server_module
from sweephand.flow.breaker import CircuitBreaker
from sweephand.flow.permit import Permit
from sweephand.flow.server import Server
from sweephand.flow.turn import Turn
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Breaker, Policy

_PROBE: Final = Server._probe
_COUNT: Final = CircuitBreaker._count
_ANSWERED: Final = CircuitBreaker.answered


def _probes_whatever_the_id(server: Server, message: GateMessage, *others: Any) -> str:
    policy = server._gates.policies.get(message.name.policy)
    known = message if policy is None or policy.probe is None else message._replace(guard=policy.probe)
    return _PROBE(server, known, *others)


def _sends_no_next_probe(server: Server, *others: Any) -> str:
    its_gates: Any = Instead(server._gates, send=lambda *_, **__: None)
    probing: Any = Instead(server, _gates=its_gates)
    return _PROBE(probing, *others)


def _opens_without_a_message(breaker: CircuitBreaker, policy: Policy, rule: Breaker) -> bool:
    its_gates: Any = Instead(breaker._gates, send=lambda *_, **__: None)
    counting: Any = Instead(breaker, _gates=its_gates)
    return _COUNT(counting, policy, rule)


def _forgets_nothing(breaker: CircuitBreaker, policy: Policy, permit: Permit, read_at: Instant) -> bool:
    if permit.met_outage or permit.is_probe:
        return _ANSWERED(breaker, policy, permit, read_at)
    return False


@contextmanager
def _tells_nobody() -> Iterator[None]:
    with (
        patch.object(breaker_module, "tell_of_change", lambda *_: None),
        patch.object(server_module, "tell_of_change", lambda *_: None),
    ):
        yield


#: Each way by its name: what it replaces.
OF_BREAKERS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "a probe that leaves whatever its id": lambda: patch.object(Server, "_probe", _probes_whatever_the_id),
    "a probe without a next one": lambda: patch.object(Server, "_probe", _sends_no_next_probe),
    "a breaker that opens without a message": lambda: patch.object(
        CircuitBreaker, "_count", _opens_without_a_message
    ),
    "a breaker that closes and tells nobody": _tells_nobody,
    "a success that forgets no failures": lambda: patch.object(CircuitBreaker, "answered", _forgets_nothing),
    "a breaker that opens at once": lambda: patch.object(breaker_module, "_has_lasted", lambda *_: True),
    "an open breaker whose gates keep their shares": lambda: patch.object(
        Policy, "is_stopped", property(lambda policy: policy.paused_at is not None)
    ),
    "a breaker that never opens": lambda: patch.object(MemoryPolicies, "open_breaker", lambda *_: False),
    "a probe that fails and counts as an attempt": lambda: patch.object(
        Permit, "was_in_vain", property(lambda _: False)
    ),
    "a probe that takes more slots": lambda: patch.object(
        server_module, "Turn", lambda *given, **named: Turn(*given, **{**named, "is_probe": False})
    ),
}
