"""Deploying a stack for the checks on an AWS account, and removing all of it again."""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from infra.local.deploy import Aws
from infra.local.places import LOCAL, PYTHON
from infra.smoke.stage import Queues

from sweephand_deploy.build import Artifact, build, source
from sweephand_deploy.deploy import Order, Talk
from sweephand_deploy.deploy import deploy as make
from sweephand_deploy.parameters import read_parameters
from sweephand_deploy.template import read_template

#: The tag by which Cost Explorer finds what a stack costs. Its value is the stack's name.
TAG = "sweephand-smoke"
_BUILT = LOCAL / "build-smoke"
#: AWS deletes a key so many days after it was scheduled. It bills none of them.
_KEY_DAYS = 7


def artifacts_bucket(stack: str, aws: Aws) -> str:
    """The bucket for the code of this stack. It is removed with the stack."""
    return f"{stack}-{aws.client('sts').get_caller_identity()['Account']}-{aws.region}"


def deploy(stack: str, aws: Aws, parameters: Sequence[str]) -> None:
    """Build for Lambda and deploy under this name. Raises DeployError."""
    bucket, s3 = artifacts_bucket(stack, aws), aws.client("s3")
    # us-east-1 is the only region that must not be named as a location.
    where = {} if aws.region == "us-east-1" else {"LocationConstraint": aws.region}
    s3.create_bucket(Bucket=bucket, **({"CreateBucketConfiguration": where} if where else {}))
    # The build takes uv from the tools of this checkout if nothing else brings Lambda's version of Python.
    os.environ["PATH"] += f"{os.pathsep}{PYTHON.parent}"
    shutil.rmtree(_BUILT, ignore_errors=True)
    _BUILT.mkdir(parents=True)
    build(read_template(source() / "template.yaml"), _BUILT)
    update(stack, aws, parameters)


def update(stack: str, aws: Aws, parameters: Sequence[str]) -> None:
    """Deploy what was built, with these parameters. The others of a stack that is there keep their values.

    Raises DeployError.
    """
    order = Order(
        stack,
        read_parameters(parameters, None),
        bucket=artifacts_bucket(stack, aws),
        tags={TAG: stack},
        artifacts=[Artifact(path.name.partition("-")[0], path) for path in _BUILT.glob("*.zip")],
    )
    make(aws.session, order, Talk(print, lambda _: True, time.sleep))


def make_key(stack: str, aws: Aws) -> str:
    """The ARN of a new KMS key for this stack. Its policy leaves its use to policies of IAM and to logs."""
    kms = aws.client("kms")
    tags = [{"TagKey": TAG, "TagValue": stack}]
    made = kms.create_key(Description=f"For {stack}", Tags=tags, Policy=json.dumps(_key_policy(aws)))
    arn = str(made["KeyMetadata"]["Arn"])
    try:
        kms.create_alias(AliasName=f"alias/{stack}", TargetKeyId=arn)
    except ClientError:
        # remove() finds the key by its alias.
        kms.schedule_key_deletion(KeyId=arn, PendingWindowInDays=_KEY_DAYS)
        raise
    return arn


def _key_policy(aws: Aws) -> Mapping[str, Any]:
    """What docs/parameters.md asks of a key: CloudWatch Logs uses it by itself."""
    identity = aws.client("sts").get_caller_identity()
    account, partition = identity["Account"], identity["Arn"].split(":")[1]
    groups = f"arn:{partition}:logs:{aws.region}:{account}:log-group:*"
    root = {"Principal": {"AWS": f"arn:{partition}:iam::{account}:root"}, "Action": "kms:*"}
    logs = {
        "Principal": {"Service": f"logs.{aws.region}.amazonaws.com"},
        "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    }
    statements = [{"Effect": "Allow", "Resource": "*", **each} for each in (root, logs)]
    return {"Version": "2012-10-17", "Statement": statements}


def remove(stack: str, aws: Aws) -> list[str]:
    """Delete the stack with its tables and buckets, its key of KMS, and the queues.

    Returns what could not be removed, and why. A failure does not stop the rest. What does not exist counts
    as removed.
    """
    left: list[str] = []

    @contextmanager
    def attempt(what: str) -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError) as error:
            if not _is_absent(error):
                left.append(f"{what}: {error}")

    cloudformation, queues = aws.client("cloudformation"), Queues(aws.client("sqs"), stack)
    names: dict[str, str] = {}
    with attempt(f"stack {stack}"):
        for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack):
            for each in page["StackResourceSummaries"]:
                names[each["LogicalResourceId"]] = each.get("PhysicalResourceId", "")
    with attempt(f"stack {stack}"):
        cloudformation.delete_stack(StackName=stack)
        cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack)
    # The stack keeps these when it is deleted.
    for table in filter(None, map(names.get, ("JobsTable", "TimersTable"))):
        with attempt(f"table {table}"):
            tables = aws.client("dynamodb")
            tables.update_table(TableName=table, DeletionProtectionEnabled=False)
            tables.delete_table(TableName=table)
    if bucket := names.get("PayloadBucket"):
        with attempt(f"bucket {bucket}"):
            _delete_bucket(bucket, aws)
    with attempt("bucket of the code"):
        _delete_bucket(artifacts_bucket(stack, aws), aws)
    with attempt(f"KMS key alias/{stack}"):
        kms, alias = aws.client("kms"), f"alias/{stack}"
        key = kms.describe_key(KeyId=alias)["KeyMetadata"]["KeyId"]
        kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=_KEY_DAYS)
        kms.delete_alias(AliasName=alias)
    with attempt("queues"):
        for url in queues.urls():
            with attempt(f"queue {url}"):
                queues.remove(url)
    return left


def _delete_bucket(name: str, aws: Aws) -> None:
    s3 = aws.client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        if objects := [{"Key": each["Key"]} for each in page.get("Contents", [])]:
            s3.delete_objects(Bucket=name, Delete={"Objects": objects})
    s3.delete_bucket(Bucket=name)


def _is_absent(error: Exception) -> bool:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    absent = {"NoSuchBucket", "ResourceNotFoundException", "NotFoundException", "404"}
    return code in absent or "does not exist" in str(error)
