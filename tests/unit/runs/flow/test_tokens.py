"""The tokens of a rate that one worker has taken, while several of its threads use them."""

from tests.contract.builders import NOON
from tests.fakes.doubles import HandClock
from tests.fakes.flow_memory import MemoryPermits

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.policy import PolicyKey, Rate, RateBucket
from sweephand.runs.flow.line_taken import nothing
from sweephand.runs.flow.tokens import Tokens

KEY = PolicyKey("default", "mailer")
#: Its slots lie 210 ms apart, and each is open for 50 ms.
FIVE_A_SECOND = Rate(5, SECOND_MS)


class Meeting(MemoryPermits):
    """A bucket at which something else happens while it is moved."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile = nothing

    def move_bucket(self, key: PolicyKey, bucket: RateBucket, seen: RateBucket) -> bool:
        self.meanwhile()
        return super().move_bucket(key, bucket, seen)


def taken(clock: HandClock, permits: MemoryPermits) -> Tokens:
    return Tokens(KEY, permits=permits, owner="worker", clock=clock)


def test_a_look_at_the_next_token_uses_none_up() -> None:
    clock, permits = HandClock(), Meeting()
    tokens = taken(clock, permits)
    assert tokens.take_more(FIVE_A_SECOND, 2) is None
    clock.time = NOON + 100
    assert tokens.next_at() is not None
    # The clock of a machine may be set back.
    clock.time = NOON
    token = tokens.take()
    assert token is not None
    assert token.opens_at == NOON


def test_a_token_that_is_given_back_while_more_are_taken_is_used_once() -> None:
    clock, permits = HandClock(), Meeting()
    tokens = taken(clock, permits)
    assert tokens.take_more(FIVE_A_SECOND, 1) is None
    first = tokens.take()
    assert first is not None
    permits.meanwhile = lambda: tokens.give_back(first)
    assert tokens.take_more(FIVE_A_SECOND, 1) is None
    assert tokens.take() == first
    second = tokens.take()
    assert second is not None
    assert second.opens_at == NOON + 210
    assert tokens.take() is None


def test_a_token_whose_slot_has_passed_is_lost() -> None:
    clock, permits = HandClock(), Meeting()
    tokens = taken(clock, permits)
    assert tokens.take_more(Rate(5, MINUTE_MS), 1) is None
    token = tokens.take()
    assert token is not None
    clock.time = token.closes_at + 1
    tokens.give_back(token)
    assert tokens.next_at() is None
    assert tokens.take() is None
