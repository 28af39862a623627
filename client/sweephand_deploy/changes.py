"""Change sets: what a deployment would add, change, replace and remove."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from botocore.exceptions import ClientError

from sweephand_deploy.errors import RefusedError

#: The template makes roles, and is one of SAM's.
_CAPABILITIES: Final = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]

#: How CloudFormation words that nothing would change. SAM's command line knows the same two sentences.
_NO_CHANGES: Final = ("didn't contain changes", "No updates are to be performed")

_POLL_S: Final = 2

#: What CloudFormation calls `Replacement` in a change that it calls `Modify`.
_REPLACEMENTS: Final = {"True": "Replace", "Conditional": "Conditional"}

#: How a line shows each kind of change, in the order of the lines.
_MARKS: Final = {
    "Add": "+ added",
    "Modify": "~ changed",
    "Conditional": "~ perhaps replaced",
    "Remove": "- removed",
    "Replace": "! replaced",
}

#: Types of resources that hold what nobody can make again, or that have the address of the API.
_PRECIOUS: Final = (
    "AWS::ApiGatewayV2::Api",
    "AWS::DynamoDB::Table",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
)

#: Kinds of changes that end a resource, or may do so.
_ENDING: Final = ("Conditional", "Remove", "Replace")


class Change(NamedTuple):
    """What would become of a resource. The action is one of those that a line shows.

    "Conditional" says that the resource is changed or replaced. AWS knows only later which of the two.
    """

    action: str
    logical_id: str
    kind: str


class ChangeSet(NamedTuple):
    """A change set that can be executed."""

    arn: str
    stack_id: str
    changes: Sequence[Change]


def described(cloudformation: Any, stack: str) -> Mapping[str, Any] | None:
    """What CloudFormation says of a stack. None if there is none."""
    try:
        [found] = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    result: Mapping[str, Any] = found
    return result


def make_change_set(
    cloudformation: Any,
    *,
    stack: str,
    name: str,
    template_url: str,
    parameters: Sequence[Mapping[str, Any]],
    role_arn: str | None,
    tags: Mapping[str, str],
    creates: bool,
    pause: Callable[[float], None],
) -> ChangeSet | None:
    """A new change set. None if it would change nothing. RefusedError with the reason of CloudFormation.

    If the creation of a stack fails later, CloudFormation deletes what it has made. Otherwise the stack
    would stay as ROLLBACK_COMPLETE, which can only be deleted.
    """
    options: dict[str, Any] = {"RoleARN": role_arn} if role_arn else {}
    if tags:
        options["Tags"] = [{"Key": name, "Value": value} for name, value in tags.items()]
    if creates:
        options["OnStackFailure"] = "DELETE"
    made = cloudformation.create_change_set(
        StackName=stack,
        ChangeSetName=name,
        ChangeSetType="CREATE" if creates else "UPDATE",
        TemplateURL=template_url,
        Parameters=parameters,
        Capabilities=_CAPABILITIES,
        **options,
    )
    arn = made["Id"]
    while (told := cloudformation.describe_change_set(ChangeSetName=arn))["Status"] not in (
        "CREATE_COMPLETE",
        "FAILED",
    ):
        pause(_POLL_S)
    if told["Status"] == "FAILED":
        cloudformation.delete_change_set(ChangeSetName=arn)
        reason = told.get("StatusReason", "CloudFormation gives no reason.")
        if any(sentence in reason for sentence in _NO_CHANGES):
            return None
        raise RefusedError(f"CloudFormation refused the change set: {reason}")
    return ChangeSet(arn, made["StackId"], list(_changes(cloudformation, arn, told)))


def _changes(cloudformation: Any, arn: str, page: Mapping[str, Any]) -> Iterator[Change]:
    while True:
        for each in page.get("Changes", []):
            change = each["ResourceChange"]
            action = change["Action"]
            if action == "Modify":
                action = _REPLACEMENTS.get(change.get("Replacement", ""), action)
            yield Change(action, change["LogicalResourceId"], change["ResourceType"])
        if "NextToken" not in page:
            return
        page = cloudformation.describe_change_set(ChangeSetName=arn, NextToken=page["NextToken"])


def lines_of(changes: Sequence[Change]) -> Iterator[str]:
    """A line for each change, then their numbers, and at the end loudly what could be lost."""
    order = list(_MARKS)
    known = [each for each in changes if each.action in _MARKS]
    for each in sorted(known, key=lambda change: (order.index(change.action), change.logical_id)):
        yield f"  {_MARKS[each.action]:<19}{each.logical_id:<36}{each.kind}"
    counts = {action: sum(each.action == action for each in changes) for action in order}
    yield ", ".join(f"{count} {_MARKS[action][2:]}" for action, count in counts.items() if count)
    for each in known:
        if each.action in _ENDING and each.kind in _PRECIOUS:
            yield f"!!! {_MARKS[each.action][2:].upper()}: {each.logical_id} ({each.kind})"
