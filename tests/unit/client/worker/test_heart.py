"""Heartbeats keep a run this worker's, and its message is held until the first one is accepted."""

import threading
from typing import Any

import pytest
from tests.unit.client.worker.conftest import GONE, LOST, Held, Stack, run_of

from sweephand_client.http.errors import ForbiddenError, InputError, Problem, TooManyError
from sweephand_client.worker.heart import Beats, Heart


@pytest.mark.parametrize(
    ("left_s", "next_at"), [(120.0, 140.0), (300.0, 160.0), (3.0, 101.0), (0.3, 100.5), (-5.0, 100.5)]
)
def test_a_heartbeat_is_sent_three_times_in_its_time_and_each_minute(left_s: float, next_at: float) -> None:
    beats = Beats(0.0)
    beats.accepted(100.0, left_s)
    assert (beats.next_at, beats.lost_at) == (next_at, 100.0 + left_s)
    assert not beats.is_lost(99.0 + min(left_s, 0))
    assert beats.is_lost(100.0 + left_s)


def test_what_does_not_get_through_is_sent_again_and_loses_nothing_by_itself() -> None:
    beats = Beats(0.0)
    seen = []
    for _ in range(6):
        beats.unanswered(50.0)
        seen.append(beats.next_at)
    assert seen == [51.0, 52.0, 54.0, 58.0, 65.0, 65.0]
    assert not beats.is_lost(1e9)
    beats.accepted(60.0, None)
    assert (beats.next_at, beats.is_lost(1e9)) == (60.25, False)


def heart(stack: Stack, held: Held, log: list[str], **options: Any) -> Heart:
    changed: Any = lambda: log.append("changed")  # noqa: E731
    return Heart(run_of(), held, stack.client, changed=changed, say=log.append, **options)


def test_the_message_is_held_until_the_stack_watches_over_the_run(stack: Stack) -> None:
    held, log = Held(), list[str]()
    tried = heart(stack, held, log, now=lambda: 100.0)
    stack.answers.extend([LOST, TooManyError(Problem(429, "", "Later.")), {"state": "claimed"}])
    for _ in range(3):
        tried.beat()
        assert (tried.is_taken, held.seen) == (False, [])
    tried.beat()
    assert (tried.is_taken, held.seen, log[-1]) == (True, ["keep"], "changed")
    tried.beat()
    assert held.seen == ["keep"]
    assert tried.beats.next_at == 160.0


def test_a_run_that_is_over_is_refused_and_its_message_is_not_needed(stack: Stack) -> None:
    held, log = Held(), list[str]()
    tried = heart(stack, held, log)
    stack.answers.append(GONE)
    tried.beat()
    assert (tried.refusal, held.seen, log) == ("The run is cancelled: stop.", ["keep"], ["changed"])


def test_a_delivery_that_no_stack_accepts_goes_back_in_the_end(stack: Stack) -> None:
    held, instants = Held(), iter(range(0, 10_000, 100))
    refused = threading.Event()
    stack.answers.extend([LOST] * 100)
    with Heart(
        run_of(),
        held,
        stack.client,
        changed=refused.set,
        say=lambda _: None,
        now=lambda: next(instants),
    ) as tried:
        assert refused.wait(60)
    assert tried.refusal == "no heartbeat was accepted within 600 s"
    assert held.seen[-1] == "put back"


def test_another_refusal_is_no_reason_to_give_up_a_run(stack: Stack) -> None:
    held, log = Held(), list[str]()
    tried = heart(stack, held, log)
    stack.answers.append(ForbiddenError(Problem(403, "", "A proxy says no.")))
    tried.beat()
    assert (tried.refusal, held.seen) == (None, [])
    assert "A proxy says no." in log[0]


def test_names_that_no_stack_has_stay_in_the_queue(stack: Stack) -> None:
    held, log = Held(), list[str]()
    stack.answers.append(InputError("'../x' is no name."))
    tried = heart(stack, held, log)
    tried.beat()
    assert tried.refusal == "this is no delivery of Sweephand: '../x' is no name."
    assert held.seen == []


def test_a_run_whose_heartbeats_do_not_get_through_in_time_is_lost(stack: Stack) -> None:
    stack.left_s = 0.5
    lost = threading.Event()
    taken = threading.Event()
    tried = Heart(
        run_of(),
        Held(),
        stack.client,
        changed=lambda: (lost if tried.refusal else taken).set(),  # noqa: PLW0108 - it changes
        say=lambda _: None,
    )
    with tried:
        assert taken.wait(60)
        stack.answers.extend([LOST] * 1_000)
        assert lost.wait(60)
    assert tried.refusal is not None
    assert "tried elsewhere" in tried.refusal


def test_a_message_without_a_token_is_held_until_the_end() -> None:
    held = Held()
    held.extend_s = 0.01
    extended = threading.Event()
    held.extend = extended.set  # type: ignore[method-assign]
    with Heart(run_of(token=None), held, Stack().client, changed=lambda: None, say=lambda _: None) as tried:
        assert tried.is_taken
        assert extended.wait(60)
    assert held.seen == []


def test_heartbeats_that_fail_by_a_mistake_stop_the_command(stack: Stack) -> None:
    stack.answers.append({"heartbeatBy": 7, "answeredAt": 7})
    stopped = threading.Event()
    with Heart(run_of(), Held(), stack.client, changed=stopped.set, say=lambda _: None) as tried:
        assert stopped.wait(60)
    assert tried.refusal is not None
    assert tried.refusal.startswith("the heartbeats failed: ")
