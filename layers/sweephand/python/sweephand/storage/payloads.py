"""How `data` over 2 KB is kept in S3: one object for each uid and ref, and how it comes to expire."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import from_datetime
from sweephand.ports import Page, StoredPayload
from sweephand.storage import connect

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

#: Objects with this tag are expired 14 days after they were written, by a lifecycle rule of the bucket.
DEAD_TAG: Final = "sweephand-state=dead"

_CONTENT_TYPE: Final = "application/json"


class S3Payloads:
    """ports.PayloadStore on a bucket. The client is made when it is first needed: most functions never do."""

    def __init__(self, bucket: str, client: Callable[[], "S3Client"] = connect.s3) -> None:
        self._bucket = bucket
        self._connect = client

    @cached_property
    def _client(self) -> "S3Client":
        return self._connect()

    def put(self, uid: str, ref: str, text: str) -> None:
        """Write the object anew, which takes the tag off one that was discarded."""
        with self._asking("PutObject"):
            self._client.put_object(
                Bucket=self._bucket, Key=_name(uid, ref), Body=text.encode(), ContentType=_CONTENT_TYPE
            )

    def get(self, uid: str, ref: str) -> str | None:
        """The payload; None if there is no such object."""
        try:
            with self._asking("GetObject"):
                answer = self._client.get_object(Bucket=self._bucket, Key=_name(uid, ref))
                return answer["Body"].read().decode()
        except self._client.exceptions.NoSuchKey:
            return None

    def discard(self, uid: str, ref: str) -> None:
        """Copy the object onto itself with the tag on it.

        S3 counts a lifecycle rule's days from when an object was written. Tagged where it lies, one that
        is older than the rule's 14 days would go the same night.
        """
        name = _name(uid, ref)
        try:
            with self._asking("CopyObject"):
                self._client.copy_object(
                    Bucket=self._bucket,
                    Key=name,
                    CopySource={"Bucket": self._bucket, "Key": name},
                    MetadataDirective="REPLACE",
                    ContentType=_CONTENT_TYPE,
                    TaggingDirective="REPLACE",
                    Tagging=DEAD_TAG,
                )
        except self._client.exceptions.NoSuchKey:
            return

    def is_discarded(self, uid: str, ref: str) -> bool:
        """Whether the object has the tag."""
        try:
            with self._asking("GetObjectTagging"):
                answer = self._client.get_object_tagging(Bucket=self._bucket, Key=_name(uid, ref))
        except self._client.exceptions.NoSuchKey:
            return False
        return any(f"{each['Key']}={each['Value']}" == DEAD_TAG for each in answer["TagSet"])

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """Objects by name, at most 1,000: that is S3's own limit."""
        with self._asking("ListObjectsV2"):
            answer = self._client.list_objects_v2(Bucket=self._bucket, StartAfter=after, MaxKeys=limit)
        found = answer.get("Contents", [])
        items = []
        for each in found:
            uid, _, ref = each["Key"].partition("/")
            items.append(StoredPayload(uid, ref, from_datetime(each["LastModified"])))
        return Page(tuple(items), found[-1]["Key"] if answer["IsTruncated"] and found else None)

    @contextmanager
    def _asking(self, operation: str) -> Iterator[None]:
        try:
            yield
        except self._client.exceptions.NoSuchKey:
            raise
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] == "NoSuchKey":
                # Of some operations S3's model does not say that they may answer so.
                raise self._client.exceptions.NoSuchKey(error.response, operation) from error
            raise StoreError(f"{operation} on bucket {self._bucket}: {error}") from error


def _name(uid: str, ref: str) -> str:
    return f"{uid}/{ref}"
