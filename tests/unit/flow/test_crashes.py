"""A function that ends or fails at any of its calls loses nothing, and no slot for good."""

from collections.abc import Callable
from itertools import count

import pytest
from tests.contract.builders import NOON, job, trigger_message
from tests.fakes.faults import Killed
from tests.unit.flow.scene import BATON, GATE, KEY, Flow, flow, store_job, stored, triggers

from sweephand.base.errors import StoreError
from sweephand.base.timing import GUARD_MS, HOLDER_MS
from sweephand.flow.permit import Permit
from sweephand.model.gate import GateName
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Breaker, Rate
from sweephand.model.trigger import LineWait, TriggerMessage

VISIBILITY_MS = 100_000
WAITED = trigger_message(attempt=2)


def enqueued(scene: Flow, number: int = 12) -> Flow:
    scene.gates().enqueue(KEY, "normal", triggers(number), "source")
    return scene


def waits(scene: Flow) -> Flow:
    """One of the triggers has to wait once more."""

    def during(message: TriggerMessage, _: Permit) -> bool | LineWait:
        is_first = message.trigger == WAITED.trigger and message.attempt == 1
        return LineWait(KEY, "normal", WAITED, job().definition) if is_first else True

    scene.during = during
    return scene


def one_turn() -> Flow:
    return enqueued(waits(flow(1)))


def time_up() -> Flow:
    scene = enqueued(flow(1))
    scene.request_ms = 2_100
    return scene


def stolen() -> Flow:
    scene = flow(64)
    scene.gates().enqueue(KEY, "normal", triggers(12), "source")
    return scene


def rated() -> Flow:
    return enqueued(flow(4, rate=Rate(100, 1_000)))


def lowered() -> Flow:
    scene = flow(64)
    scene.put(*triggers(12), gate=1)
    scene.gates().see_to(GateName(KEY, 1), stored(scene))
    scene.limit(4)
    scene.gates().send("baton", GateName(KEY, 1), scene.clock.now())
    return scene


def guarded() -> Flow:
    """Only the guard is left."""
    scene = enqueued(flow(1))
    scene.queue.waiting = [each for each in scene.queue.waiting if each[0] >= scene.clock.time + GUARD_MS]
    return scene


def probed() -> Flow:
    """The breaker is open, and the consumer answers again."""
    scene = flow(64, breaker=Breaker(3, 60_000))
    store_job(scene, "backup", KEY.name)
    scene.policies.open_breaker(KEY, "probe", NOON, NOON)
    scene.queue.send(GateMessage("probe", *KEY, 0, NOON, "probe"), 0)
    return enqueued(scene)


SCENES = pytest.mark.parametrize("made", [one_turn, time_up, stolen, rated, lowered, guarded, probed])


def first_message(scene: Flow) -> None:
    """Let a function handle the message that comes first. If it ends, the message comes again."""
    at, message = min(scene.queue.waiting, key=lambda each: each[0])
    scene.clock.time = max(scene.clock.time, at)
    acknowledged = scene.acknowledged
    scene.queue.waiting.remove((at, message))
    try:
        scene.handle(message)  # type: ignore[arg-type]
    except (Killed, StoreError):
        if scene.acknowledged == acknowledged:
            scene.queue.waiting.append((at + VISIBILITY_MS, message))


def calls_of(made: Callable[[], Flow]) -> list[str]:
    scene, calls = made(), list[str]()
    scene.announce = calls.append
    first_message(scene)
    return calls


def ended_at(made: Callable[[], Flow], number: int, error: type[BaseException]) -> Flow:
    """Let the first function end or fail at a call, and all others go on."""
    scene, numbers = made(), count()

    def announce(call: str) -> None:
        if next(numbers) == number:
            raise error(call)

    scene.announce = announce
    first_message(scene)
    scene.announce = lambda _: None
    return scene


@SCENES
@pytest.mark.parametrize("error", [Killed, StoreError])
def test_every_trigger_is_delivered_and_every_slot_is_free_whatever_call_ends_a_function(
    made: Callable[[], Flow], error: type[BaseException]
) -> None:
    calls = calls_of(made)
    assert len(calls) > 20
    for number, call in enumerate(calls):
        scene = ended_at(made, number, error)
        scene.run((2 * GUARD_MS + HOLDER_MS + VISIBILITY_MS) // 1_000)
        delivered = {each.trigger.due_at for each in scene.delivered}
        assert len(delivered) == 12, f"{call} ({number} of {len(calls)})"
        assert scene.entries() == [], call
        for gate in range(2):
            assert scene.gate(gate).used <= 0 or scene.gate(gate).expired(scene.clock.time), call
            assert scene.gate(gate).guard is None, call
        assert stored(scene).probe is None, call


def test_a_function_that_fails_gives_its_slots_back_and_calls() -> None:
    """Triggers do not wait for three minutes because a line could not be read for a moment."""
    scene = enqueued(flow(1))
    scene.put(*triggers(30), source="more")
    tops = count()

    def announce(call: str) -> None:
        if call == "before lines.top" and next(tops) == 1:
            raise StoreError("the test asks")

    scene.announce = announce
    with pytest.raises(StoreError):
        scene.handle(BATON)
    scene.announce = lambda _: None
    assert scene.gate().used == 0
    assert len(scene.sent("baton")) == 2
    scene.run(10)
    assert scene.entries() == []


def test_copies_of_guards_and_batons_do_not_multiply() -> None:
    scene = enqueued(flow(1))
    scene.hold(1, "run", until=scene.clock.time + 10_000_000)
    for _ in range(3):
        scene.queue.waiting *= 2
        scene.run(GUARD_MS // 1_000 + 1)
    assert len(scene.queue.waiting) == 1
    assert scene.gate().guard == scene.sent("guard")[-1].guard


def test_nothing_polls_while_runs_hold_every_slot() -> None:
    scene = enqueued(flow(4))
    scene.handle(BATON)
    scene.put(*triggers(5), source="more")
    scene.hold(4, "runs", until=scene.clock.time + 10_000_000)
    scene.gates().see_to(GATE, stored(scene))
    scene.queue.sent.clear()
    hour = 3_600
    scene.run(hour)
    assert len(scene.queue.sent) <= hour * 1_000 // GUARD_MS + 1
    assert {each.purpose for each in scene.sent("guard")} == {"guard"}
    assert scene.sent("baton") == []
    scene.give_back("runs")
    scene.gates().call(GATE, stored(scene))
    scene.run(60)
    assert scene.entries() == []
