"""The bucket for code, on moto."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from tests.unit.deploy.conftest import refusal

from sweephand_deploy.bucket import Bucket
from sweephand_deploy.errors import RefusedError

ACCOUNT = "123456789012"


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws():
        make: Any = boto3.client
        yield make("s3", region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test")


@pytest.fixture
def bucket(s3: Any) -> Bucket:
    return Bucket(s3, "code", ACCOUNT)


def test_it_is_made_once_private_encrypted_and_versioned(s3: Any, bucket: Bucket) -> None:
    assert bucket.make("eu-west-1")
    assert not bucket.make("eu-west-1")

    blocked = s3.get_public_access_block(Bucket="code")["PublicAccessBlockConfiguration"]
    assert set(blocked.values()) == {True}
    assert len(blocked) == 4
    [rule] = s3.get_bucket_encryption(Bucket="code")["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert s3.get_bucket_versioning(Bucket="code")["Status"] == "Enabled"
    assert s3.get_bucket_location(Bucket="code")["LocationConstraint"] == "eu-west-1"


def test_a_bucket_that_cannot_be_made_private_is_not_left_behind(
    s3: Any, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise refusal("AccessDenied", "no")

    monkeypatch.setattr(s3, "put_public_access_block", refuse)
    with pytest.raises(type(refusal("", ""))):
        bucket.make("eu-west-1")
    assert s3.list_buckets()["Buckets"] == []


def test_a_bucket_of_another_account_is_refused(
    bucket: Bucket, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*, Bucket: str, ExpectedBucketOwner: str) -> None:  # noqa: N803 - boto3's names
        assert (Bucket, ExpectedBucketOwner) == ("code", ACCOUNT)
        raise refusal("403", "Forbidden", 403, "HeadBucket")

    monkeypatch.setattr(s3, "head_bucket", refuse)
    with pytest.raises(RefusedError, match="belongs to another account"):
        bucket.make("eu-west-1")


def test_an_object_is_written_once(s3: Any, bucket: Bucket) -> None:
    bucket.make("eu-west-1")
    assert bucket.put("a.zip", b"content")
    assert not bucket.put("a.zip", b"content")
    assert s3.get_object(Bucket="code", Key="a.zip")["Body"].read() == b"content"
    assert bucket.url("a.zip").endswith("amazonaws.com/code/a.zip")
