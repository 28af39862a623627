"""A gate of a policy: one item that holds slots (decision 212).

The limit of a policy is divided over gates. Each is correct by itself. A holder has slots of one gate: a
function while it serves, or an asynchronous run until it is over.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.policy_names import PolicyKey

#: The most slots of a gate, unless only the rate of its policy is limited.
SHARE_MAX: Final = 32

#: The most slots of one function. So many at most stand idle after a crash.
SERVER_SLOTS_MAX: Final = 10

MS_IN_US: Final = 1_000

#: The digest of a key has this many hexadecimal digits: 128 bits.
_DIGEST_LENGTH: Final = 32

#: A function gets a quarter of a limit at most, so that a crash stops no more of it.
_PARTS_MIN: Final = 4


class GateName(NamedTuple):
    """The gate of that number of a policy.

    A policy with `by` has gates of its own for each `key`, such as `label:tenant:acme`. Another policy has
    gates without a key.
    """

    policy: PolicyKey
    number: int
    key: str | None = None

    @property
    def digest(self) -> str:
        """The key as part of a stored name, in 32 characters: no value forges another key."""
        # A label may have half of a surrogate pair.
        return sha256((self.key or "").encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


class WaitingGate(NamedTuple):
    """A gate of a key whose line may hold something, and the id of a guard that has looked after it."""

    name: GateName
    guard: str

    @property
    def since(self) -> Instant:
        """Since when guards have looked after the gate without a break."""
        return guarded_since(self.guard)

    @property
    def place(self) -> str:
        """The place in the list: those come first that have waited longest."""
        return f"{self.since:014d}.{self.name.digest}.{self.name.number:04d}"


class Holder(NamedTuple):
    """The slots of one holder until an instant at the latest. Each try of a write has another number."""

    slots: int
    until: Instant
    number: int = 1


class Baton(NamedTuple):
    """A message to a gate that is under way: when it comes, and the id of whoever sent it."""

    at: Instant
    id: str


class Token(NamedTuple):
    """The right of one request to leave in its slot of time, from the one instant to the other."""

    opens_at: Instant
    closes_at: Instant

    def is_open(self, now: Instant) -> bool:
        """Whether the request may leave now."""
        return self.opens_at <= now <= self.closes_at

    def has_passed(self, now: Instant) -> bool:
        """Whether the request may not leave any more."""
        return self.closes_at < now


class Taking(NamedTuple):
    """Tokens that one write takes out of a gate's bucket, without a read before.

    The slot of the last token lies from `last_min_us` to `last_max_us` before it, in µs. The slots of these
    tokens lie `step_us` apart. They follow the last one, or begin at `first_us`.
    """

    size: int
    step_us: int
    late_us_max: int
    last_min_us: int
    last_max_us: int
    first_us: int | None

    def last_us_after(self, last_us: int) -> int:
        """The slot of the last token after the write."""
        return (last_us if self.first_us is None else self.first_us - self.step_us) + self.size * self.step_us

    def tokens(self, last_us: int) -> tuple[Token, ...]:
        """The tokens of a write after which that is the slot of the last one."""
        slots = [last_us - number * self.step_us for number in reversed(range(self.size))]
        return tuple(Token(-(-each // MS_IN_US), (each + self.late_us_max) // MS_IN_US) for each in slots)


class Gate(NamedTuple):
    """A gate as stored. One that was never written has nothing.

    `used` is the sum of the slots of all holders. `guard` is the id of the message that looks after the gate.
    If it `queues`, its line may hold triggers that can be taken: newcomers queue there, and whoever gives
    back slots calls. `last_us` is the slot of the last token that its bucket gave out, in µs.
    """

    used: int = 0
    holders: Mapping[str, Holder] = {}
    guard: str | None = None
    queues: bool = False
    baton: Baton | None = None
    last_us: int = 0

    def expired(self, now: Instant) -> Mapping[str, Holder]:
        """The holders whose time is over. Their functions have ended without giving back."""
        return {token: each for token, each in self.holders.items() if each.until < now}

    def free(self, share: int, now: Instant) -> int:
        """How many slots of that share can be taken. It is negative after a limit was lowered."""
        return share - self.used + sum(each.slots for each in self.expired(now).values())


class Swap(NamedTuple):
    """What a write expects of a holder or of the guard, and what it stores. None stands for none."""

    was: Holder | str | None
    becomes: Holder | str | None


class GateChange(NamedTuple):
    """One write of a gate. It is done if all holds that it expects, and else nothing is changed.

    `holders` are swapped, and `used` follows from that. Before the write, at most `used_max` slots may be in
    use. If it `yields`, the line may hold nothing. `guard_if_absent` is stored only where no guard is, and
    the rest is written in any case. A `baton` is stored only where none is, unless it `replaces_baton`.
    """

    holders: Mapping[str, Swap] = {}
    used_max: int | None = None
    guard: Swap | None = None
    guard_if_absent: str | None = None
    queues: bool | None = None
    baton: Baton | None = None
    replaces_baton: bool = False
    removes_baton: bool = False
    yields: bool = False
    taking: Taking | None = None

    @property
    def added(self) -> int:
        """How many more slots are in use after it."""
        return sum(_slots(each.becomes) - _slots(each.was) for each in self.holders.values())

    def is_made(self, gate: Gate) -> bool:
        """Whether a gate that refuses the change shows that this very change was made before.

        The SDK repeats a write whose answer was lost. Each id is new, and so is the number of each try. Which
        tokens the first write took is not to be seen, so one that takes tokens does not count as made.
        """
        swaps: list[tuple[object, object]] = [
            (gate.holders.get(token), each.becomes) for token, each in self.holders.items()
        ]
        if self.guard is not None:
            swaps.append((gate.guard, self.guard.becomes))
        if self.baton is not None:
            swaps.append((gate.baton, self.baton))
        return self.taking is None and bool(swaps) and all(found == becomes for found, becomes in swaps)


class Changed(NamedTuple):
    """The gate after a write, and whether the write was made."""

    gate: Gate
    is_made: bool


def guard_id(since: Instant, token: str) -> str:
    """The id of a guard, one of those that have looked after a gate since then."""
    return f"{since:014d}.{token}"


def guarded_since(guard: str) -> Instant:
    """Since when guards have looked after the gate, up to the guard of that id."""
    return int(guard.partition(".")[0])


def share_of(limit: int, number: int) -> int:
    """The slots of the gate of that number.

    A share never shrinks when the limit grows. So functions with the old and with the new limit together
    never have more slots than the larger one.
    """
    return max(0, min(SHARE_MAX, limit - SHARE_MAX * number))


def gates_of(limit: int) -> int:
    """How many gates have a share of that limit."""
    return -(-limit // SHARE_MAX)


def server_slots_of(limit: int) -> int:
    """The most slots of one function under that limit."""
    return min(SERVER_SLOTS_MAX, -(-limit // _PARTS_MIN))


def _slots(of: object) -> int:
    return of.slots if isinstance(of, Holder) else 0
