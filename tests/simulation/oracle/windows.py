"""Checks of windows: nothing begins in them, what they skip is recorded, and what they hold is spread."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import WindowSet
from tests.simulation.traces.trace import Requested, RunStored

#: A process reads windows once a minute, by a clock that may be wrong. A function lasts for 90 s. So what was
#: there for this long is known to every function that makes a request.
KNOWN_MS: Final = 60_000 + 90_000 + 60_000

#: A function that found a window closed may make its request for as long.
BEGUN_MS: Final = 90_000

#: By the clock of a function, a window opens and closes this much earlier or later at most.
_CLOCK_MS: Final = 30_000

#: The batches of the simulator are spread over less than this.
BATCH_MS: Final = 3_600_000

#: What begins the reason of a run that a window has skipped.
REASON: Final = "window: "

#: Triggers that are spread do not all leave within this time after their window.
AT_ONCE_MS: Final = 1_000
_SPREAD_MIN_MS: Final = 60_000
_HELD_MIN: Final = 4


def nothing_begins_in_a_window(tale: Tale) -> Iterator[str]:
    """No attempt begins while a window is open that every function knows, but those by hand."""
    for request in tale.requests:
        if _passes(tale, request):
            continue
        for window, opens_at, closes_at in _open_at(tale, request):
            if opens_at + BEGUN_MS <= request.clock_at < closes_at:
                yield (
                    f"{request.name}: attempt {request.attempt} of {request.trigger_id} left at "
                    f"{told(request.clock_at)}; {window.name} is open from {told(opens_at)} "
                    f"to {told(closes_at)}"
                )


def only_windows_skip(tale: Tale) -> Iterator[str]:
    """A run that was skipped for a window was due in that window, as it was known then."""
    for stored in tale.of(RunStored):
        if stored.state != "skipped" or not (stored.reason or "").startswith(REASON):
            continue
        name, due_at = (stored.reason or "").removeprefix(REASON), int(stored.run_id.partition("-")[0])
        versions = _versions(tale, name, stored.at - KNOWN_MS, stored.at)
        # The triggers of a batch are due after their occurrence, in the order of their indexes.
        after_ms = BATCH_MS if stored.is_counted is not None else 0
        if not any(
            each.then == "skip"
            and stored.name.startswith(each.prefix)
            and any(opens_at - after_ms <= due_at < closes_at for opens_at, closes_at in each.openings)
            for each in versions
        ):
            what = f"{stored.name}: run {stored.run_id} of {stored.uid} was skipped for {name}"
            yield f"{what}, which was closed"


def what_is_held_is_spread(tale: Tale) -> Iterator[str]:
    """The triggers of a job that a window held do not leave all at once after it."""
    held: dict[tuple[str, int], list[Requested]] = defaultdict(list)
    for request in tale.requests:
        if request.attempt > 1 or request.is_on_demand:
            continue
        holding = (each for each in tale.of(WindowSet) if each.then == "hold")
        for window in holding:
            for opens_at, closes_at in window.openings:
                is_known = window.at + KNOWN_MS < closes_at
                is_held = is_known and opens_at <= request.due_at < closes_at <= request.clock_at
                if is_held and window.spread_ms >= _SPREAD_MIN_MS and request.name.startswith(window.prefix):
                    held[request.uid, closes_at].append(request)
    for (uid, closes_at), requests in held.items():
        dues = {each.due_at for each in requests}
        last_at = max(each.clock_at for each in requests)
        if len(dues) >= _HELD_MIN and last_at - closes_at < AT_ONCE_MS:
            yield f"{uid}: {len(dues)} triggers left within a second after the window until {told(closes_at)}"


def was_skipped(tale: Tale, uid: str, due_at: int, index: int = 0) -> bool:
    """Whether a record says that a window has skipped that trigger."""
    stored = tale.runs_of.get((uid, f"{due_at}-{index}"), [])
    return any((each.reason or "").startswith(REASON) for each in stored)


def may_hold(tale: Tale, name: str, since: int, until: int) -> bool:
    """Whether a window may have held triggers of that job at some time between two instants, by any clock."""
    return any(
        name.startswith(each.prefix) and opens_at - _CLOCK_MS < until and since < closes_at + _CLOCK_MS
        for each in tale.of(WindowSet)
        for opens_at, closes_at in each.openings
    )


def held_until(tale: Tale, name: str, since: int, until: int) -> int | None:
    """The latest end of a hold that may have begun and was not over between two instants; None for none.

    An opening that begins in what another holds belongs to the same hold.
    """
    openings = [
        (opens_at, closes_at, closes_at + each.spread_ms)
        for each in tale.of(WindowSet)
        if name.startswith(each.prefix)
        for opens_at, closes_at in each.openings
    ]
    end_at = max(
        (ends for opens, closes, ends in openings if opens <= until and since < closes), default=None
    )
    while end_at is not None:
        later = max((ends for opens, _, ends in openings if opens <= end_at < ends), default=None)
        if later is None:
            break
        end_at = later
    return end_at


def surely_holds(tale: Tale, name: str, due_at: int, at: int) -> bool:
    """Whether a window that every function knew was open for that job from a due time up to an instant."""
    return any(
        opens_at + BEGUN_MS <= due_at and at < closes_at
        for _, opens_at, closes_at in _known(tale, name, due_at - KNOWN_MS, at)
    )


def _open_at(tale: Tale, request: Requested) -> Iterator[tuple[WindowSet, int, int]]:
    """The openings that every function knew, from KNOWN_MS before the request on."""
    return _known(tale, request.name, request.at - KNOWN_MS, request.at)


def _known(tale: Tale, job: str, since: int, until: int) -> Iterator[tuple[WindowSet, int, int]]:
    """The openings that were the same between two instants."""
    for name in {each.name for each in tale.of(WindowSet)}:
        versions = _versions(tale, name, since, until)
        if versions and versions[0].at <= since:
            for opens_at, closes_at in versions[0].openings:
                is_same = all(
                    job.startswith(each.prefix) and (opens_at, closes_at) in each.openings
                    for each in versions
                )
                if is_same:
                    yield versions[0], opens_at, closes_at


def _versions(tale: Tale, name: str, since: int, until: int) -> list[WindowSet]:
    """What a window was at any time between two instants, in this order."""
    written = [each for each in tale.of(WindowSet) if each.name == name and each.at <= until]
    before = [each for each in written if each.at <= since]
    return [*before[-1:], *(each for each in written if each.at > since)]


def _passes(tale: Tale, request: Requested) -> bool:
    redriven_from = tale.redriven_from.get(request.trigger_id)
    return request.is_on_demand or (redriven_from is not None and request.attempt >= redriven_from)
