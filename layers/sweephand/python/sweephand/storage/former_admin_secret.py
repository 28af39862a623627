"""The secret of the first admin key, which earlier releases kept in AWS Secrets Manager."""

import boto3
from botocore.exceptions import ClientError

#: The secret's logical id in the templates of those releases.
_LOGICAL_ID = "AdminKeySecret"
_ABSENT = "does not exist"


def former_admin_secret(stack_id: str) -> str | None:
    """The secret that an earlier release of this stack made; None if the stack has no such secret.

    CloudFormation removes a resource that the template no longer has at the end of an update. So the secret
    can be read while the update goes on. Raises ClientError if CloudFormation or Secrets Manager refuses.
    """
    try:
        found = boto3.client("cloudformation").describe_stack_resource(
            StackName=stack_id, LogicalResourceId=_LOGICAL_ID
        )
    except ClientError as error:
        # This is CloudFormation's answer if the stack has no such resource. Its answer for a stack that does
        # not exist has the same code and other words.
        said = str(error)
        if error.response["Error"]["Code"] == "ValidationError" and _LOGICAL_ID in said and _ABSENT in said:
            return None
        raise
    secret_id = found["StackResourceDetail"]["PhysicalResourceId"]
    return str(boto3.client("secretsmanager").get_secret_value(SecretId=secret_id)["SecretString"])
