"""What the delivery function receives, what became of it, and what it may acknowledge."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from sweephand.model.batch_mark import Mark
from sweephand.model.run import State
from sweephand.model.trigger import LineWait, Trigger, TriggerMessage

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
    "in_window",
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
    "checked",
    "alerted",
    "notified",
    "unnotified",
    "premature",
    "followed",
    "resumed",
    # Sweephand itself failed to handle the message.
    "fault",
    "buried",
]

#: Whether the outcome of a delivery is a failure (1) or not (0), as values of the metric `Failures`. So its
#: average is the share of deliveries that failed, and its sum is their number. The other outcomes are no
#: deliveries. A message that Sweephand itself failed to handle counts as a failed delivery.
FAILURES: Final[Mapping[OutcomeName, Literal[0, 1]]] = {
    "succeeded": 0,
    "running": 0,
    "unrecorded": 0,
    "notified": 0,
    "retrying": 1,
    "failed": 1,
    "unnotified": 1,
    "fault": 1,
    "buried": 1,
}


#: Outcomes that somebody may ask about later. The log has a line for each trigger that had one.
NOTEWORTHY: Final[frozenset[OutcomeName]] = frozenset(
    {"retrying", "failed", "skipped", "unrecorded", "unnotified", "fault", "buried"}
)


class Outcome(NamedTuple):
    """What became of a message.

    `lateness_ms` is how late Sweephand began the first attempt, in milliseconds, as own_lateness_ms() counts
    it. It is None if no first attempt was made. Before the message is acknowledged, the progress of a batch
    has to show what has `ended`. By then a line also has to hold the trigger that goes `into` it.
    `traceparent` is the trace context that the attempt sent.
    """

    name: OutcomeName
    lateness_ms: int | None = None
    ended: Mark | None = None
    into: LineWait | None = None
    traceparent: str | None = None


def own_lateness_ms(message: TriggerMessage) -> int | None:
    """How late Sweephand began the first attempt at a trigger, in milliseconds.

    `message` is that of the attempt that was just made. None for later attempts, and for a trigger that had
    to wait: for the end of a pause, for its turn, for a limit, or for a person who redrove it. What was armed
    after its due time (by a resume, a backfill or a chain) is late from its arming on. The clock of
    another machine stamps the arming, so an attempt can seem to begin before it. Such an attempt counts as 0,
    since CloudWatch has no percentiles of negative values (API reference, GetMetricStatistics).
    """
    is_first = message.attempt == 1 and message.redrive is None
    if not is_first or message.is_owed or message.first_attempt_at is None:
        return None
    return max(message.first_attempt_at - max(message.trigger.at, message.trigger.armed_at), 0)


def outcome_of_failure(state: State) -> OutcomeName:
    """The outcome of a failed attempt that left its run in that state.

    Raises AssertionError for a state to which no failed attempt leads.
    """
    match state:
        case "retrying" | "failed":
            return state
        case _:
            raise AssertionError(f"a failed attempt does not lead to {state}")


class Received(NamedTuple):
    """A message as SQS delivered it: the SQS message id, the receipt, and how often SQS has delivered it."""

    id: str
    receipt: str
    receives: int
    body: str


class Handled(NamedTuple):
    """What became of a received message, or of one trigger of a received bundle.

    If `is_done`, the queue need not deliver it again. The rest is for the log: the `error`, and the `trigger`
    that the message carried or was about, with the number of the `attempt`. It has none if nobody could read
    it, or if it stood for many triggers.
    """

    received: Received
    outcome: Outcome
    is_done: bool = True
    error: Exception | None = None
    trigger: Trigger | None = None
    attempt: int = 0

    @property
    def is_noteworthy(self) -> bool:
        """Whether the log has a line for it."""
        return self.error is not None or self.outcome.name in NOTEWORTHY


def finished(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which everything is done. They may be acknowledged."""
    every = list(handled)
    left = unfinished(every)
    return [each for each in dict.fromkeys(each.received for each in every) if each not in left]


def unfinished(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which something is left. The queue must deliver them again."""
    return list(dict.fromkeys(each.received for each in handled if not each.is_done))
