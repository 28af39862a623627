"""Of the attempts at one trigger, one at a time does the work, whatever ends it."""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from sweephand_client.receive import ACCEPTED, Receiver, Run
from sweephand_client.receive.stores import MemoryStore
from sweephand_engine.testing import Delivery, Stack
from sweephand_engine.testing.applications import Reply

ONCE: dict[str, Any] = {"dueTime": "1s"}


@pytest.fixture
def delivery(stack: Stack) -> Callable[..., Delivery]:
    """A delivery of the job `pay` that its consumer has not answered yet."""

    def made(**fields: Any) -> Delivery:
        stack.deliver_to(lambda _: 202)
        stack.put_job("pay", **ONCE, **fields)
        stack.travel("2s")
        return stack.deliveries[-1]

    return made


def receiver_of(stack: Stack, store: Any = None, **options: Any) -> Receiver:
    return Receiver(store=store, client=stack.client, **options)


def answered(receiver: Receiver, delivery: Delivery) -> int:
    return receiver.respond(delivery.headers, delivery.body).status


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
def test_what_ends_a_process_leaves_the_work_to_the_next_attempt(
    stack: Stack, delivery: Callable[..., Delivery], error: BaseException
) -> None:
    sent, seen = delivery(), list[int]()
    receiver = receiver_of(stack)

    @receiver.on("pay")
    def pay(run: Run) -> None:
        seen.append(run.attempt)
        if len(seen) == 1:
            raise error

    with pytest.raises(type(error)):
        receiver.respond(sent.headers, sent.body)
    assert answered(receiver, sent) == 204
    assert len(seen) == 2


def test_a_loop_that_ends_leaves_the_work_to_the_next_attempt(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    sent, seen = delivery(), list[int]()
    receiver = receiver_of(stack)

    @receiver.on("pay")
    async def pay(run: Run) -> None:
        seen.append(run.attempt)
        if len(seen) == 1:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(receiver.respond_async(sent.headers, sent.body))
    assert answered(receiver, sent) == 204
    assert len(seen) == 2


def test_a_client_that_disconnects_does_not_end_the_work(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    sent, done = delivery(), list[str]()
    receiver = receiver_of(stack)

    async def scenario() -> int:
        begun, may_end = asyncio.Event(), asyncio.Event()

        @receiver.on("pay")
        async def pay(run: Run) -> None:
            begun.set()
            await may_end.wait()
            done.append(run.job)

        request = asyncio.create_task(receiver.respond_async(sent.headers, sent.body))
        await begun.wait()
        request.cancel()
        await asyncio.wait([request])
        may_end.set()
        for _ in range(1_000):
            if done and (status := answered(receiver, sent)) != 503:
                return status
            await asyncio.sleep(0.001)
        return 503

    assert asyncio.run(scenario()) == 204
    assert done == ["pay"]


def test_a_late_failure_does_not_end_the_claim_of_another_attempt(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    sent, now, seen = delivery(), [stack.now.timestamp()], list[int]()
    receiver = receiver_of(stack, lease=dt.timedelta(seconds=60), now=lambda: now[0])

    @receiver.on("pay")
    def pay(_: Run) -> None:
        seen.append(len(seen) + 1)
        if len(seen) == 1:
            now[0] += 61  # The lease is over, so the next attempt does the work, and then this one fails.
            assert answered(receiver, sent) == 204
            raise OSError("no")

    assert answered(receiver, sent) == 500
    assert answered(receiver, sent) == 204
    assert seen == [1, 2], "the second attempt has done the work"


def test_a_duplicate_comes_again_when_the_lease_of_a_crashed_process_is_over(
    stack: Stack, receiver: Receiver
) -> None:
    """A job with few attempts must not use them up while the claim of a crashed process stands."""
    seen: list[int] = []
    receiver.on("pay")(lambda run: seen.append(run.attempt))

    def crashes(delivery: Delivery) -> Reply:
        if delivery.attempt == 1:
            receiver.begin(delivery.headers, delivery.body)
            raise ConnectionResetError
        return Reply(*receiver.respond(delivery.headers, delivery.body))

    stack.deliver_to(crashes)
    stack.put_job("pay", **ONCE, retry={"maxAttempts": 3, "initialDelay": "1s"})
    stack.travel("1h")
    assert seen == [3]
    assert stack.runs("pay")[0].state == "succeeded"


class Failing(MemoryStore):
    """A store whose named calls fail."""

    def __init__(self, *calls: str) -> None:
        super().__init__()
        self.calls = calls

    def set(self, key: str, value: str, timeout: int) -> None:
        if "set" in self.calls:
            raise ConnectionError("the store is down")
        super().set(key, value, timeout)

    def delete(self, key: str) -> None:
        if "delete" in self.calls:
            raise ConnectionError("the store is down")
        super().delete(key)

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("completion", ["sync", "async"])
def test_work_that_the_store_cannot_keep_is_done_all_the_same(
    stack: Stack, delivery: Callable[..., Delivery], completion: str
) -> None:
    sent = delivery(completion=completion)
    receiver = receiver_of(stack, Failing("set"))
    receiver.on("pay")(lambda run: None if run.token is None else ACCEPTED)
    assert answered(receiver, sent) == (204 if completion == "sync" else 202)


def test_a_claim_that_cannot_be_ended_ends_with_its_lease(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    sent = delivery()
    receiver = receiver_of(stack, Failing("delete"))

    @receiver.on("pay")
    def pay(_: Run) -> None:
        raise OSError("no")

    assert answered(receiver, sent) == 500
    assert answered(receiver, sent) == 503
    stack.travel("4m")
    assert answered(receiver, sent) == 503


def test_a_store_is_used_though_it_counts_as_false(stack: Stack) -> None:
    store = Failing()
    assert receiver_of(stack, store)._store is store


def test_a_duplicate_of_an_asynchronous_attempt_does_not_fail_it(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    """Both copies have one token. After a 503, the stack would refuse the callbacks of the first copy."""
    sent = delivery(completion="async")
    receiver, statuses = receiver_of(stack), list[int]()

    @receiver.on("pay")
    def pay(_: Run) -> str:
        statuses.append(answered(receiver, sent))
        return "paid"

    assert answered(receiver, sent) == 202
    assert statuses == [202]
    assert stack.runs("pay")[0].answer["result"] == "paid"


@pytest.mark.parametrize("completion", ["sync", "async"])
def test_a_redriven_run_is_done_again(stack: Stack, receiver: Receiver, completion: str) -> None:
    seen: list[int] = []

    @receiver.on("pay")
    def pay(run: Run) -> object:
        seen.append(run.attempt)
        if run.token is not None:
            return ACCEPTED if run.attempt == 1 else "paid"
        if run.attempt == 1:
            raise OSError("no")
        return None

    stack.put_job("pay", **ONCE, completion=completion, retry={"maxAttempts": 1})
    stack.travel("10m")
    [run] = stack.runs("pay")
    assert run.state == "failed"
    stack.client.runs.redrive("default", "pay", run.id)
    stack.travel("1m")
    assert seen == [1, 2]
    assert stack.runs("pay")[0].state == "succeeded"


def test_an_error_after_the_last_callback_changes_nothing(
    stack: Stack, delivery: Callable[..., Delivery]
) -> None:
    sent, seen = delivery(completion="async"), list[int]()
    receiver = receiver_of(stack)

    @receiver.on("pay")
    def pay(run: Run) -> None:
        seen.append(run.attempt)
        run.complete("paid")
        raise OSError("The temporary file cannot be deleted.")

    assert answered(receiver, sent) == 202
    assert answered(receiver, sent) == 202
    assert seen == [1]
