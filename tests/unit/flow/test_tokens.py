"""The tokens of a rate that one function has taken, while its threads use them (flow/tokens.py)."""

from tests.contract.builders import NOON
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.flow_memory import MemoryGates

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import TOKEN_LEAD_MS
from sweephand.flow.tokens import Tokens, buckets_of, next_token_at
from sweephand.model.gate import GateName
from sweephand.model.policy import PolicyKey, Rate, RateBucket

KEY = PolicyKey("default", "mailer")
GATE = GateName(KEY, 0)
#: Its slots lie 210 ms apart, and each is open for 50 ms.
FIVE_A_SECOND = Rate(5, SECOND_MS)


class Meeting(MemoryGates):
    """A store at which something else happens while a bucket is moved."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile = nothing

    def move_bucket(self, name: GateName, bucket: RateBucket, seen: RateBucket) -> bool:
        self.meanwhile()
        return super().move_bucket(name, bucket, seen)


def nothing() -> None:
    """Nothing else happens."""


def taken(clock: HandClock, store: MemoryGates) -> Tokens:
    return Tokens(GATE, store=store, clock=clock, ids=CountingIds())


def test_the_buckets_of_a_rate_have_the_whole_rate_and_none_shrinks_when_it_grows() -> None:
    before: list[int] = []
    for limit in range(1, 1_300):
        limits = [each.limit for each in buckets_of(Rate(limit, SECOND_MS))]
        assert sum(limits) == limit
        assert max(limits) <= 300
        assert all(now >= then for now, then in zip(limits, before, strict=False))
        before = limits
    assert len(buckets_of(Rate(10_000, MINUTE_MS))) == 1


def test_a_look_at_the_next_token_uses_none_up() -> None:
    clock, store = HandClock(), Meeting()
    tokens = taken(clock, store)
    assert tokens.take_more(FIVE_A_SECOND, 2)
    clock.time = NOON + 100
    assert tokens.next_at() is not None
    # The clock of a machine may be set back.
    clock.time = NOON
    token = tokens.take()
    assert token is not None
    assert token.opens_at == NOON


def test_a_token_is_taken_only_shortly_before_its_slot() -> None:
    clock = HandClock()
    tokens = taken(clock, MemoryGates())
    assert tokens.take_more(FIVE_A_SECOND, 5)
    assert [tokens.take() is not None for _ in range(3)] == [True, True, False]
    assert tokens.next_at() == NOON + 420 - TOKEN_LEAD_MS
    clock.time = NOON + 420 - TOKEN_LEAD_MS
    assert tokens.take() is not None


def test_a_token_that_is_given_back_while_more_are_taken_is_used_once() -> None:
    clock, store = HandClock(), Meeting()
    tokens = taken(clock, store)
    assert tokens.take_more(FIVE_A_SECOND, 1)
    first = tokens.take()
    assert first is not None
    store.meanwhile = lambda: tokens.give_back(first)
    assert tokens.take_more(FIVE_A_SECOND, 1)
    assert tokens.take() == first
    second = tokens.take()
    assert second is not None
    assert second.opens_at == NOON + 210
    assert tokens.take() is None


def test_a_token_whose_slot_has_passed_is_lost() -> None:
    clock, store = HandClock(), Meeting()
    tokens = taken(clock, store)
    assert tokens.take_more(Rate(5, MINUTE_MS), 1)
    token = tokens.take()
    assert token is not None
    clock.time = token.closes_at + 1
    tokens.give_back(token)
    assert tokens.next_at() is None
    assert tokens.take() is None


def test_two_functions_never_take_one_token() -> None:
    clock, store = HandClock(), Meeting()
    ids = CountingIds()
    mine, yours = (Tokens(GATE, store=store, clock=clock, ids=ids) for _ in range(2))

    def first() -> None:
        store.meanwhile = nothing
        assert yours.take_more(FIVE_A_SECOND, 1)

    store.meanwhile = first
    assert mine.take_more(FIVE_A_SECOND, 1)
    both = [mine.take(), yours.take()]
    assert [each.opens_at - NOON for each in both if each is not None] == [210, 0]


def test_a_function_finds_the_tokens_of_any_bucket_and_is_told_when_there_are_none() -> None:
    clock, store, rate = HandClock(), MemoryGates(), Rate(600, SECOND_MS)
    assert len(buckets_of(rate)) == 2
    assert store.move_bucket(GateName(KEY, 1), RateBucket((NOON + 90_000) * 1_000, "other", 0), RateBucket())
    assert taken(clock, store).take_more(rate, 10)
    assert next_token_at(GATE, rate, store, NOON) == NOON
    seen = store.bucket(GateName(KEY, 0))
    assert store.move_bucket(GateName(KEY, 0), RateBucket((NOON + 60_000) * 1_000, "another", 0), seen)
    assert not taken(clock, store).take_more(rate, 10)
    assert next_token_at(GATE, rate, store, NOON) == NOON + 60_000 - TOKEN_LEAD_MS
