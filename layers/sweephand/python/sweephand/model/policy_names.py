"""How jobs, runs and messages name a policy, one of its permits, and a priority.

Every job, run and message has such a name or may have one. Only what works under a policy needs the policy
itself (model/policy.py).
"""

from typing import Final, Literal, NamedTuple, get_args

#: Which triggers of a policy's line go first. Each priority has partitions of its own.
Priority = Literal["high", "normal", "low"]

#: The priorities in the order in which a worker looks for work.
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)

#: The priority of a job whose user gave none.
PRIORITY_DEFAULT: Final[Priority] = "normal"


class PolicyKey(NamedTuple):
    """The namespace of a policy and its name in it."""

    namespace: str
    name: str


class PermitName(NamedTuple):
    """The permit of one request: the name of its policy, the number of its gate, and an id of its own."""

    policy: str
    gate: int
    id: str
