"""Makes the target and the data of a job from the target of a schedule, or says why there is none."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

import simplejson

from sweephand_client.http import exact_json
from sweephand_client.openapi.requests import JobRequest

#: What EventBridge Scheduler fills in (AWS, "Adding context attributes in EventBridge Scheduler").
_PLACEHOLDER: Final = re.compile(r"<aws\.scheduler\.[a-z-]+>")

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

#: How a call of AWS's API stands in the place of an ARN (AWS, "Using universal targets").
_UNIVERSAL: Final = ":aws-sdk:"

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

_ENVELOPE: Final = (
    '{} is {{"sweephand": {{…}}, "data": …}}, and the Input is its `data`. Let the consumer read it there.'
)


class CannotMoveError(Exception):
    """A schedule that no job can take the place of. The message says why, and what can be done."""


class Kind(NamedTuple):
    """A target type: its name, the field of its ARN, and the stack's parameter that lists such ARNs.

    `receives` is what the consumer gets, if that is not the Input alone.
    """

    name: str
    field: str
    parameter: str
    receives: str = ""


_KINDS: Final[Mapping[str, Kind]] = {
    "lambda:function": Kind("lambda", "functionArn", "TargetFunctionArns", "The function's event"),
    "sqs:": Kind("sqs", "queueUrl", "TargetQueueArns"),
    "sns:": Kind("sns", "topicArn", "TargetTopicArns"),
    "events:event-bus": Kind("eventbridge", "busArn", "TargetBusArns", "The event's detail"),
    "states:stateMachine": Kind(
        "stepfunctions", "stateMachineArn", "TargetStateMachineArns", "The execution's input"
    ),
}


class Translated(NamedTuple):
    """The fields of a job, what changes, and what the stack needs: pairs of a parameter and an ARN for it."""

    fields: JobRequest
    changes: tuple[str, ...]
    needs: frozenset[tuple[str, str]]


def translate_target(target: Mapping[str, Any], *, with_roles: bool) -> Translated:
    """The job's target, data, retry and dead-letter queue. Raises CannotMoveError.

    With `with_roles`, deliveries assume the role of the schedule, as EventBridge Scheduler does.
    """
    arn, receives = str(target["Arn"]), ""
    job: JobRequest = {}
    changes: list[str] = []
    needs: set[tuple[str, str]] = set()
    if arn.startswith("https://"):
        job["target"] = {"type": "http", "url": arn}
    else:
        kind = _kind_of(arn)
        made: dict[str, Any] = {"type": kind.name, kind.field: arn, **_own_fields(kind, target)}
        if kind.name == "sqs":
            made["queueUrl"] = queue_url(arn)
        if with_roles:
            made["roleArn"] = target["RoleArn"]
            needs.add(("TargetRoleArns", target["RoleArn"]))
        else:
            needs.add((kind.parameter, arn))
        job["target"] = cast("Any", made)
        receives = kind.receives
    if unknown := sorted(target.keys() - _KNOWN):
        raise CannotMoveError(f"Its target has {', '.join(unknown)}, which no target of Sweephand has.")
    if receives:
        changes.append(_ENVELOPE.format(receives))
    if "Input" in target:
        job["data"] = _data(target["Input"])
        if not receives and exact_json.write(job["data"]) != target["Input"]:
            changes.append("The Input is written as equal JSON with other white space or escapes.")
    else:
        changes.append("Without an Input, EventBridge sends a notification of its own. The data is null.")
    retry = target.get("RetryPolicy", {})
    if retry:
        job["retry"] = {
            "maxAttempts": retry.get("MaximumRetryAttempts", 185) + 1,
            "maxAge": f"{retry.get('MaximumEventAgeInSeconds', 86_400)}s",
        }
    if dead_letters := target.get("DeadLetterConfig", {}).get("Arn"):
        job["deadLetterQueue"] = queue_url(dead_letters)
        needs.add(("TargetQueueArns", dead_letters))
        changes.append("A dead letter says what happened, and has another form (docs/retries.md).")
    return Translated(job, tuple(changes), frozenset(needs))


def queue_url(arn: str) -> str:
    """The URL of a queue."""
    _, partition, _, region, account, name = arn.split(":", 5)
    return f"https://sqs.{region}.{_DOMAINS.get(partition, 'amazonaws.com')}/{account}/{name}"


def _kind_of(arn: str) -> Kind:
    if _UNIVERSAL in arn:
        call = arn.partition(_UNIVERSAL)[2]
        raise CannotMoveError(
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
        raise CannotMoveError(
            "Its target is an API destination. Write a job with an `http` target, which has retries and a "
            "signature of its own."
        )
    raise CannotMoveError(
        f"Sweephand has no target for {_OTHERS.get(service, service or arn)}. Let a Lambda function or a "
        "state machine make the call, and schedule that."
    )


def _own_fields(kind: Kind, target: Mapping[str, Any]) -> dict[str, str]:
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


def _data(text: str) -> Any:
    """The value of an Input. Raises CannotMoveError if a job could not deliver all of it."""
    if found := sorted(set(_PLACEHOLDER.findall(text))):
        raise CannotMoveError(
            f"Its Input has {', '.join(found)}, which Sweephand does not fill in. Let the consumer read the "
            "due time, the trigger's id and the attempt where each delivery has them (docs/webhooks.md)."
        )
    try:
        value = exact_json.read(text)
    except ValueError:
        raise CannotMoveError(
            "Its Input is a text and no JSON, and Sweephand delivers JSON. Let the consumer read a JSON "
            'text, such as "text" with its quotes.'
        ) from None
    simplejson.loads(text, object_pairs_hook=_unique)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CannotMoveError(
            "Its Input has a name twice in an object. A job keeps only one of the values. Remove the other."
        )
    return found
