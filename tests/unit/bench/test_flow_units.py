"""What the flow benchmarks stand on: a queue of messages that counts, and a clock to move."""

from infra.bench.clock import AheadClock, HandClock
from infra.bench.meter import CountedSqs, Meter


def test_each_message_is_a_request_and_is_received_alone_when_its_delay_is_over() -> None:
    clock, meter = HandClock(1_000), Meter()
    queue = CountedSqs(clock, meter)
    for body in ("now", "too"):
        queue.send_message(QueueUrl="flow", MessageBody=body, DelaySeconds=0)
    queue.send_message(QueueUrl="flow", MessageBody="later", DelaySeconds=2)

    received = [[each.body for each in queue.receive(1)] for _ in range(3)]
    clock.wait_until(3_000)

    assert received == [["now"], ["too"], []]
    assert [each.body for each in queue.receive(1)] == ["later"]
    assert meter.usage.sqs == 3 + 4


def test_a_clock_that_was_moved_goes_on_from_there_and_never_back() -> None:
    clock = AheadClock()
    before = clock.now()

    clock.move_to(before + 600_000)
    moved = clock.now()
    clock.move_to(before)

    assert moved >= before + 600_000
    assert clock.now() >= moved
