"""A queue of SQS in memory: delays, visibility, receives, and what a journal brings back."""

import threading
from pathlib import Path

import pytest
from tests.fakes.doubles import HandClock

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.stack_queues import SqsStackQueues
from sweephand.targets.reach import NO_QUEUE
from sweephand_engine.journal import FileJournal
from sweephand_engine.sqs.client import MemorySqs
from sweephand_engine.sqs.queue import MemoryQueue

VISIBILITY_MS = 180 * SECOND_MS


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def queue(clock: HandClock) -> MemoryQueue:
    return MemoryQueue("queue", clock.now, VISIBILITY_MS)


def send(queue: MemoryQueue, *bodies: str, delay_s: int = 0) -> None:
    queue.send([{"Id": "0", "MessageBody": body, "DelaySeconds": delay_s} for body in bodies])


def bodies(queue: MemoryQueue) -> list[str]:
    return [each.body for each in queue.receive()]


def test_a_message_is_visible_when_its_delay_is_over(queue: MemoryQueue, clock: HandClock) -> None:
    send(queue, "later", delay_s=2)
    send(queue, "now")

    assert bodies(queue) == ["now"]
    clock.time += 2 * SECOND_MS - 1
    assert bodies(queue) == []
    clock.time += 1
    assert bodies(queue) == ["later"]


def test_a_received_message_comes_again_after_its_visibility_time_out(
    queue: MemoryQueue, clock: HandClock
) -> None:
    send(queue, "a")

    [first] = queue.receive()
    clock.time += VISIBILITY_MS - 1
    assert queue.receive() == []
    clock.time += 1
    [second] = queue.receive()

    assert [first.receives, second.receives] == [1, 2]
    assert first.id == second.id


def test_a_deleted_message_does_not_come_again(queue: MemoryQueue, clock: HandClock) -> None:
    send(queue, "a", "b")
    first, second = queue.receive()

    queue.delete([first.receipt, first.receipt])
    clock.time += VISIBILITY_MS

    assert bodies(queue) == [second.body]
    assert len(queue) == 1


def test_messages_are_received_in_the_order_in_which_they_become_visible(
    queue: MemoryQueue, clock: HandClock
) -> None:
    for delay_s in (3, 1, 2):
        send(queue, str(delay_s), delay_s=delay_s)
    clock.time += 3 * SECOND_MS

    assert [each.body for each in queue.receive(2)] == ["1", "2"]
    assert bodies(queue) == ["3"]


def test_messages_older_than_their_retention_are_removed(queue: MemoryQueue, clock: HandClock) -> None:
    send(queue, "old")
    clock.time += 10
    send(queue, "new")

    queue.expire(clock.time)

    assert bodies(queue) == ["new"]


def test_a_thread_that_waits_gets_a_message_that_comes(queue: MemoryQueue) -> None:
    took: list[str] = []

    def take() -> None:
        while received := queue.take(1):
            took.extend(each.body for each in received)
            if len(took) == 2:
                queue.close()

    thread = threading.Thread(target=take)
    thread.start()
    send(queue, "a")
    send(queue, "b")
    thread.join(timeout=30)

    assert took == ["a", "b"]


def test_messages_that_are_visible_together_are_taken_together(queue: MemoryQueue) -> None:
    send(queue, "a", "b", "c")

    assert [[each.body for each in queue.take(2)] for _ in range(2)] == [["a", "b"], ["c"]]


def test_many_threads_take_each_message_once(queue: MemoryQueue) -> None:
    took: list[str] = []
    expected = [str(number) for number in range(200)]

    def take() -> None:
        while received := queue.take(3):
            queue.delete([each.receipt for each in received])
            took.extend(each.body for each in received)
            if not len(queue):
                queue.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    send(queue, *expected)
    for each in threads:
        each.start()
    for each in threads:
        each.join(timeout=30)

    assert sorted(took, key=int) == expected


def test_a_journal_brings_back_what_was_not_deleted(tmp_path: Path, clock: HandClock) -> None:
    journal = FileJournal(tmp_path / "store", pytest.fail)
    before = MemoryQueue("queue", clock.now, VISIBILITY_MS, journal)
    MemoryQueue("other", clock.now, VISIBILITY_MS, journal).send([{"MessageBody": "of another queue"}])
    send(before, "done", "in flight")
    send(before, "later", delay_s=60)
    done, _ = before.receive()
    before.delete([done.receipt])
    journal.close()

    after = MemoryQueue("queue", clock.now, VISIBILITY_MS, FileJournal(tmp_path / "store", pytest.fail))

    # No process works on the message that was in flight.
    assert receives(after) == {"in flight": 2}
    clock.time += 60 * SECOND_MS
    send(after, "new")
    assert receives(after) == {"later": 1, "new": 1}


def receives(queue: MemoryQueue) -> dict[str, int]:
    return {each.body: each.receives for each in queue.receive()}


def test_each_start_counts_a_message_that_may_have_ended_the_process(
    tmp_path: Path, clock: HandClock
) -> None:
    for start in range(3):
        journal = FileJournal(tmp_path / "store", pytest.fail)
        queue = MemoryQueue("queue", clock.now, VISIBILITY_MS, journal)
        if start == 0:
            send(queue, "poison")
        assert receives(queue) == {"poison": start + 1}
        journal.close()


def test_a_message_that_is_sent_again_keeps_its_group_and_its_attributes(
    queue: MemoryQueue, clock: HandClock
) -> None:
    attributes = {"reason": {"DataType": "String", "StringValue": "lost"}}
    queue.send([{"MessageBody": "a", "MessageGroupId": "ns", "MessageAttributes": attributes}])
    sent_at = clock.time
    sqs = MemorySqs({"url": queue})
    clients = SqsClients(lambda _: sqs)  # type: ignore[arg-type,return-value] # it has the calls that are made
    production = SqsQueue(
        clients, "url", "url", lambda _: None, allow_insecure=True, queues=NO_QUEUE, concurrently=map
    )
    clock.time += 5

    assert SqsStackQueues(clients, production, {"delivery": "url"}).renew("delivery", SECOND_MS) == [sent_at]
    assert queue.receive() == []
    clock.time += SECOND_MS
    [copy] = queue.renewable(10, 60)

    assert copy["Attributes"] == {"SentTimestamp": str(sent_at + 5), "MessageGroupId": "ns"}
    assert copy["MessageAttributes"] == attributes
    assert len(queue) == 1


def test_a_queue_that_does_not_exist_is_an_error_of_the_store(queue: MemoryQueue) -> None:
    sqs = MemorySqs({"url": queue})
    clients = SqsClients(lambda _: sqs)  # type: ignore[arg-type,return-value] # as above
    production = SqsQueue(clients, "gone", "gone", lambda _: None, allow_insecure=True, queues=NO_QUEUE)

    with pytest.raises(StoreError, match="NonExistentQueue"):
        production.send_as_is("gone", [{"MessageBody": "a"}])
