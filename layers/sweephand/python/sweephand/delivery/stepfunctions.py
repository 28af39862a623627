"""Delivering to a Step Functions state machine: an execution that the trigger's id names."""

import re
from hashlib import sha256
from typing import Any, Final

from botocore.exceptions import ClientError

from sweephand.delivery.adapter import Stack
from sweephand.delivery.aws_targets import AwsKind, AwsTargets, envelope_of, identity_of
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.stepfunctions import STATE_MACHINE

#: A name of an execution (AWS, StartExecution: name), without what CloudWatch cannot show.
_NAME: Final = "[A-Za-z0-9_-]{1,80}"


def _send(client: Any, attempt: Attempt) -> Answer:
    """Start the execution. One of that name that was started before is the same trigger's."""
    try:
        client.start_execution(
            stateMachineArn=attempt.spec[STATE_MACHINE.field],
            name=execution_name(attempt),
            input=envelope_of(attempt),
        )
    except ClientError as error:
        # The input names the attempt, so the execution of an earlier attempt has another input.
        if error.response["Error"].get("Code") != "ExecutionAlreadyExists":
            raise
    return Answer(succeeded=True)


def execution_name(attempt: Attempt) -> str:
    """The trigger's id, or a digest of it if it is no name for an execution.

    A standard state machine starts one execution of a name within 90 days of its end. An express one starts
    an execution for each request.
    """
    name = identity_of(attempt)
    return name if re.fullmatch(_NAME, name) else sha256(name.encode()).hexdigest()


_STEP_FUNCTIONS: Final = AwsKind(
    name="Step Functions",
    service="stepfunctions",
    noun=STATE_MACHINE.noun,
    send=_send,
    missing=frozenset({"StateMachineDoesNotExist"}),
    hopeless=frozenset({"InvalidArn", "InvalidExecutionInput", "InvalidName", "ValidationException"}),
)


def adapter(stack: Stack) -> AwsTargets:
    """The adapter of the target type `stepfunctions`."""
    return AwsTargets(_STEP_FUNCTIONS, STATE_MACHINE, stack.aws_clients, stack.reach)
