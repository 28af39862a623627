"""An attempt that may be sent once: its consumer, whose rate allows one request, never receives it twice."""

from time import time

import pytest
from tests.fakes.consumer import Consumer, attempt_of, forgetful
from tests.fakes.doubles import HandClock

from sweephand.delivery.http.targets import HttpTargets


def test_an_attempt_that_may_be_sent_once_fails_where_its_kept_connection_breaks() -> None:
    targets = HttpTargets(HandClock(), allow_insecure=True)
    with Consumer(forgetful) as consumer:
        once = attempt_of(consumer.spec())._replace(sends_once=True)
        assert targets.deliver(once).succeeded
        answer = targets.deliver(once)
        assert (answer.succeeded, answer.was_withdrawn, answer.is_final) == (False, False, False)
        assert len(consumer.requests) == 2
        assert targets.deliver(once).succeeded


def test_an_attempt_that_may_be_sent_once_uses_no_connection_that_may_be_closed_at_its_other_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    targets = HttpTargets(HandClock(), allow_insecure=True)
    with Consumer() as consumer:
        once = attempt_of(consumer.spec())._replace(sends_once=True)
        assert all(targets.deliver(once).succeeded for _ in range(2))
        assert consumer.accepted == 1
        later = time() + 2
        monkeypatch.setattr("sweephand.delivery.http.connections.time", lambda: later)
        assert targets.deliver(once).succeeded
        assert consumer.accepted == 2
