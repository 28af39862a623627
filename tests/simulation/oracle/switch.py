"""Checks of the stack's switch: while it is off, no cursor moves and no request leaves."""

from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import CursorStored, Mishap, Requested

#: How the trace calls it, before ` of` and the time that it lasts.
SWITCHED_OFF: Final = "switched off of "

#: A delivery function that has received its messages goes on for up to 90 s.
REQUESTS_GO_ON_MS: Final = 90_000


def times_off(tale: Tale) -> Iterator[tuple[int, int]]:
    """From when until when the stack was off. All faults end with the calm."""
    for mishap in tale.of(Mishap):
        if mishap.kind.startswith(SWITCHED_OFF):
            on_at = mishap.at + int(mishap.kind.removeprefix(SWITCHED_OFF).removesuffix(" ms"))
            if tale.calm_at is not None and mishap.at < tale.calm_at:
                on_at = min(on_at, tale.calm_at)
            yield mishap.at, on_at


def nothing_goes_while_off(tale: Tale) -> Iterator[str]:
    """While the stack is switched off, nothing is swept and nothing is delivered.

    A tick that began before, and the sweepers that it invoked, finish what they have begun. Lambda ends them
    after two minutes. In some seeds they outlive their time limits, and pauses hold them up for longer.
    """
    for off_at, on_at in times_off(tale):
        for request in tale.of(Requested):
            if off_at + REQUESTS_GO_ON_MS < request.at < on_at:
                what = f"attempt {request.attempt} of {request.trigger_id} left at {told(request.at)}"
                yield f"{request.name}: {what}, and the stack was off from {told(off_at)} to {told(on_at)}"
        for cursor in tale.of(CursorStored):
            has_begun = cursor.tick_began_at is not None and cursor.tick_began_at <= off_at
            if off_at < cursor.at < on_at and not has_begun:
                what = f"the cursor of shard {cursor.shard} moved at {told(cursor.at)}"
                yield f"{what}, and the stack was off from {told(off_at)} to {told(on_at)}"
