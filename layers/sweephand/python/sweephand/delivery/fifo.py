"""The order and the identity that FIFO queues and FIFO topics ask for."""

from sweephand.ports import Attempt
from sweephand.targets.queue_url import group_id


def order_of(attempt: Attempt) -> dict[str, str]:
    """The message group and the deduplication id.

    The id is the trigger's, so that a retry is no second message: what was taken has succeeded. For an
    attempt that must be new, the attempt's number follows the id. Otherwise AWS would drop the attempt within
    five minutes of the one before, and report success (decisions 013 and 022).
    """
    return {
        "MessageGroupId": attempt.spec.get("messageGroupId") or group_id(attempt.trigger.key),
        "MessageDeduplicationId": identity_of(attempt),
    }


def identity_of(attempt: Attempt) -> str:
    """What names the trigger where a repetition is dropped."""
    return f"{attempt.id}-{attempt.number}" if attempt.must_be_new else attempt.id
