"""What an attempt is: one request to a consumer, and its result."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from sweephand.base.concurrency import always
from sweephand.base.instants import Instant
from sweephand.model.trace import Context, Origin, context_of
from sweephand.model.trigger import Trigger, batch_end_id, end_id
from sweephand.model.watch import Alert, alert_id

if TYPE_CHECKING:
    # Tick and sweep make no attempts.
    from sweephand.model.namespace import AllowedTargets

#: Returns where the HTTP targets of an attempt's namespace may be; None stands for everywhere. It returns
#: what was known at most a minute ago, or what is stored now if it is called with True. It may raise
#: StoreError.
Allowed: TypeAlias = "Callable[[bool], AllowedTargets | None]"

#: What an attempt delivers: a trigger, or the notification of the end of a run or of a batch, or an alert.
Event: TypeAlias = Literal["trigger", "end", "batch-end", "alert"]

#: How much of a response is kept with the run.
ANSWER_BYTES_KEPT: Final = 512


def everywhere(_: bool) -> None:  # noqa: FBT001 - as Allowed has it
    """Allows every place that the stack allows."""


class Attempt(NamedTuple):
    """One request to a consumer.

    `spec` is the job's target. `body` has the payload's bytes (JSON; `null` for a job without data).
    `secrets` are the namespace's active signing secrets, newest first. The signature and its timestamp use
    `sent_at`. `may_send` is called once the connection stands, because connecting can take seconds. If it
    returns False, nothing is sent. It may raise StoreError. With `run_token`, the consumer can report on the
    run.

    With `ended_after`, the attempt delivers no trigger, but the notification that its run ended after that
    many attempts. If it `ends_batch` too, all runs of the trigger's batch are over. With an `alert` too, it
    delivers that alert, and the trigger is the last that was missed. If `must_be_new`, the
    attempt does not repeat an earlier one. Then a queue that drops repetitions must take it. `within_ms`
    limits connecting and the request together, if it is less than the target's own timeout. Earlier
    connections of the same attempt may have taken the rest. Adapters of targets that have a host ask
    `allowed` before they connect. If it `sends_once`, a request that the consumer may have received is not
    sent again: its rate allows one. `labels` are those of the job. `origin` is the trace context from which
    that of the attempt is made.
    """

    trigger: Trigger
    number: int
    spec: Mapping[str, Any]
    body: bytes
    secrets: tuple[str, ...]
    sent_at: Instant
    may_send: Callable[[], bool] = always
    run_token: str | None = None
    ended_after: int | None = None
    must_be_new: bool = False
    within_ms: int | None = None
    ends_batch: bool = False
    allowed: Allowed = everywhere
    alert: Alert | None = None
    sends_once: bool = False
    labels: Mapping[str, str] | None = None
    origin: Origin | None = None

    @property
    def id(self) -> str:
        """The id by which a consumer deduplicates: the trigger's, or that of the end of its run."""
        if self.alert is not None:
            return alert_id(self.trigger.uid, self.alert)
        if self.ends_batch:
            return batch_end_id(self.trigger)
        return self.trigger.id if self.ended_after is None else end_id(self.trigger, self.ended_after)

    @property
    def context(self) -> Context:
        """The trace context that the attempt sends."""
        return Context() if self.origin is None else context_of(self.origin, self.id, self.number)

    @property
    def event(self) -> Event:
        """What the attempt delivers."""
        if self.ended_after is None:
            return "trigger"
        if self.alert is not None:
            return "alert"
        return "batch-end" if self.ends_batch else "end"


#: The statuses that say that a consumer is out of order (RFC 6585, 4; RFC 9110, 15.6).
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERRORS_FROM: Final = 500


class Answer(NamedTuple):
    """The result of an attempt.

    `code` is the HTTP status, or None if no response came or the target has no status. `text` is the first
    512 bytes of the response, decoded leniently. `error` is a sentence if there was no usable response.
    `retry_after_at` is the instant that the consumer asked for. If the answer `is_final`, a retry cannot
    help. If it `was_withdrawn`, `may_send` returned False and nothing was sent.
    """

    succeeded: bool
    code: int | None = None
    text: str | None = None
    error: str | None = None
    retry_after_at: Instant | None = None
    is_final: bool = False
    was_withdrawn: bool = False

    @property
    def is_outage(self) -> bool:
        """Whether the consumer is out of order: no response, 429, or a status from 500 on."""
        if self.succeeded or self.is_final or self.was_withdrawn:
            return False
        return self.code is None or self.code == _TOO_MANY_REQUESTS or self.code >= _SERVER_ERRORS_FROM
