"""Errors of the stack's switch: what goes on while it is off, and what is forgotten when it is on again."""

from collections.abc import Callable
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, wrapping
from tests.simulation.workload.switching import FIRST_OFF, FIRST_OFF_FOR_A_MONTH
from tests.simulation.world.removals import Removals

from sweephand.base.timing import LEASE_MS
from sweephand.model.timer import Cursor, position_key
from sweephand.runs.time_off import TimeOff
from sweephand.wheel.tick import Ticked, Ticker

#: The name with which the broken ticker claims a shard.
_OWNER: Final = "forgets"


@mutation("Tick sweeps while the stack is switched off", first=FIRST_OFF)
def sweeps_while_off() -> Broken:
    build: Any = Ticker.__init__

    def enabled(self: Ticker, **given: Any) -> None:
        build(self, **{**given, "is_enabled": True})

    return patch.object(Ticker, "__init__", enabled)


@mutation("While the stack is switched off, tick moves the cursors past what falls due", first=FIRST_OFF)
@wrapping(Ticker, "_stay_off")
def forgets_what_falls_due_while_off(stay_off: Callable[..., Ticked], self: Ticker, now: int) -> Ticked:
    for lease in self._leases.state().leases:
        held = self._leases.claim(lease, _OWNER, now, now + LEASE_MS)
        if held is not None and held.cursor.key < position_key(now):
            self._leases.release(held, 0, now, cursor=Cursor(position_key(now)))
    return stay_off(self, now)


@mutation("While the stack is off for long, DynamoDB goes on removing items", first=FIRST_OFF_FOR_A_MONTH)
def goes_on_removing_items() -> Broken:
    return patch.object(Removals, "set", lambda *_, **__: None)


@mutation("While the stack is off for long, messages are not sent again", first=FIRST_OFF_FOR_A_MONTH)
def leaves_messages_to_their_end() -> Broken:
    return patch.object(TimeOff, "_renew", lambda *_: 0)
