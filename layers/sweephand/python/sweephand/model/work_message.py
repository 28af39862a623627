"""What travels in the queue of work messages: the order to look after the line of a policy."""

from typing import NamedTuple

from sweephand.base.instants import Instant


class WorkMessage(NamedTuple):
    """The order to look after the line of a policy. It names no trigger, and any worker can handle it.

    If it `clears_mark`, it is the message for the next token of the policy's rate. The worker
    first looks at its `hint`, which is the rank of a priority and a partition: there is a new entry.
    A worker that calls others to help it needs nobody after `until`.

    `left_by` is the name of a job that no longer names the policy, or "" for any such job. If the policy is
    missing, the worker takes the triggers of such jobs out of its line. The worker begins with the entry
    behind the sort key `after` in the partition of the hint.
    """

    namespace: str
    policy: str
    not_before: Instant
    clears_mark: bool = False
    hint: tuple[int, int] | None = None
    until: Instant | None = None
    left_by: str | None = None
    after: str = ""
