"""The bucket from which CloudFormation takes the code of stacks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from sweephand_deploy.errors import RefusedError


class Bucket:
    """A bucket of this account and region.

    Every request names the account as the owner. So nobody else can take the code by making a bucket with
    this name first.
    """

    def __init__(self, s3: Any, name: str, account: str) -> None:
        self._s3 = s3
        self._where = {"Bucket": name, "ExpectedBucketOwner": account}
        self.name = name

    def make(self, region: str) -> bool:
        """Make the bucket unless it is there: private, encrypted and versioned.

        Returns whether it was not there.
        """
        if self._is_there():
            return False
        # us-east-1 is the only region that must not be named as a location.
        where = {} if region == "us-east-1" else {"LocationConstraint": region}
        asked = {"CreateBucketConfiguration": where} if where else {}
        self._s3.create_bucket(Bucket=self.name, **asked)
        with self._removed_on_failure():
            flags = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
            self._s3.put_public_access_block(
                **self._where, PublicAccessBlockConfiguration=dict.fromkeys(flags, True)
            )
            rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
            self._s3.put_bucket_encryption(**self._where, ServerSideEncryptionConfiguration={"Rules": [rule]})
            self._s3.put_bucket_versioning(**self._where, VersioningConfiguration={"Status": "Enabled"})
        return True

    def put(self, key: str, content: bytes) -> bool:
        """Write an object unless it is there. Its key has a digest of the content.

        Returns whether it was not there.
        """
        try:
            self._s3.head_object(**self._where, Key=key)
        except ClientError as error:
            # Without the right to list, S3 answers 403 to the question for an object that is absent.
            if _status(error) not in (403, 404):
                raise
        else:
            return False
        self._s3.put_object(**self._where, Key=key, Body=content)
        return True

    def url(self, key: str) -> str:
        """The address of an object, as CloudFormation takes it."""
        return f"{self._s3.meta.endpoint_url}/{self.name}/{key}"

    def _is_there(self) -> bool:
        try:
            self._s3.head_bucket(**self._where)
        except ClientError as error:
            if _status(error) == 404:  # noqa: PLR2004 - absent
                return False
            raise RefusedError(
                f"The bucket {self.name} cannot be used: it belongs to another account, or you have no right "
                "to list it. Name another one with --bucket."
            ) from error
        return True

    @contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        """Leave no bucket behind that is not private."""
        try:
            yield
        except BaseException:
            self._s3.delete_bucket(**self._where)
            raise


def _status(error: ClientError) -> int:
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
