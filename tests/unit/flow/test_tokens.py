"""The tokens of a rate that one function has taken, while its threads use them (flow/tokens.py)."""

from tests.contract.builders import NOON
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.flow_memory import MemoryGates
from tests.unit.flow.scene import spend_until

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import TOKEN_LEAD_MS
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.tokens import Tokens, next_token_at
from sweephand.model.gate import Changed, Gate, GateChange, GateName, Holder
from sweephand.model.policy import PolicyKey, Rate, buckets_of

KEY = PolicyKey("default", "mailer")
GATE = GateName(KEY, 0)
#: Its slots lie 210 ms apart, and each is open for 50 ms. The first one comes 100 ms after a quiet time.
FIVE_A_SECOND = Rate(5, SECOND_MS)
FIRST = NOON + 100


class Meeting(MemoryGates):
    """A store that counts writes, and at which something else happens before each."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile = nothing
        self.writes = 0

    def change(self, name: GateName, change: GateChange) -> Changed:
        self.writes += 1
        self.meanwhile()
        return super().change(name, change)


def nothing() -> None:
    """Nothing else happens."""


def taken(clock: HandClock, store: MemoryGates, ids: CountingIds | None = None) -> Tokens:
    """A function that has slots and no tokens."""
    gate = Gate(1, {"mine": Holder(1, NOON + 180_000)})
    slots = HeldSlots(GATE, "mine", gate, store=store, clock=clock)
    return Tokens(slots, store=store, clock=clock, ids=ids or CountingIds())


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
    clock.time = FIRST + 100
    assert tokens.next_at() is not None
    # The clock of a machine may be set back.
    clock.time = NOON
    token = tokens.take()
    assert token is not None
    assert token.opens_at == FIRST


def test_a_token_is_taken_only_shortly_before_its_slot() -> None:
    clock = HandClock()
    tokens = taken(clock, MemoryGates())
    assert tokens.take_more(FIVE_A_SECOND, 5)
    assert [tokens.take() is not None for _ in range(2)] == [True, False]
    assert tokens.next_at() == FIRST + 210 - TOKEN_LEAD_MS
    clock.time = FIRST + 210 - TOKEN_LEAD_MS
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
    clock.time = FIRST
    second = tokens.take()
    assert second is not None
    assert second.opens_at == FIRST + 210
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
    mine, yours = (taken(clock, store, ids) for _ in range(2))

    def first() -> None:
        store.meanwhile = nothing
        assert yours.take_more(FIVE_A_SECOND, 1)

    store.meanwhile = first
    assert mine.take_more(FIVE_A_SECOND, 1)
    clock.time = FIRST
    both = [mine.take(), yours.take()]
    assert [each.opens_at - FIRST for each in both if each is not None] == [210, 0]


def test_tokens_of_a_rate_cost_one_write_also_while_other_functions_take_some() -> None:
    clock, store, rate = HandClock(), Meeting(), Rate(300, SECOND_MS)
    functions = [taken(clock, store) for _ in range(4)]
    for _ in range(20):
        for each in functions:
            assert each.take_more(rate, 3)
            clock.time += 10
            while each.take():
                pass
    # The first function finds a quiet bucket, and each other one is wrong once.
    assert store.writes == 4 * 20 + 3
    opened_us = store.get(GATE).last_us - FIRST * 1_000
    assert opened_us == (4 * 20 * 3 - 1) * 3_500, "no slot was lost"


def test_a_function_finds_the_tokens_of_any_bucket_and_is_told_when_there_are_none() -> None:
    clock, store, rate = HandClock(), MemoryGates(), Rate(600, SECOND_MS)
    [first, second] = buckets_of(rate)
    spend_until(store, GateName(KEY, 1), second, NOON + 90_000)
    assert taken(clock, store).take_more(rate, 10)
    assert next_token_at(GATE, rate, store, NOON, None) == NOON
    spend_until(store, GATE, first, NOON + 60_000)
    assert not taken(clock, store).take_more(rate, 10)
    assert next_token_at(GATE, rate, store, NOON, None) == NOON + 60_000 - TOKEN_LEAD_MS
    assert next_token_at(GATE, rate, store, NOON, Gate()) == NOON, "the gate was seen a moment ago"
