"""The target type `sqs`: a message to an SQS queue."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import SQS_DATA_BYTES_MAX
from sweephand.targets.aws_resource import SHARED_FIELDS, attempt_ms_max, shared_violations
from sweephand.targets.reach import Reach, read_queue_url
from sweephand.targets.target_type import Field, TargetType, group_field, group_violations
from sweephand.targets.url import URL_SCHEMA, UrlError


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; a queue takes any data
    found: list[Violation] = []
    url = spec.get("queueUrl")
    try:
        read_queue_url(url, allow_insecure=reach.allow_insecure)
    except UrlError as error:
        found.append(Violation("/queueUrl", str(error)))
    found += group_violations(spec)
    queues = reach.queues if spec.get("roleArn") is None else reach.queues.by_role
    found += queues.violations("/queueUrl", url, allow_insecure=reach.allow_insecure)
    return found + shared_violations(spec, reach)


TYPE: Final = TargetType(
    name="sqs",
    summary="An SQS queue.",
    description="An SQS queue: each trigger is a message of `data`, with one attribute `sweephand`.\n\n"
    "A message has 256 KiB with its attributes, so `data` and labels have at most `sqsDataBytesMax` bytes.",
    own_fields=(
        Field(
            "queueUrl",
            URL_SCHEMA,
            "The URL of a queue that the stack's parameter TargetQueueArns names, or `roleArn` may reach.",
            is_required=True,
        ),
        group_field("For a FIFO queue: the message group."),
        *SHARED_FIELDS,
    ),
    rules=_violations,
    attempt_ms_max=attempt_ms_max,
    delivery="sweephand.delivery.sqs",
    data_bytes_max=SQS_DATA_BYTES_MAX,
    data_limit="sqsDataBytesMax",
    raw_form="xml",
)
