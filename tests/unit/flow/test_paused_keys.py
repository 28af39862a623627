"""The guard of a paused key rests, and the resume wakes the key."""

from dataclasses import replace

from tests.contract.builders import NOON
from tests.unit.flow.scene import KEY, Flow, flow, stored, triggers
from tests.unit.flow.test_keys import (
    ACME,
    CHANGE,
    GUARD,
    MESSAGE,
    enqueue,
    guarded,
    keyed,
    listed,
    of,
)

from sweephand.model.gate import WaitingGate


def paused(scene: Flow, since: int | None = NOON) -> Flow:
    """Pause the policy, or resume it, without a message."""
    before = stored(scene)
    version = scene.ids.token()
    assert scene.policies.put(replace(before, paused_at=since, version=version), before.version)
    return scene


def test_the_guard_of_a_paused_key_rests() -> None:
    scene = paused(guarded(is_listed=None))
    assert scene.handle(MESSAGE) == "rests"
    assert not scene.queue.sent
    assert listed(scene) == (WaitingGate(ACME, GUARD),)
    assert scene.store.get(ACME).guard == GUARD


def test_a_key_without_entries_is_not_listed_during_a_pause() -> None:
    scene = paused(guarded(entries=0))
    assert scene.handle(MESSAGE) == "empty"
    assert listed(scene) == ()


def test_paused_keys_cost_nothing_while_they_wait() -> None:
    scene = paused(keyed())
    enqueue(scene, *of("acme", 3), *of("zulu", 2))
    scene.run(1_000)
    scene.queue.sent.clear()
    calls: list[str] = []
    scene.announce = calls.append
    scene.run(100_000)
    assert not scene.queue.sent
    assert not calls
    assert len(listed(scene)) == 2


def test_a_resume_wakes_each_key_whose_guard_rests() -> None:
    scene = paused(keyed())
    enqueue(scene, *of("acme", 3), *of("zulu", 2))
    scene.run(1_000)
    paused(scene, None)
    scene.handle(CHANGE)
    scene.run(20)
    assert len(scene.delivered) == 5
    scene.run(1_000)
    assert listed(scene) == ()


def test_a_policy_without_by_keeps_its_guards_during_a_pause() -> None:
    scene = paused(flow(1))
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    [guard] = scene.sent("guard")
    scene.clock.time = guard.not_before
    assert scene.handle(guard) == "forwarded"
    assert len(scene.sent("guard")) == 2
