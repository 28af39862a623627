"""What the answers of DynamoDB show besides their content: throttled requests, and the skew of this clock."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sweephand.base.instants import SECOND_MS, Instant

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks

#: The error codes by which DynamoDB says that a table, a partition or the account is asked for too much
#: ("Error handling with DynamoDB").
_THROTTLED: Final = frozenset(
    {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}
)

#: DynamoDB throttles a part of a batch by leaving it out of the work that it has done.
_UNPROCESSED: Final = ("UnprocessedItems", "UnprocessedKeys")


class Seen(NamedTuple):
    """What the answers have shown.

    `throttled` counts the tries of requests that were refused, wholly or in part, because there were too
    many. This clock is ahead of AWS's by at least `skew_ms`, or behind by at least as much if that is
    negative. It is 0 if no answer proves a difference.
    """

    throttled: int = 0
    skew_ms: int = 0


class Answers:
    """Watches the answers that clients receive, each try of the SDK's own retries included.

    Threads may share an instance. `now` is the clock whose skew is measured.
    """

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._lock = Lock()
        self._throttled = 0
        self._ahead_ms: int | None = None
        self._behind_ms: int | None = None
        self._date = ""
        self._date_at: Instant = 0

    def watch(self, events: "BaseEventHooks") -> None:
        """Watch the answers to a DynamoDB client with these events."""
        events.register("response-received.dynamodb", self._receive)

    def take(self) -> Seen:
        """What the answers have shown since the last call of this method."""
        with self._lock:
            # An answer that proves the one refutes the other, so at most one of them is above 0.
            skew_ms = max(self._ahead_ms or 0, 0) - max(self._behind_ms or 0, 0)
            seen = Seen(self._throttled, skew_ms)
            self._throttled, self._ahead_ms, self._behind_ms = 0, None, None
        return seen

    def _receive(self, parsed_response: dict[str, Any] | None, **_: object) -> None:
        if parsed_response is None:
            return
        received_at = self._now()
        code = parsed_response.get("Error", {}).get("Code")
        is_throttled = code in _THROTTLED or any(parsed_response.get(each) for each in _UNPROCESSED)
        date = parsed_response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        with self._lock:
            self._throttled += is_throttled
            if date is not None:
                self._compare(date, received_at)

    def _compare(self, date: str, received_at: Instant) -> None:
        """Compare this clock with the Date header (RFC 9110, 6.6.1), which has whole seconds.

        A slow answer looks like a clock that is ahead. So the answer counts that shows the least.
        """
        if date != self._date:
            try:
                self._date_at = round(parsedate_to_datetime(date).timestamp()) * SECOND_MS
            except ValueError:
                return
            self._date = date
        ahead_ms, behind_ms = received_at - self._date_at - (SECOND_MS - 1), self._date_at - received_at
        self._ahead_ms = ahead_ms if self._ahead_ms is None else min(ahead_ms, self._ahead_ms)
        self._behind_ms = behind_ms if self._behind_ms is None else min(behind_ms, self._behind_ms)
