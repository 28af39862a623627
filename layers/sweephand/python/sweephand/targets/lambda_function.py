"""The target type `lambda`: a Lambda function, invoked asynchronously or with its answer awaited."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import ENVELOPE_DATA_BYTES_MAX
from sweephand.base.names import suggestion
from sweephand.targets.aws_resource import ASSUME_ROLE_MS_MAX, SHARED_FIELDS, Resource, attempt_ms_max
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import (
    TIMEOUT_BOUNDS,
    Field,
    TargetType,
    timeout_field,
    timeout_ms,
    timeout_violations,
)

#: The functions of the stack, by the beginnings of their logical ids in template.yaml.
OWN_FUNCTIONS: Final = (
    "Api",
    "Authorizer",
    "AdminKey",
    "Tick",
    "Sweep",
    "Deliver",
    "Flow",
    "Lists",
    "Resources",
)

#: The name that CloudFormation gives a function: stack, logical id and random characters.
_GENERATED_NAME: Final = rf"(?P<stack>.+)-(?:{'|'.join(OWN_FUNCTIONS)})Function-[A-Za-z0-9]+"

#: CloudFormation cuts the name of a stack where a function's name would exceed 64 characters: to 25
#: characters in a name that was seen (convox/rack, issue 2297). A shorter beginning names another stack.
_CUT_LENGTH_MIN: Final = 20


def _is_own(arn: str, reach: Reach) -> bool:
    """Whether the ARN names a function of the stack, or of a stack with its name in another region."""
    generated = re.fullmatch(_GENERATED_NAME, arn.split(":")[6])
    if generated is None:
        return False
    stack = generated["stack"]
    is_cut = len(stack) >= _CUT_LENGTH_MIN and reach.stack_name.startswith(stack)
    return is_cut or stack == reach.stack_name


FUNCTION: Final = Resource(
    field="functionArn",
    noun="a Lambda function",
    service="lambda",
    name=r"function:[A-Za-z0-9_-]{1,64}(?::(?:\$LATEST|[A-Za-z0-9_-]{1,128}))?",
    example="arn:aws:lambda:eu-west-1:123456789012:function:orders",
    parameter="TargetFunctionArns",
    is_own=_is_own,
)

#: Both ways to invoke a function.
INVOCATIONS: Final = ("async", "sync")


def is_sync(spec: Mapping[str, Any]) -> bool:
    """Whether the function's answer is awaited, so that it decides on the attempt."""
    return bool(spec.get("invocation") == "sync")


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; a function takes any data
    found = FUNCTION.violations(spec, reach)
    invocation = spec.get("invocation", INVOCATIONS[0])
    if invocation not in INVOCATIONS:
        detail = f"{suggestion(invocation, INVOCATIONS)} Use one of {', '.join(INVOCATIONS)}.".lstrip()
        found.append(Violation("/invocation", detail))
    if spec.get("timeout") is not None and not is_sync(spec):
        detail = 'Leave it out: only "invocation": "sync" waits for the function.'
        return [*found, Violation("/timeout", detail)]
    return found + timeout_violations(spec)


def _attempt_ms_max(spec: Mapping[str, Any]) -> int:
    if not is_sync(spec):
        return attempt_ms_max(spec)
    return timeout_ms(spec) + (0 if spec.get("roleArn") is None else ASSUME_ROLE_MS_MAX)


TYPE: Final = TargetType(
    name="lambda",
    summary="A Lambda function.",
    description="A Lambda function: its event has `data`, and the trigger's names as `sweephand`.\n\n"
    "With `async`, the trigger has succeeded when Lambda has taken the event. With `sync`, it has succeeded "
    "when the function has returned, and the answer stays with the run.",
    own_fields=(
        FUNCTION.own_field,
        Field(
            "invocation",
            {"type": "string", "enum": list(INVOCATIONS)},
            f"Whether the function's answer is awaited; {INVOCATIONS[0]} by default.",
        ),
        timeout_field(f"With `sync`: a duration of {TIMEOUT_BOUNDS}"),
        *SHARED_FIELDS,
    ),
    rules=_violations,
    attempt_ms_max=_attempt_ms_max,
    delivery="sweephand.delivery.lambda_function",
    data_bytes_max=ENVELOPE_DATA_BYTES_MAX,
    data_limit="envelopeDataBytesMax",
    raw_form="json",
)
