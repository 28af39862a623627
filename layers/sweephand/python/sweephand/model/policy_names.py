"""How jobs, runs and messages name a policy, one of its permits, and a priority with its lane.

Every job, run and message has such a name or may have one. Only what works under a policy needs the policy
itself (model/policy.py).
"""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

#: Which triggers of a policy's lines go first.
Priority = Literal["high", "normal", "low"]

#: The priorities in the order in which a function takes triggers.
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)

#: The priority of a job whose user gave none.
PRIORITY_DEFAULT: Final[Priority] = "normal"

#: In which delivery queue a message travels: in that of its job's priority, or of triggers under a policy.
Lane = Literal["high", "normal", "low", "policy"]

LANES: Final[tuple[Lane, ...]] = get_args(Lane)

#: The lane of messages that name none.
LANE_DEFAULT: Final[Lane] = "normal"


def lane_of(policy: str | None, priority: Priority) -> Lane:
    """The lane of the triggers of a job with that policy and priority."""
    return priority if policy is None else "policy"


class PolicyKey(NamedTuple):
    """The namespace of a policy and its name in it."""

    namespace: str
    name: str


class PermitName(NamedTuple):
    """The permit of one request: the name of its policy, the number of its gate, and an id of its own.

    `key` is that of the gate; None under a policy without `by`.
    """

    policy: str
    gate: int
    id: str
    key: str | None = None


#: What `by` of a policy names: a label, whose name follows this, or the host of the target, or the job.
BY_LABEL: Final = "label:"
BY_HOST: Final = "host"
BY_JOB: Final = "job"


def key_parts(key: str) -> tuple[str, str]:
    """The `by` and the value of a gate's key, between which is a colon. The name of a label has none."""
    parts = key.split(":", 1 + key.startswith(BY_LABEL))
    return ":".join(parts[:-1]), parts[-1]


#: Stands between a lane and the receipt of a message of that lane. No receipt has it.
_SEPARATOR: Final = " "


class Lanes(NamedTuple):
    """The URLs of the delivery queues. Messages of a lane that is not `open` are sent to `normal`.

    Messages may be left in the queue of a lane that was closed.
    """

    normal: str
    high: str = ""
    low: str = ""
    policy: str = ""
    open: frozenset[Lane] = frozenset()

    def url_of(self, lane: Lane) -> str:
        """The queue for messages of that lane."""
        url: str = getattr(self, lane if lane in self.open else LANE_DEFAULT)
        return url

    def receipt(self, handle: str, queue_arn: str) -> str:
        """A receipt that also names the lane in which its message was received."""
        name = queue_arn.rpartition(":")[2]
        for lane in LANES:
            url: str = "" if lane == LANE_DEFAULT else getattr(self, lane)
            if url and url.rpartition("/")[2] == name:
                return f"{lane}{_SEPARATOR}{handle}"
        return handle

    def by_url(self, receipts: Iterable[str]) -> dict[str, list[str]]:
        """The receipts as SQS gave them, by the queue in which the message was received."""
        found: dict[str, list[str]] = {}
        for receipt in receipts:
            lane, _, handle = receipt.rpartition(_SEPARATOR)
            url = getattr(self, lane) if lane else self.normal
            found.setdefault(url, []).append(handle)
        return found
