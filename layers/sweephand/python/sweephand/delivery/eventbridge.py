"""Delivering to an EventBridge bus: an event whose detail has the trigger's names and `data`."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final

from botocore.exceptions import ClientError

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.adapter import Stack
from sweephand.delivery.aws_targets import DENIED, AwsKind, AwsTargets, envelope_of, refusal_of
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.eventbridge import BUS, DETAIL_TYPE_DEFAULT, SOURCE_DEFAULT

#: How long a bus that was seen is taken to exist, in seconds.
SEEN_S: Final = 60

#: How many buses are remembered.
_SEEN_MAX: Final = 1_024

#: The code that EventBridge has for a bus that does not exist, where it tells of one.
_MISSING: Final = "ResourceNotFoundException"


class _Buses:
    """Sends events, and asks once a minute whether a bus exists.

    EventBridge takes an event for a bus that does not exist, drops it, and reports success (AWS, "Sending
    events with PutEvents"). Safe to use from many threads at once: two may ask at the same time.
    """

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self._now_s = now_s
        self._seen: dict[str, float] = {}
        self._lock = Lock()

    def send(self, client: Any, attempt: Attempt) -> Answer:
        arn = attempt.spec[BUS.field]
        self._look_for(client, arn)
        answer = client.put_events(
            Entries=[
                {
                    "EventBusName": arn,
                    "Source": attempt.spec.get("source") or SOURCE_DEFAULT,
                    "DetailType": attempt.spec.get("detailType") or DETAIL_TYPE_DEFAULT,
                    "Time": attempt.trigger.due_at / SECOND_MS,
                    "Detail": envelope_of(attempt),
                }
            ]
        )
        if answer["FailedEntryCount"]:
            (entry,) = answer["Entries"]
            raise refusal_of(entry.get("ErrorCode", ""), entry.get("ErrorMessage", ""), "PutEvents")
        return Answer(succeeded=True)

    def _look_for(self, client: Any, arn: str) -> None:
        """Raises boto3's ClientError if the bus does not exist."""
        with self._lock:
            if self._now_s() - self._seen.get(arn, -SEEN_S) < SEEN_S:
                return
        try:
            client.describe_event_bus(Name=arn)
        except ClientError as error:
            # A bus of another account may allow events and nothing else. Then nobody can tell.
            if error.response["Error"].get("Code") not in DENIED or error.operation_name == "AssumeRole":
                raise
        with self._lock:
            if len(self._seen) >= _SEEN_MAX:
                self._seen.clear()
            self._seen[arn] = self._now_s()


def adapter(stack: Stack) -> AwsTargets:
    """The adapter of the target type `eventbridge`."""
    kind = AwsKind(
        name="EventBridge",
        service="events",
        noun=BUS.noun,
        send=_Buses().send,
        missing=frozenset({_MISSING}),
        hopeless=frozenset({"InvalidArgument", "MalformedDetail", "InvalidAccountIdException"}),
    )
    return AwsTargets(kind, BUS, stack.aws_clients, stack.reach)
