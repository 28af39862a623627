"""The target type `stepfunctions`: an execution of a Step Functions state machine."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import ENVELOPE_DATA_BYTES_MAX
from sweephand.targets.aws_resource import SHARED_FIELDS, Resource, attempt_ms_max
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import TargetType

STATE_MACHINE: Final = Resource(
    field="stateMachineArn",
    noun="a state machine",
    service="states",
    name=r"stateMachine:[A-Za-z0-9_-]{1,80}(?::[A-Za-z0-9_-]{1,80})?",
    example="arn:aws:states:eu-west-1:123456789012:stateMachine:orders",
    parameter="TargetStateMachineArns",
)


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; an execution takes any data
    return STATE_MACHINE.violations(spec, reach)


TYPE: Final = TargetType(
    name="stepfunctions",
    summary="A Step Functions state machine.",
    description="A Step Functions state machine: each trigger starts an execution, named by its id. "
    "Its input has `data`, and the trigger's names as `sweephand`.",
    own_fields=(STATE_MACHINE.own_field, *SHARED_FIELDS),
    rules=_violations,
    attempt_ms_max=attempt_ms_max,
    delivery="sweephand.delivery.stepfunctions",
    data_bytes_max=ENVELOPE_DATA_BYTES_MAX,
    data_limit="envelopeDataBytesMax",
    raw_form="json",
)
