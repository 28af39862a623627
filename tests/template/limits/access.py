"""Rules about policies: of roles, queues and buckets."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final

from tests.template.limits.models import operations
from tests.template.limits.resolved import Resolved
from tests.template.limits.rule import DOCS, Rule, between, each, every
from tests.template.stack import listed

_IAM: Final = f"{DOCS}/IAM/latest/UserGuide/reference_iam-quotas.html"
_SID: Final = f"{DOCS}/IAM/latest/UserGuide/reference_policies_elements_sid.html"
_VERSION: Final = f"{DOCS}/IAM/latest/UserGuide/reference_policies_elements_version.html"
_ACTIONS: Final = f"{DOCS}/service-authorization/latest/reference/reference.html"
_QUEUE_POLICY: Final = f"{DOCS}/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html"
_ONE_QUEUE: Final = (
    "http://docs.amazonwebservices.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
    "AccessPolicyLanguage_SpecialInfo.html, and https://github.com/remind101/stacker_blueprints/pull/71"
)
_BUCKET_POLICY: Final = f"{DOCS}/AmazonS3/latest/userguide/bucket-policies.html"

#: Actions without an operation of the same name.
_WITHOUT_OPERATION: Final = frozenset({"lambda:InvokeFunction", "s3:ListBucket"})


def size(document: Any) -> int:
    """The characters of a policy that count. IAM counts no blanks between them."""
    return len(json.dumps(document, separators=(",", ":")))


def _inline(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for role in stack.named("AWS::IAM::Role"):
        yield role, sum(size(document) for kind, document in stack.policies_of(role) if kind == "inline")


def managed(stack: Resolved) -> dict[str, set[str]]:
    """The managed policies of each role."""
    names = {name: each["Roles"] for name, each in stack.named("AWS::IAM::ManagedPolicy").items()}
    return {
        role: {name for name, roles in names.items() if stack.reference(role) in roles}
        | set(properties.get("ManagedPolicyArns", []))
        for role, properties in stack.named("AWS::IAM::Role").items()
    }


def is_replaced(before: Resolved, after: Resolved, policy: str) -> bool:
    """Whether CloudFormation makes a managed policy anew, because IAM cannot change these two properties."""
    old, new = (each.named("AWS::IAM::ManagedPolicy").get(policy, {}) for each in (before, after))
    return any(old.get(name) != new.get(name) for name in ("Description", "Path"))


def _counted(stack: Resolved) -> Iterator[tuple[str, Any]]:
    yield from ((role, len(policies)) for role, policies in managed(stack).items())


def _documents(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for role, properties in stack.named("AWS::IAM::Role").items():
        yield role, properties["AssumeRolePolicyDocument"]
        yield from ((role, document) for _, document in stack.policies_of(role))
    for kind in ("AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"):
        yield from each(kind, "PolicyDocument")(stack)


def _sids(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, document in _documents(stack):
        yield name, [statement["Sid"] for statement in document["Statement"] if "Sid" in statement]


def _actions(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, document in _documents(stack):
        actions = chain.from_iterable(listed(statement["Action"]) for statement in document["Statement"])
        yield from ((name, action) for action in actions)


def _is_action(action: str) -> bool:
    service, _, name = action.partition(":")
    if action in _WITHOUT_OPERATION or name == "*":
        return True
    return any(fnmatchcase(operation, name) for operation in operations(service))


def _policies_of_queues(stack: Resolved) -> Iterator[tuple[str, Any]]:
    policies = [policy["Queues"] for policy in stack.named("AWS::SQS::QueuePolicy").values()]
    yield from ((queue, sum(queue in queues for queues in policies)) for queue in set(chain(*policies)))


_OF_QUEUE: Final = "AWS::SQS::QueuePolicy"

RULES: Final = [
    Rule(
        "AWS::IAM::Role, all inline policies",
        "10,240 characters",
        _IAM,
        _inline,
        between(0, 10_240),
        10_241,
    ),
    Rule(
        "AWS::IAM::ManagedPolicy.PolicyDocument",
        "6,144 characters",
        _IAM,
        each("AWS::IAM::ManagedPolicy", "PolicyDocument"),
        lambda document: size(document) <= 6_144,
        {"Statement": ["x" * 6_144]},
    ),
    Rule("AWS::IAM::Role, managed policies", "10 of them", _IAM, _counted, between(0, 10), 11),
    Rule(
        "AWS::IAM::Role.AssumeRolePolicyDocument",
        "2,048 characters",
        _IAM,
        each("AWS::IAM::Role", "AssumeRolePolicyDocument"),
        lambda document: size(document) <= 2_048,
        {"Statement": ["x" * 2_048]},
    ),
    Rule(
        "PolicyDocument.Version",
        "2012-10-17: an older version takes ${aws:...} for a text",
        _VERSION,
        _documents,
        lambda document: document.get("Version") == "2012-10-17",
        {"Version": "2008-10-17", "Statement": []},
    ),
    Rule(
        "PolicyDocument.Statement",
        "at least one",
        f"{DOCS}/IAM/latest/UserGuide/reference_policies_elements_statement.html",
        _documents,
        lambda document: len(document["Statement"]) > 0,
        {"Statement": []},
    ),
    Rule(
        "PolicyDocument.Statement.Sid",
        "letters and digits, and no two alike in a policy",
        _SID,
        _sids,
        lambda sids: len(set(sids)) == len(sids) and all(re.fullmatch("[A-Za-z0-9]+", sid) for sid in sids),
        ["Log", "Log"],
    ),
    Rule(
        "PolicyDocument.Statement.Action",
        "an action of its service",
        _ACTIONS,
        _actions,
        _is_action,
        "sqs:SendMessages",
    ),
    Rule(
        f"{_OF_QUEUE}.PolicyDocument.Statement.Resource",
        "one: a queue, or * for the queue that has the policy",
        _ONE_QUEUE,
        every(_OF_QUEUE, "PolicyDocument", "Statement"),
        lambda statement: isinstance(statement["Resource"], str) or len(statement["Resource"]) == 1,
        {"Resource": ["arn:aws:sqs:eu-west-1:123456789012:a", "arn:aws:sqs:eu-west-1:123456789012:b"]},
    ),
    Rule(
        f"{_OF_QUEUE}.PolicyDocument.Statement.Action",
        "7 in a statement",
        _QUEUE_POLICY,
        every(_OF_QUEUE, "PolicyDocument", "Statement"),
        lambda statement: len(listed(statement["Action"])) <= 7,
        {"Action": ["sqs:SendMessage"] * 8},
    ),
    Rule(
        f"{_OF_QUEUE}.PolicyDocument",
        "8,192 bytes, 20 statements and 10 conditions",
        _QUEUE_POLICY,
        each(_OF_QUEUE, "PolicyDocument"),
        lambda document: (
            size(document) <= 8_192
            and len(document["Statement"]) <= 20
            and sum(len(statement.get("Condition", {})) for statement in document["Statement"]) <= 10
        ),
        {"Statement": [{}] * 21},
    ),
    Rule(
        f"{_OF_QUEUE}.Queues",
        "a queue has one policy: a second one would replace the first",
        f"{DOCS}/AWSCloudFormation/latest/TemplateReference/aws-resource-sqs-queuepolicy.html",
        _policies_of_queues,
        between(1, 1),
        2,
    ),
    Rule(
        "AWS::S3::BucketPolicy.PolicyDocument",
        "20 KB",
        _BUCKET_POLICY,
        each("AWS::S3::BucketPolicy", "PolicyDocument"),
        lambda document: size(document) <= 20 * 1024,
        {"Statement": ["x" * 20 * 1024]},
    ),
]
