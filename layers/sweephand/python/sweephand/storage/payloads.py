"""How `data` over 2 KB is stored in S3: one object for each uid and ref, and a tag on those that expire."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import from_datetime
from sweephand.model.definition import StoredPayload
from sweephand.model.page import Page
from sweephand.storage import connect

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

#: A lifecycle rule of the bucket removes objects with this tag PAYLOAD_KEPT_MS after they were written.
DEAD_TAG: Final = "sweephand-state=dead"

_CONTENT_TYPE: Final = "application/json"


class S3Payloads:
    """ports.PayloadPlace on a bucket.

    The client is made when first needed, and most functions never need it.
    """

    def __init__(self, bucket: str, client: Callable[[], "S3Client"] = connect.s3) -> None:
        self._bucket = bucket
        self._connect = client

    @cached_property
    def _client(self) -> "S3Client":
        return self._connect()

    def put(self, uid: str, ref: str, text: str) -> None:
        """Write the object. That also removes the tag from one that was discarded."""
        with self._store_errors("PutObject"):
            self._client.put_object(
                Bucket=self._bucket, Key=_name(uid, ref), Body=text.encode(), ContentType=_CONTENT_TYPE
            )

    def get(self, uid: str, ref: str) -> str | None:
        """The payload; None if there is no such object."""
        try:
            with self._store_errors("GetObject"):
                answer = self._client.get_object(Bucket=self._bucket, Key=_name(uid, ref))
                return answer["Body"].read().decode()
        except self._client.exceptions.NoSuchKey:
            return None

    def discard(self, uid: str, ref: str) -> bool:
        """Copy the object onto itself, with the tag; return whether there is such an object.

        S3 counts the days of a lifecycle rule from when the object was written. If the tag were only added,
        an object older than the rule's days would be removed in the same night.
        """
        return self._is_copied(_name(uid, ref), TaggingDirective="REPLACE", Tagging=DEAD_TAG)

    def renew(self, uid: str, ref: str) -> bool:
        """Copy the object onto itself if it has the tag: one read of tags, and one write.

        The copy has the tags that the object has at that moment. So an object that is written again meanwhile
        stays without the tag.
        """
        return self.is_discarded(uid, ref) and self._is_copied(_name(uid, ref), TaggingDirective="COPY")

    def _is_copied(self, name: str, **tags: Any) -> bool:
        try:
            with self._store_errors("CopyObject"):
                self._client.copy_object(
                    Bucket=self._bucket,
                    Key=name,
                    CopySource={"Bucket": self._bucket, "Key": name},
                    MetadataDirective="REPLACE",
                    ContentType=_CONTENT_TYPE,
                    **tags,
                )
        except self._client.exceptions.NoSuchKey:
            return False
        return True

    def is_discarded(self, uid: str, ref: str) -> bool:
        """Whether the object has the tag."""
        try:
            with self._store_errors("GetObjectTagging"):
                answer = self._client.get_object_tagging(Bucket=self._bucket, Key=_name(uid, ref))
        except self._client.exceptions.NoSuchKey:
            return False
        return any(f"{each['Key']}={each['Value']}" == DEAD_TAG for each in answer["TagSet"])

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """Objects by name, at most 1,000, which is S3's own limit."""
        with self._store_errors("ListObjectsV2"):
            answer = self._client.list_objects_v2(Bucket=self._bucket, StartAfter=after, MaxKeys=limit)
        found = answer.get("Contents", [])
        items = []
        for each in found:
            uid, _, ref = each["Key"].partition("/")
            items.append(StoredPayload(uid, ref, from_datetime(each["LastModified"])))
        return Page(tuple(items), found[-1]["Key"] if answer["IsTruncated"] and found else None)

    @contextmanager
    def _store_errors(self, operation: str) -> Iterator[None]:
        try:
            yield
        except self._client.exceptions.NoSuchKey:
            raise
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] == "NoSuchKey":
                # S3's model does not list this error for some operations.
                raise self._client.exceptions.NoSuchKey(error.response, operation) from error
            raise StoreError(f"{operation} on bucket {self._bucket}: {error}") from error


def _name(uid: str, ref: str) -> str:
    return f"{uid}/{ref}"
