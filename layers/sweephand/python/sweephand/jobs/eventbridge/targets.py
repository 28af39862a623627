"""Makes the target of a job from the target of a schedule, or says why there is none."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

#: The fields of a target that a job can say.
_KNOWN: Final = frozenset(
    {
        "Arn",
        "DeadLetterConfig",
        "EventBridgeParameters",
        "Input",
        "RetryPolicy",
        "RoleArn",
        "SqsParameters",
    }
)

#: What EventBridge Scheduler does without a RetryPolicy (AWS, RetryPolicy).
RETRIES_DEFAULT: Final = 185
AGE_S_DEFAULT: Final = 86_400

#: How a call of AWS's API stands in the place of an ARN (AWS, "Using universal targets").
_UNIVERSAL: Final = ":aws-sdk:"

#: How a placeholder begins.
_PLACEHOLDER: Final = "<aws.scheduler."

#: The domains of AWS's partitions.
_DOMAINS: Final = {"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu"}

#: What the targets are called that Sweephand does not have, by the service in their ARNs.
_OTHERS: Final = {
    "codebuild": "CodeBuild",
    "codepipeline": "CodePipeline",
    "ecs": "ECS",
    "firehose": "Firehose",
    "inspector": "Inspector",
    "kinesis": "Kinesis",
    "redshift": "Redshift",
    "sagemaker": "SageMaker",
}


class NoTargetError(Exception):
    """No job can have this target. The message says why, and what can be done."""


class _Kind(NamedTuple):
    """A target type: its name, the field of its ARN, and the stack's parameter that lists such ARNs."""

    name: str
    field: str
    parameter: str


_KINDS: Final[Mapping[str, _Kind]] = {
    "lambda:function": _Kind("lambda", "functionArn", "TargetFunctionArns"),
    "sqs:": _Kind("sqs", "queueUrl", "TargetQueueArns"),
    "sns:": _Kind("sns", "topicArn", "TargetTopicArns"),
    "events:event-bus": _Kind("eventbridge", "busArn", "TargetBusArns"),
    "states:stateMachine": _Kind("stepfunctions", "stateMachineArn", "TargetStateMachineArns"),
}


class TargetFields(NamedTuple):
    """The fields of a job that say where it delivers and how often.

    `needs` are pairs of a parameter of the stack and an ARN that it has to list.
    """

    fields: dict[str, Any]
    needs: frozenset[tuple[str, str]]


def target_fields(target: Mapping[str, Any], schedule_arn: str, *, with_roles: bool) -> TargetFields:
    """The job's target, retry and dead-letter queue. Raises NoTargetError.

    The consumer gets the Input alone, as from EventBridge Scheduler. With `with_roles`, deliveries assume the
    role of the schedule. An `https` address in the place of an ARN is Sweephand's own.
    """
    arn = str(target["Arn"])
    job: dict[str, Any] = {}
    needs: set[tuple[str, str]] = set()
    if unknown := sorted(target.keys() - _KNOWN):
        raise NoTargetError(f"Its target has {', '.join(unknown)}, which no target of Sweephand has.")
    if arn.startswith("https://"):
        _check_sent_by_http(target.get("Input", "null"))
        job["target"] = {"type": "http", "url": arn}
    else:
        kind = _kind_of(arn)
        made = {"type": kind.name, kind.field: arn, **_own_fields(kind, target), "format": "raw"}
        made["scheduleArn"] = schedule_arn
        if kind.name == "sqs":
            made["queueUrl"] = queue_url(arn)
        if with_roles:
            made["roleArn"] = target["RoleArn"]
            needs.add(("TargetRoleArns", target["RoleArn"]))
        else:
            needs.add((kind.parameter, arn))
        job["target"] = made
    retry = target.get("RetryPolicy", {})
    job["retry"] = {
        "maxAttempts": retry.get("MaximumRetryAttempts", RETRIES_DEFAULT) + 1,
        "maxAge": f"{retry.get('MaximumEventAgeInSeconds', AGE_S_DEFAULT)}s",
    }
    if dead_letters := target.get("DeadLetterConfig", {}).get("Arn"):
        job["deadLetterQueue"] = queue_url(dead_letters)
        needs.add(("TargetQueueArns", dead_letters))
    return TargetFields(job, frozenset(needs))


def input_of(target: Mapping[str, Any], schedule_arn: str) -> str:
    """The text that the consumer gets, with its placeholders.

    Without an Input, EventBridge Scheduler sends a notification of its own.
    """
    written: str | None = target.get("Input")
    if written is not None:
        return written
    _, _, _, region, account, _ = schedule_arn.split(":", 5)
    return (
        '{"version":"0","id":"<aws.scheduler.execution-id>","detail-type":"Scheduled Event",'
        f'"source":"aws.scheduler","account":"{account}","time":"<aws.scheduler.scheduled-time>",'
        f'"region":"{region}","resources":["<aws.scheduler.schedule-arn>"],"detail":"{{}}"}}'
    )


def queue_url(arn: str) -> str:
    """The URL of a queue."""
    _, partition, _, region, account, name = arn.split(":", 5)
    return f"https://sqs.{region}.{_DOMAINS.get(partition, 'amazonaws.com')}/{account}/{name}"


def _kind_of(arn: str) -> _Kind:
    if _UNIVERSAL in arn:
        call = arn.partition(_UNIVERSAL)[2]
        raise NoTargetError(
            f"Its target is the call {call} of AWS's API, and Sweephand makes no such calls. Let a Lambda "
            "function or a state machine make it, and schedule that."
        )
    parts = arn.split(":", 5)
    service, resource = (parts[2], parts[5]) if len(parts) > 5 else ("", "")  # noqa: PLR2004 - an ARN
    for start, kind in _KINDS.items():
        of, _, begins = start.partition(":")
        if service == of and resource.startswith(begins):
            return kind
    if resource.startswith("api-destination/"):
        raise NoTargetError(
            "Its target is an API destination. Write a job with an `http` target, which has retries and a "
            "signature of its own."
        )
    raise NoTargetError(
        f"Sweephand has no target for {_OTHERS.get(service, service or arn)}. Let a Lambda function or a "
        "state machine make the call, and schedule that."
    )


def _check_sent_by_http(text: str) -> None:
    """Raise NoTargetError for an Input that a request by HTTP would not carry as it is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise NoTargetError("An https address gets JSON, and its Input is none. Give a JSON text.") from None
    if _PLACEHOLDER in text:
        raise NoTargetError(
            "An https address gets its Input as it is, without placeholders filled in. The headers of each "
            "delivery have the due time, the trigger's id and the attempt (docs/webhooks.md)."
        )


def _own_fields(kind: _Kind, target: Mapping[str, Any]) -> dict[str, str]:
    match kind.name:
        case "sqs":
            group = target.get("SqsParameters", {}).get("MessageGroupId")
            return {} if group is None else {"messageGroupId": group}
        case "eventbridge":
            given = target.get("EventBridgeParameters", {})
            names = {"DetailType": "detailType", "Source": "source"}
            return {names[name]: value for name, value in given.items() if name in names}
        case _:
            return {}
