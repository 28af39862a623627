"""The target type `sqs`: a message to an SQS queue."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import SQS_DATA_BYTES_MAX
from sweephand.base.text_schema import text_schema
from sweephand.targets.queue_url import GROUP_ID_LENGTH_MAX, read_queue_url
from sweephand.targets.queues import Reach
from sweephand.targets.target_type import Field, TargetType
from sweephand.targets.url import URL_SCHEMA, UrlError

#: The longest attempt. It includes connections that failed.
ATTEMPT_MS_MAX: Final = 45 * SECOND_MS

#: Letters, digits and punctuation (AWS, SendMessage: MessageGroupId).
_GROUP_ID: Final = "[!-~]+"


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; a queue takes any data
    found: list[Violation] = []
    url = spec.get("queueUrl")
    try:
        read_queue_url(url, allow_insecure=reach.allow_insecure)
    except UrlError as error:
        found.append(Violation("/queueUrl", str(error)))
    group = spec.get("messageGroupId")
    if group is not None and not _is_group_id(group):
        found.append(Violation("/messageGroupId", "Give 1 to 128 letters, digits and punctuation marks."))
    return found + reach.queues.violations("/queueUrl", url, allow_insecure=reach.allow_insecure)


def _is_group_id(value: object) -> bool:
    if not isinstance(value, str) or len(value) > GROUP_ID_LENGTH_MAX:
        return False
    return re.fullmatch(_GROUP_ID, value) is not None


TYPE: Final = TargetType(
    name="sqs",
    summary="An SQS queue.",
    description="An SQS queue: each trigger is a message of `data`, with one attribute `sweephand`.\n\n"
    "A message has 256 KiB with its attributes, so `data` has at most `sqsDataBytesMax` bytes.",
    own_fields=(
        Field(
            "queueUrl",
            URL_SCHEMA,
            "The URL of a queue that the stack's parameter TargetQueueArns names.",
            is_required=True,
        ),
        Field(
            "messageGroupId",
            text_schema(f"^{_GROUP_ID}$", GROUP_ID_LENGTH_MAX),
            "For a FIFO queue: the message group.",
        ),
    ),
    rules=_violations,
    attempt_ms_max=lambda _: ATTEMPT_MS_MAX,
    delivery="sweephand.delivery.sqs",
    data_bytes_max=SQS_DATA_BYTES_MAX,
    data_limit="sqsDataBytesMax",
)
