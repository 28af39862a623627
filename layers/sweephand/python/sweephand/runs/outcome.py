"""What became of a message that the delivery function received, and the metric that counts it."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from sweephand.model.batch_mark import Mark
from sweephand.model.policy_names import PolicyKey, Priority
from sweephand.model.run import State
from sweephand.model.trigger import TriggerMessage

#: Everything that can become of a message. The states in which an attempt leaves its run are among them.
OutcomeName = Literal[
    # An attempt was made.
    "succeeded",
    "retrying",
    "failed",
    "running",
    "unrecorded",
    # The trigger needs no attempt.
    "skipped",
    "repeated",
    "dropped",
    # The message has to wait. A copy of the message was sent.
    "early",
    "unknown",
    "held",
    "waiting",
    "claimed",
    "leaving",
    "overtaken",
    "postponed",
    "namespace_limited",
    "stack_limited",
    "newer",
    # The trigger waits in the line of its policy: it was put there, or it stays there.
    "in_line",
    "kept",
    # The message carried no trigger, or several that were sent again alone.
    "split",
    "watched",
    "notified",
    "unnotified",
    "premature",
    # Sweephand itself failed to handle the message.
    "fault",
    "buried",
]

#: The metric that counts each outcome. docs/operations.md explains each outcome.
METRICS: Final[Mapping[OutcomeName, str]] = {
    "succeeded": "Succeeded",
    "retrying": "Retrying",
    "failed": "Failed",
    "running": "Running",
    "unrecorded": "Unrecorded",
    "skipped": "Skipped",
    "repeated": "Repeated",
    "dropped": "Dropped",
    "early": "Early",
    "unknown": "Unknown",
    "held": "Held",
    "waiting": "Waiting",
    "claimed": "Claimed",
    "leaving": "Leaving",
    "overtaken": "Overtaken",
    "postponed": "Postponed",
    "namespace_limited": "NamespaceLimited",
    "stack_limited": "StackLimited",
    "newer": "Newer",
    "in_line": "InLine",
    "kept": "Kept",
    "split": "Split",
    "watched": "Watched",
    "notified": "Notified",
    "unnotified": "Unnotified",
    "premature": "Premature",
    "fault": "Fault",
    "buried": "Buried",
}


class LineWait(NamedTuple):
    """A trigger that has to wait in the line of a policy, until its `not_before` at least."""

    policy: PolicyKey
    priority: Priority
    message: TriggerMessage


class Outcome(NamedTuple):
    """What became of a message.

    `lateness_ms` is the time from the due time to the first request of the run, in milliseconds. It is None
    if no attempt was made. It is also None for a redrive, because a redrive says nothing about Sweephand's
    own lateness. Before the message is acknowledged, the progress of a batch has to show what has `ended`,
    and a line has to hold the trigger that goes `into` it.
    """

    name: OutcomeName
    lateness_ms: int | None = None
    ended: Mark | None = None
    into: LineWait | None = None


def outcome_of_failure(state: State) -> OutcomeName:
    """The outcome of a failed attempt that left its run in that state.

    Raises AssertionError for a state to which no failed attempt leads.
    """
    match state:
        case "retrying" | "failed":
            return state
        case _:
            raise AssertionError(f"a failed attempt does not lead to {state}")
