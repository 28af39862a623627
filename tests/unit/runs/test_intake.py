"""The delivery function handles each received message separately, and a failing one delays no other."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World

from sweephand.base.concurrency import Result, one_by_one
from sweephand.base.errors import StoreError
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.definition import CatchUpPolicy
from sweephand.model.job import Job, JobKey
from sweephand.model.trigger import RangeMessage, TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.runs.faults import FAULTS_MAX
from sweephand.runs.intake import ALONE_RESERVE_MS
from sweephand.runs.received import Handled, Received
from sweephand.wheel.arm import Armable, arm

HOUR = 3_600_000


def due(number: int = 3) -> tuple[World, list[Received]]:
    """A world with so many jobs that are due now, and the batch in which the queue shows them."""
    world = World()
    for each in range(number):
        world.put(f"job-{each}", dueTime="10s")
    world.clock.time = NOON + 10_000
    return world, world.queue.take()


def delivered(world: World) -> list[str]:
    return sorted(attempt.trigger.key.name for attempt in world.consumers.attempts)


def outcomes(handled: Sequence[Handled]) -> dict[str, tuple[str, bool]]:
    return {each.received.id: (each.outcome.name, each.is_done) for each in handled}


def spans(world: World) -> Received:
    """A span, received."""
    world.put("span", schedule="@every 20s")
    job = world.stored("span")
    source = Armable(job.key, job.uid, job.rev, job.shard, job.series, CatchUpPolicy())
    world.queue.waiting.clear()
    (span,) = arm(source, after=NOON + 10_000, now=NOON + 10_000, singles_max=5).messages
    world.queue.send([(span, 0)])
    (received,) = world.queue.take()
    return received


def test_a_batch_reads_its_jobs_at_once_and_delivers_each() -> None:
    world, batch = due(5)
    calls = calls_of(world, lambda: world.deliver(batch))
    assert calls.count("before jobs.get_many") == 1
    assert "before jobs.get" not in calls
    assert delivered(world) == [f"job-{each}" for each in range(5)]
    assert not world.queue.in_flight


def test_jobs_of_due_triggers_are_read_before_the_threads_begin() -> None:
    world, batch = due(5)
    calls: list[str] = []
    world.announce = calls.append
    before_threads: list[list[str]] = []

    def concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        before_threads.append([call for call in calls if "get_many" in call])
        return one_by_one(tasks)

    world.intake(concurrently).handle(batch, deadline=NOON + 100_000)
    assert before_threads == [["before jobs.get_many", "after jobs.get_many"]]


def test_two_triggers_of_one_job_need_one_read(world: World) -> None:
    world.put(schedule="@every 10s")
    world.clock.time = NOON + 30_000
    batch = world.queue.take()
    assert len(batch) == 3
    world.deliver(batch)
    assert world.consumers.dues == {NOON + 10_000, NOON + 20_000, NOON + 30_000}


def test_jobs_of_messages_that_will_wait_anyway_are_not_read(world: World) -> None:
    world.put(dueTime="10s")
    world.clock.time = NOON + 10_000
    batch = world.queue.take()
    world.clock.time = NOON + 9_000
    calls = [call for call in calls_of(world, lambda: world.deliver(batch)) if call.startswith("before")]
    assert calls == ["before queue.send"]


def test_a_consumer_that_fails_affects_no_other_attempt() -> None:
    world, batch = due(3)

    def answer(attempt: Attempt) -> Answer:
        if attempt.trigger.key.name == "job-1":
            raise RuntimeError("a target that has a mistake in it")
        return Answer(succeeded=attempt.trigger.key.name == "job-0", code=503)

    world.consumers.answering = answer
    handled = world.deliver(batch)
    assert sorted(each.outcome.name for each in handled) == ["fault", "retrying", "succeeded"]
    assert all(each.is_done for each in handled)
    assert len(world.queue.waiting) == 2


@pytest.mark.parametrize(
    "body", ["", "{", "null", '{"v": 1}', '{"v": 0, "kind": "trigger"}', "\x00", "[" * 100_000]
)
def test_poison_is_buried_with_its_reason_and_the_rest_is_delivered(body: str) -> None:
    world, batch = due(2)
    poison = Received("bad", "bad", 1, body)
    world.queue.in_flight["bad"] = next(iter(world.queue.in_flight.values()))
    handled = world.deliver([batch[0], poison, batch[1]])
    assert outcomes(handled)["bad"] == ("buried", True)
    assert delivered(world) == ["job-0", "job-1"]
    ((letter, url),) = world.queue.buried
    assert (letter.body, url, letter.trigger) == (body, None, None)
    assert letter.reason
    assert not world.queue.in_flight


def test_poison_that_cannot_be_buried_stays_in_the_queue() -> None:
    world, batch = due(1)
    failing(world, "queue.bury")
    handled = world.deliver([*batch, Received("bad", "bad", 1, "garbage")])
    assert outcomes(handled)["bad"] == ("fault", False)
    assert delivered(world) == ["job-0"]


def test_a_message_of_many_receives_is_handled_alone_after_the_others_were_acknowledged() -> None:
    world, batch = due(3)
    suspect = batch[0]._replace(receives=3)
    seen: list[set[str]] = []

    def answer(attempt: Attempt) -> Answer:
        if attempt.trigger.key.name == "job-0":
            seen.append(set(world.queue.in_flight))
        return Answer(succeeded=True, code=200)

    world.consumers.answering = answer
    world.deliver([suspect, *batch[1:]])
    assert seen == [{suspect.receipt}]
    assert world.consumers.attempts[-1].trigger.key.name == "job-0"
    assert not world.queue.in_flight


def test_each_message_of_many_receives_is_acknowledged_before_the_next_one_is_begun() -> None:
    world, batch = due(3)
    left: list[int] = []

    def answer(_: Attempt) -> Answer:
        left.append(len(world.queue.in_flight))
        return Answer(succeeded=True, code=200)

    world.consumers.answering = answer
    world.deliver([each._replace(receives=4) for each in batch])
    assert left == [3, 2, 1]


def test_a_message_that_was_received_twice_is_not_handled_alone_yet() -> None:
    world, batch = due(2)
    calls = calls_of(world, lambda: world.deliver([each._replace(receives=2) for each in batch]))
    assert "before queue.acknowledge" not in calls


def test_a_message_to_be_handled_alone_is_put_back_if_too_little_time_is_left() -> None:
    world, batch = due(2)
    handled = world.intake().handle(
        [batch[0]._replace(receives=3), batch[1]], deadline=world.clock.time + ALONE_RESERVE_MS - 1
    )
    assert outcomes(handled)[batch[0].id] == ("postponed", True)
    assert delivered(world) == ["job-1"]
    world.run_until(NOON + 20_000, ticking=False)
    assert delivered(world) == ["job-0", "job-1"]


def test_a_single_message_of_many_receives_is_handled_at_once() -> None:
    world, batch = due(1)
    calls = calls_of(world, lambda: world.deliver([batch[0]._replace(receives=5)]))
    assert "before queue.acknowledge" not in calls
    assert delivered(world) == ["job-0"]


def test_a_message_handled_alone_that_fails_is_put_back_like_any_other() -> None:
    world, batch = due(2)
    failing(world, "jobs.get")
    handled = world.deliver([batch[0]._replace(receives=3), batch[1]])
    assert outcomes(handled)[batch[0].id] == ("fault", True)
    assert delivered(world) == ["job-1"]
    working(world)
    world.run_until(NOON + 20_000, ticking=False)
    assert delivered(world) == ["job-0", "job-1"]


def test_all_messages_are_put_back_while_a_store_fails_and_delivered_when_it_works_again() -> None:
    world, batch = due(4)
    refuse_reads(world)
    handled = world.deliver(batch)
    assert all(each.outcome.name == "fault" and each.is_done for each in handled)
    assert not world.queue.in_flight
    assert [at - world.clock.time for at, _ in world.queue.waiting] == [1_000] * 4
    del world.jobs.get, world.jobs.get_many
    world.run_until(NOON + 20_000, ticking=False)
    assert delivered(world) == [f"job-{each}" for each in range(4)]


def refuse_reads(world: World, name: str | None = None) -> None:
    """Let reads of all jobs fail, or those of one and every batch that it is in."""
    get, get_many = world.jobs.get, world.jobs.get_many

    def refused_get(key: JobKey) -> Job | None:
        if name in (None, key.name):
            raise StoreError("throttled")
        return get(key)

    def refused_get_many(keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        if name is None or any(key.name == name for key in keys):
            raise StoreError("unprocessed keys")
        return get_many(keys, may_be_stale=may_be_stale)

    world.jobs.get, world.jobs.get_many = refused_get, refused_get_many  # type: ignore[method-assign]


def test_a_job_that_cannot_be_read_affects_no_other_message() -> None:
    world, batch = due(4)
    refuse_reads(world, "job-2")
    handled = world.deliver(batch)
    assert sorted(each.outcome.name for each in handled) == ["fault"] + ["succeeded"] * 3
    assert delivered(world) == ["job-0", "job-1", "job-3"]
    assert [at - world.clock.time for at, _ in world.queue.waiting] == [1_000]


def test_a_message_that_cannot_be_sent_again_stays_in_the_queue() -> None:
    world, batch = due(2)

    def all_fails(announced: str) -> None:
        if announced in ("before jobs.get_many", "before jobs.get", "before queue.send"):
            raise ConnectionError("no network")

    world.announce = all_fails
    handled = world.deliver(batch)
    assert [each.is_done for each in handled] == [False, False]
    assert len(world.queue.in_flight) == 2
    working(world)
    world.queue.reappear()
    world.run_until(NOON + 20_000, ticking=False)
    assert delivered(world) == ["job-0", "job-1"]


def faults_of(world: World, received: Received) -> list[int]:
    """The delays in ms after which a message comes back for as long as handling it fails, to its burial."""
    delays: list[int] = []
    while not world.queue.buried:
        world.deliver([received])
        if world.queue.waiting:
            ((at, _),) = world.queue.waiting
            delays.append(at - world.clock.time)
            world.clock.time = at
            (received,) = world.queue.take()
        assert len(delays) <= FAULTS_MAX, "it never ends"
    return delays


@pytest.mark.parametrize("is_span", [False, True], ids=["trigger", "span"])
def test_a_message_that_fails_for_half_a_day_becomes_a_dead_letter_by_growing_delays(
    *, is_span: bool
) -> None:
    world, batch = due(1)
    received = spans(world) if is_span else batch[0]
    world.announce = refusing(is_span=is_span)
    delays = faults_of(world, received)
    assert delays[:11] == [1_000 * 2**each for each in range(10)] + [900_000]
    assert 10 * HOUR < sum(delays) < 16 * HOUR
    ((letter, url),) = world.queue.buried
    assert url is None
    assert f"failed to handle it {FAULTS_MAX + 1} times" in letter.reason
    assert "as the test asks" in letter.reason
    again = decode(letter.body)
    if is_span:
        assert isinstance(again, RangeMessage)
        assert letter.trigger is None
    else:
        assert isinstance(again, TriggerMessage)
        assert (letter.trigger, letter.attempts) == (again.trigger, 0)


def refusing(*, is_span: bool) -> Callable[[str], None]:
    """An announcer with which every handling fails: jobs cannot be read, or the parts of a range not sent."""
    sends = 0

    def announce(announced: str) -> None:
        nonlocal sends
        sends += announced == "before queue.send"
        # A span is sent back by the same queue that did not take its parts: every other call.
        refused = (
            announced == "before queue.send" and sends % 2 == 1
            if is_span
            else announced.startswith("before jobs.")
        )
        if refused:
            raise RuntimeError("refused, as the test asks")

    return announce


def test_faults_count_for_one_attempt_and_not_for_the_next() -> None:
    world, batch = due(1)
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    message = decode(batch[0].body)
    assert isinstance(message, TriggerMessage)
    world.deliver([batch[0]._replace(body=encode(message._replace(faults=7)))])
    ((_, following),) = world.queue.waiting
    assert isinstance(following, TriggerMessage)
    assert (following.attempt, following.faults) == (2, 0)


def test_early_and_due_messages_share_a_batch(world: World) -> None:
    world.put("now", dueTime="0s")
    world.put("later", dueTime="100s")
    world.queue.waiting = [(NOON, message) for _, message in world.queue.waiting]
    handled = world.deliver(world.queue.take())
    assert sorted(each.outcome.name for each in handled) == ["early", "succeeded"]
    assert [at for at, _ in world.queue.waiting] == [NOON + 100_000]


def test_a_slow_consumer_delays_no_other_delivery_or_read_of_jobs() -> None:
    world, batch = due(10)
    world.put("late", dueTime="10s")

    def slow(attempt: Attempt) -> Answer:
        world.clock.time += 5_000
        return Answer(succeeded=True, code=200, text=attempt.trigger.key.name)

    world.consumers.answering = slow
    world.delete("job-9")
    # One after the other, the last would be delivered by a job that was read 45 s ago.
    handled = world.deliver(batch)
    assert len(handled) == 10
    assert delivered(world) == [f"job-{each}" for each in range(9)]


def test_a_batch_may_be_handled_by_threads() -> None:
    world, batch = due(10)

    def threads(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        with ThreadPoolExecutor(10) as pool:
            return list(pool.map(lambda task: task(), tasks))

    handled = world.intake(threads).handle(batch, deadline=world.clock.time + 90_000)
    assert sorted(each.received.id for each in handled) == sorted(each.id for each in batch)
    assert len(delivered(world)) == 10
