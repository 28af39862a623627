"""Which triggers of a sweep share a bundle: those of one namespace that fall due at about the same time."""

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.doubles import NOON
from tests.fakes.world import World, key_of

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.timer import RetryTimer
from sweephand.model.trigger import BundleMessage, Message, Sendable, Trigger, TriggerMessage
from sweephand.model.wire import encode
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX, bundled

SECOND = 1_000


def message(due_ms: int, name: str = "job", *, namespace: str = "ns") -> TriggerMessage:
    due_at = NOON + due_ms
    return TriggerMessage(Trigger(JobKey(namespace, name), "u", "r", due_at, 1, NOON), due_at)


def dues(sent: Iterable[Sendable]) -> list[list[int]]:
    """The due times of the triggers of each message, in ms after noon."""
    return [[each.not_before - NOON for each in singles(one)] for one in sent]


def singles(sent: Sendable) -> Sequence[TriggerMessage]:
    if isinstance(sent, BundleMessage):
        return sent.triggers
    assert isinstance(sent, TriggerMessage)
    return [sent]


def of(*due_ms: int, span_ms: int = SECOND, now: Instant = NOON) -> list[list[int]]:
    return dues(bundled([message(each) for each in due_ms], span_ms, now))


def test_triggers_that_fall_due_within_the_bundle_span_share_a_bundle_in_the_order_of_their_due_times() -> (
    None
):
    assert of(60_999, 60_000, 60_500, 61_000) == [[60_000, 60_500, 60_999], [61_000]]
    assert of(60_000, 61_999, 62_000, span_ms=2 * SECOND) == [[60_000, 61_999], [62_000]]


def test_a_trigger_that_would_be_alone_stays_a_single_message() -> None:
    assert bundled([message(60_000), message(62_000)], SECOND, NOON) == [message(60_000), message(62_000)]


def test_a_bundle_span_of_0_makes_no_bundles() -> None:
    sent: list[Message] = [message(60_000), message(60_000, "other")]
    assert bundled(sent, 0, NOON) == sent


def test_a_bundle_has_one_namespace() -> None:
    sent = [message(60_000, namespace="a"), message(60_001, namespace="b"), message(60_002, namespace="a")]
    bundle, single = bundled(sent, SECOND, NOON)
    assert bundle == BundleMessage((sent[0], sent[2]))
    assert single == sent[1]


def test_a_bundle_has_at_most_ten_triggers() -> None:
    assert list(map(len, of(*[60_000] * 24))) == [BUNDLE_TRIGGERS_MAX, BUNDLE_TRIGGERS_MAX, 4]


def test_overdue_triggers_share_a_bundle_however_long_ago_they_were_due() -> None:
    late = NOON + 600 * SECOND
    assert of(0, 300_000, 600_500, 600_999, 601_000, now=late) == [[0, 300_000, 600_500, 600_999], [601_000]]


def test_a_message_that_is_not_a_plain_first_attempt_is_sent_alone() -> None:
    retry = message(60_000, "retry")._replace(attempt=2)
    first, second = message(60_000), message(60_001)
    assert bundled([retry, second, first], SECOND, NOON) == [BundleMessage((first, second)), retry]


@given(
    st.lists(st.tuples(st.integers(-600_000, 180_000), st.sampled_from("abc")), max_size=80),
    st.sampled_from([0, 1, SECOND, 2 * SECOND]),
)
def test_nothing_is_lost_or_doubled_and_no_bundle_spans_more_than_it_may(
    drawn: list[tuple[int, str]], span_ms: int
) -> None:
    sent = [message(due_ms, f"job-{number}", namespace=ns) for number, (due_ms, ns) in enumerate(drawn)]
    packed = bundled(sent, span_ms, NOON)
    assert sorted((each for one in packed for each in singles(one)), key=encode) == sorted(sent, key=encode)
    for one in packed:
        triggers = singles(one)
        assert len({each.trigger.key.namespace for each in triggers}) == 1
        begins = [max(each.not_before, NOON) for each in triggers]
        assert begins == sorted(begins)
        assert len(triggers) == 1 or begins[-1] - begins[0] < span_ms
        assert len(triggers) <= BUNDLE_TRIGGERS_MAX


def test_a_sweep_sends_one_message_for_jobs_that_fire_at_the_same_second() -> None:
    world = World(shards=1)
    world.bundle_span_ms = SECOND
    for number in range(3):
        world.put(f"job-{number}", dueTime=f"{400_000 + number * 400}ms")
    world.clock.time = NOON + 300_000
    assert world.sweep().triggers == 3
    ((at, sent),) = world.queue.waiting
    assert dues([sent]) == [[400_000, 400_400, 400_800]]
    # The queue delays it until the first of them is due.
    assert at == NOON + 400_000
    world.run_until(NOON + 410_000, ticking=False)
    assert [each - NOON for each in world.consumers.times] == [400_000, 400_400, 400_800]


def test_a_retry_that_the_wheel_holds_is_sent_alone() -> None:
    world = World(shards=1)
    world.bundle_span_ms = SECOND
    for number in range(2):
        world.put(f"job-{number}", dueTime="400s")
    trigger = Trigger(key_of("job-0"), "u", "r", NOON, 1, NOON)
    world.timers.put([RetryTimer(0, TriggerMessage(trigger, NOON + 400_000, attempt=2))])
    world.clock.time = NOON + 300_000
    world.sweep()
    sent = [message for _, message in world.queue.waiting]
    assert sorted(type(each).__name__ for each in sent) == ["BundleMessage", "TriggerMessage"]
