"""A block of work sends heartbeats as often as its run needs, and learns when it has to stop."""

import datetime as dt
from threading import Event
from typing import Any

import pytest

from sweephand_client.http.errors import ConflictError, GoneError, Problem, UnreachableError
from sweephand_client.receive import ACCEPTED, Receiver, Run
from sweephand_client.receive import run as run_module
from sweephand_engine.testing import Stack


@pytest.fixture
def accepted(stack: Stack, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that its consumer has accepted. Its heartbeats come as fast as they can."""
    monkeypatch.setattr(run_module, "_BEAT_SHORTEST_S", 0.001)
    monkeypatch.setattr(run_module, "_BEATS", 1_000_000)
    kept: list[Run] = []

    @receiver.on("convert")
    def convert(run: Run) -> object:
        kept.append(run)
        return ACCEPTED

    stack.put_job("convert", dueTime="1s", completion="async", heartbeatTimeout="5m")
    stack.travel("5s")
    return kept[0]


def test_a_heartbeat_before_the_acceptance_is_soon_followed_by_another_one(
    stack: Stack, receiver: Receiver
) -> None:
    kept: list[tuple[Run, float]] = []

    @receiver.on("convert")
    def convert(run: Run) -> object:
        kept.append((run, run._beat_s()))
        return ACCEPTED

    stack.put_job("convert", dueTime="1s", completion="async", heartbeatTimeout="5m")
    stack.travel("5s")
    [(run, early_s)] = kept
    assert early_s == 2
    assert 95 < run._beat_s() <= 100


def test_a_block_sends_heartbeats_until_its_end(stack: Stack, accepted: Run) -> None:
    with accepted.beating() as must_stop:
        accepted.complete()
        assert must_stop.wait(10), "the next heartbeat is told that the run is over"
    assert stack.runs("convert")[0].state == "succeeded"


def test_a_block_tells_that_its_run_was_cancelled(stack: Stack, accepted: Run) -> None:
    def work() -> None:
        with accepted.beating() as must_stop:
            stack.client.runs.cancel("default", "convert", str(accepted.run_id))
            assert must_stop.wait(10)

    with pytest.raises(GoneError):
        work()


class Callbacks:
    """Answers heartbeats in turn, the last one again and again. It raises an answer that is an error."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.count = 0
        self.has_sent = Event()

    @property
    def runs(self) -> Any:
        return self

    def heartbeat(self, *_: str, token: str) -> Any:
        assert token == "shr_token"
        answer = self.answers[min(self.count, len(self.answers) - 1)]
        self.count += 1
        if self.count >= len(self.answers):
            self.has_sent.set()
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer


def run_with(callbacks: Callbacks) -> Run:
    due_at = dt.datetime(2026, 1, 5, tzinfo=dt.UTC)
    run = Run("a-1", "default", "job", "1", due_at, 1, 1, 0, "trigger", {}, None, "shr_token")
    run.client = lambda: callbacks  # type: ignore[assignment]
    return run


#: The answers before and after the stack has recorded that the consumer has accepted.
EARLY = {"id": "1", "state": "claimed", "attempt": 1}
RUNNING = {
    **EARLY,
    "state": "running",
    "heartbeatBy": "2026-01-05T09:01:00.000Z",
    "answeredAt": "2026-01-05T09:00:00.000Z",
}


def test_heartbeats_before_the_acceptance_are_repeated_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that a handler starts beats before the stack has the answer 202."""
    monkeypatch.setattr(run_module, "_BEAT_AGAIN_S", 0.001)
    callbacks = Callbacks(EARLY, EARLY, EARLY)
    with run_with(callbacks).beating():
        assert callbacks.has_sent.wait(10)


@pytest.mark.parametrize("error", [UnreachableError("https://stack.test", "no"), KeyError("x")])
def test_a_heartbeat_that_does_not_get_through_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(run_module, "_BEAT_AGAIN_S", 0.001)
    callbacks = Callbacks(error, error, error, EARLY)
    with run_with(callbacks).beating() as must_stop:
        assert callbacks.has_sent.wait(10)
        assert not must_stop.is_set()


def test_a_heartbeat_without_an_answer_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_BEAT_AGAIN_S", 0.001)
    monkeypatch.setattr(run_module, "_END_S", 0.001)
    hangs = Event()
    callbacks = Callbacks(EARLY, lambda: {} if hangs.wait(10) else EARLY)
    with run_with(callbacks).beating():
        assert callbacks.has_sent.wait(10)
    assert not hangs.is_set()
    hangs.set()


def test_the_error_of_the_block_goes_before_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_BEAT_AGAIN_S", 0.001)

    def work(error: Exception | None) -> None:
        with run_with(Callbacks(EARLY, ConflictError(Problem(409, "", "late")))).beating() as must_stop:
            assert must_stop.wait(10)
            if error is not None:
                raise error

    with pytest.raises(ConflictError, match="late"):
        work(None)
    with pytest.raises(OSError, match="disk"):
        work(OSError("disk"))


def test_the_clock_of_the_consumer_does_not_matter() -> None:
    """It shows another year than the stack's. A third of a minute is left."""
    assert run_with(Callbacks(RUNNING))._beat_s() == 20


def test_a_run_that_is_over_is_not_begun() -> None:
    with pytest.raises(GoneError), run_with(Callbacks(GoneError(Problem(410, "", "")))).beating():
        pytest.fail("the block does not begin")
