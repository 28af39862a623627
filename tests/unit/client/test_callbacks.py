"""The client's callbacks prove the consumer by the token of its attempt, or by the key of the client."""

from collections.abc import Iterator

import pytest

from sweephand_client.api.client import Client
from sweephand_client.http.errors import GoneError
from sweephand_client.http.transport import Transport
from sweephand_engine.local_client import URL
from sweephand_engine.testing import Stack


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A stack whose run `import` its consumer has accepted."""
    with Stack() as stack:
        stack.deliver_to(lambda _: 202)
        stack.put_job("import", dueTime="1s", completion="async", heartbeatTimeout="5m", maxRunTime="1h")
        stack.travel("10s")
        yield stack


def token_of(stack: Stack) -> str:
    return stack.deliveries[-1].headers["sweephand-run-token"]


def client_without_a_key(stack: Stack) -> Client:
    return Client(URL, transport=Transport(URL, None, pool=stack.client._transport._pool))


def test_a_token_alone_proves_the_consumer(stack: Stack) -> None:
    [run] = stack.runs("import")
    client, token = client_without_a_key(stack), token_of(stack)

    beat = client.runs.heartbeat("default", "import", run.id, token=token)
    assert (beat["state"], beat["heartbeatBy"]) == ("running", "2026-01-05T09:05:10.000Z")
    assert client.runs.complete("default", "import", run.id, {"rows": 7}, token=token)["state"] == "succeeded"
    assert stack.runs("import")[0].answer["result"] == {"rows": 7}


def test_a_key_proves_the_consumer_too(stack: Stack) -> None:
    [run] = stack.runs("import")
    stack.client.runs.complete("default", "import", run.id)
    assert stack.runs("import")[0].state == "succeeded"


def test_a_wrong_token_is_refused_although_the_client_has_a_key(stack: Stack) -> None:
    [run] = stack.runs("import")
    with pytest.raises(GoneError):
        stack.client.runs.complete("default", "import", run.id, token=token_of(stack).lower())


def test_a_failed_attempt_is_tried_again_or_given_up(stack: Stack) -> None:
    [run] = stack.runs("import")
    first = token_of(stack)
    stack.client.runs.fail("default", "import", run.id, "The file is not there yet.", token=first)
    stack.travel("2m")
    assert len(stack.deliveries) == 2

    stack.client.runs.fail("default", "import", run.id, "No such file.", retry=False, token=token_of(stack))
    stack.travel("1h")
    [run] = stack.runs("import")
    assert (run.state, run.attempts, run.reason) == ("failed", 2, "Attempt 2 failed for good: No such file.")
    with pytest.raises(GoneError):
        stack.client.runs.heartbeat("default", "import", run.id, token=first)
