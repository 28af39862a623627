"""The target type `sns`: a message to an SNS topic."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import SNS_DATA_BYTES_MAX
from sweephand.targets.aws_resource import SHARED_FIELDS, Resource, attempt_ms_max
from sweephand.targets.reach import FIFO_SUFFIX, Reach
from sweephand.targets.target_type import TargetType, group_field, group_violations

TOPIC: Final = Resource(
    field="topicArn",
    noun="an SNS topic",
    service="sns",
    name=r"[A-Za-z0-9_-]{1,251}(?:\.fifo)?",
    example="arn:aws:sns:eu-west-1:123456789012:orders",
    parameter="TargetTopicArns",
)


def is_fifo(spec: Mapping[str, Any]) -> bool:
    """Whether the topic of a valid target is a FIFO topic."""
    return bool(spec[TOPIC.field].endswith(FIFO_SUFFIX))


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; a topic takes any data
    found = TOPIC.violations(spec, reach)
    if spec.get("messageGroupId") is not None and not str(spec.get(TOPIC.field)).endswith(FIFO_SUFFIX):
        return [*found, Violation("/messageGroupId", "Leave it out: only a FIFO topic has message groups.")]
    return found + group_violations(spec)


TYPE: Final = TargetType(
    name="sns",
    summary="An SNS topic.",
    description="An SNS topic: each trigger is a message of `data`, with one attribute `sweephand`.",
    own_fields=(
        TOPIC.own_field,
        group_field("For a FIFO topic: the message group."),
        *SHARED_FIELDS,
    ),
    rules=_violations,
    attempt_ms_max=attempt_ms_max,
    delivery="sweephand.delivery.sns",
    data_bytes_max=SNS_DATA_BYTES_MAX,
    data_limit="snsDataBytesMax",
    raw_form="text",
)
