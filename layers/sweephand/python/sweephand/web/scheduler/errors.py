"""Answers an error as EventBridge Scheduler does: with a type in a header, and a message."""

from collections.abc import Mapping
from typing import Final

from sweephand.base.errors import InvalidError, QuotaError, Violation
from sweephand.web.http import problems
from sweephand.web.http.operation import Reply

#: The type and the status of AWS for each status of Sweephand (scheduler/2021-06-30; AWS, "Common errors").
_TYPES: Final[Mapping[int, tuple[str, int]]] = {
    400: ("ValidationException", 400),
    401: ("AccessDeniedException", 403),
    403: ("AccessDeniedException", 403),
    404: ("ResourceNotFoundException", 404),
    405: ("ValidationException", 400),
    409: ("ConflictException", 409),
    412: ("ConflictException", 409),
    413: ("ValidationException", 400),
    415: ("ValidationException", 400),
    422: ("ValidationException", 400),
    429: ("ThrottlingException", 429),
    500: ("InternalServerException", 500),
    503: ("InternalServerException", 500),
}

#: Where a schedule has what stands in a field of a job.
_PLACES: Final[Mapping[str, str]] = {
    "/schedule": "ScheduleExpression",
    "/timezone": "ScheduleExpressionTimezone",
    "/dueTime": "StartDate",
    "/ttl": "EndDate",
    "/jitter": "FlexibleTimeWindow",
    "/data": "Target.Input",
    "/retry/maxAttempts": "Target.RetryPolicy.MaximumRetryAttempts",
    "/retry/maxAge": "Target.RetryPolicy.MaximumEventAgeInSeconds",
    "/deadLetterQueue": "Target.DeadLetterConfig.Arn",
    "/description": "Description",
    "/name": "Name",
    "/target/roleArn": "Target.RoleArn",
    "/target/messageGroupId": "Target.SqsParameters.MessageGroupId",
    "/target/detailType": "Target.EventBridgeParameters.DetailType",
    "/target/source": "Target.EventBridgeParameters.Source",
}


def aws_refusal(error: Exception) -> Reply:
    """The answer to a request that failed with this error."""
    problem = problems.problem_of(error)
    kind, status = _TYPES[problem["status"]]
    if isinstance(error, QuotaError):
        kind, status = "ServiceQuotaExceededException", 402
    message = problem["detail"]
    if isinstance(error, InvalidError):
        message = " ".join(map(_sentence, error.violations))
    return Reply(status, {"Message": message}, {"x-amzn-errortype": kind, **problems.headers(error)})


def _sentence(violation: Violation) -> str:
    place = _PLACES.get(violation.pointer)
    if place is None and violation.pointer.startswith("/target/"):
        place = "Target.Arn"
    name = place or violation.pointer.strip("/").replace("/", ".")
    return f"{name}: {violation.detail}" if name else violation.detail
