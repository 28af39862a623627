"""The queues of a world as tick sees them, by lane, and the end of messages that nobody sends again."""

from collections.abc import Sequence
from typing import Final, TypeVar

from tests.fakes.doubles import Letterbox
from tests.fakes.flow_memory import FlowBox

from sweephand.base.instants import DAY_MS, Instant
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy_names import LANE_DEFAULT, LANES, Lane
from sweephand.model.trigger import NewerMessage, Sendable, lane_of_message

#: SQS removes a message so long after it was sent (template.yaml).
RETENTION_MS: Final = 14 * DAY_MS

#: A message is hidden for up to 15 minutes when it is sent, and SQS counts from the sending.
_DELAY_MAX_MS: Final = 900_000

_FLOW: Final = "flow"
_RECEIVED_MAX: Final = 10

Message = TypeVar("Message", Sendable, GateMessage | NewerMessage)


class MemoryStackQueues:
    """ports.StackQueues over the letterbox of a world, as a queue for each lane, and its flow box."""

    def __init__(self, box: Letterbox, flow: FlowBox) -> None:
        self._box = box
        self._flow = flow
        #: The queues between which messages were moved, from and to.
        self.moved: list[tuple[str, str]] = []

    def names(self) -> Sequence[str]:
        return (*LANES, _FLOW)

    def renew(self, name: str, delay_ms: int, into: str | None = None) -> Sequence[Instant]:
        """A message of a lane stays one of that lane in a queue that it was moved into."""
        now = self._box.clock.now()
        if into is not None:
            self.moved.append((name, into))
        if name == _FLOW:
            return _renewed(self._flow.waiting, self._flow.waiting, now, delay_ms)
        lane = [each for each in self._box.waiting if _lane(each[1]) == name]
        return _renewed(self._box.waiting, lane, now, delay_ms)

    def expire(self, now: Instant) -> None:
        """Remove the messages that SQS has removed by then, or a few minutes earlier."""
        oldest = now - RETENTION_MS + _DELAY_MAX_MS
        self._box.waiting[:] = [each for each in self._box.waiting if each[0] > oldest]
        self._flow.waiting[:] = [each for each in self._flow.waiting if each[0] > oldest]


def _renewed(
    waiting: list[tuple[Instant, Message]],
    lane: Sequence[tuple[Instant, Message]],
    now: Instant,
    delay_ms: int,
) -> Sequence[Instant]:
    received = [each for each in lane if each[0] <= now][:_RECEIVED_MAX]
    for each in received:
        waiting.remove(each)
        waiting.append((now + delay_ms, each[1]))
    return [at for at, _ in received]


def _lane(message: Sendable) -> Lane:
    return LANE_DEFAULT if isinstance(message, NewerMessage) else lane_of_message(message)
