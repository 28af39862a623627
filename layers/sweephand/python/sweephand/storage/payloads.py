"""How `data` over 2 KB is stored: in S3, in a table of the operator's, or in several places.

S3 has one object for each uid and ref, and a tag on those that expire. A table has one item for each.
"""

import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute

from sweephand.base.errors import ParameterError, StoreError
from sweephand.base.instants import SECOND_MS, Instant, from_datetime
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.model.definition import StoredPayload
from sweephand.model.page import Page
from sweephand.ports.jobs import PayloadPlace
from sweephand.storage import connect
from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import ItemKey, Refusal, Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


#: A lifecycle rule of the bucket removes objects with this tag PAYLOAD_KEPT_MS after they were written.
DEAD_TAG: Final = "sweephand-state=dead"

_CONTENT_TYPE: Final = "application/json"


class S3Payloads:
    """ports.PayloadPlace on a bucket.

    The client is made when first needed, and most functions never need it.
    """

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _client(self) -> "S3Client":
        return connect.s3()

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


#: The first character of a uid is one of these. Each has a partition of its own, so that the partitions
#: together have the order of the uids.
_FIRST_CHARACTERS: Final = string.digits + string.ascii_lowercase

#: Queries that find items, in one page. Each reads up to 1 MB, since DynamoDB reads whole items.
_QUERIES_MAX: Final = 20

#: How DynamoDB refuses a request to a table that does not exist, or that has other keys.
_NO_SUCH_TABLE: Final = ("ResourceNotFoundException", "ValidationException")


class PayloadItem(Item):
    """A payload as stored. With `expires_at` it is discarded."""

    data = UnicodeAttribute()
    written_at = IntegerAttribute()


class DynamoPayloads:
    """ports.PayloadPlace on a table of the operator's.

    The partition keys begin with `prefix`, the name of the stack's bucket, which no other stack has. So a
    table may serve several stacks, and other purposes too. `parameter` is the stack's parameter that names
    the table.
    """

    def __init__(self, table: Table, prefix: str, now: Callable[[], Instant], parameter: str) -> None:
        self._table = table
        self._prefix = prefix
        self._now = now
        self._parameter = parameter
        self._has_right_keys = False

    def put(self, uid: str, ref: str, text: str) -> None:
        """Write the item, also over a discarded one. One write unit for each KB.

        An item has 400 KB at most, and `data` has 256 KB at most. Raises ParameterError, before anything is
        written, if the table does not exist or has other keys.
        """
        with self._parameter_errors():
            if not self._has_right_keys:
                # A table without a sort key would take all items of a partition as one.
                self._table.get(self._key("0", ""))
                self._has_right_keys = True
            self._table.put(PayloadItem(*self._key(uid, ref), data=text, written_at=self._now()))

    def get(self, uid: str, ref: str) -> str | None:
        """The payload. One strong read: a read unit for each 4 KB. A table with other keys has no payload."""
        try:
            with self._parameter_errors():
                raw = self._table.get(self._key(uid, ref))
        except ParameterError:
            return None
        return None if raw is None else str(PayloadItem.read(raw).data)

    def discard(self, uid: str, ref: str) -> bool:
        """Have the item expire, and return whether there is such an item.

        DynamoDB removes the item if the table has a time to live. Otherwise page() removes it.
        """
        action = PayloadItem.expires_at.set((self._now() + PAYLOAD_KEPT_MS) // SECOND_MS)
        with self._parameter_errors():
            is_there = PayloadItem.pk.exists()
            found = self._table.update(self._key(uid, ref), [action], is_there)
        return not isinstance(found, Refusal)

    def renew(self, uid: str, ref: str) -> bool:
        """Move the end of the item if it has one: a write unit for each KB, written or not."""
        with self._parameter_errors():
            return self._table.keep(self._key(uid, ref), self._now() + PAYLOAD_KEPT_MS)

    def is_discarded(self, uid: str, ref: str) -> bool:
        """Whether the item expires."""
        with self._parameter_errors():
            raw = self._table.get(self._key(uid, ref))
        return raw is not None and PayloadItem.read(raw).expires_at is not None

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """Items by uid and ref. Fewer than `limit` if they are large. Removes items that have expired."""
        found: list[StoredPayload] = []
        queries = 0
        with self._parameter_errors():
            for character in _FIRST_CHARACTERS:
                if character < after[:1]:
                    continue
                has_more = True
                while has_more:
                    if queries == _QUERIES_MAX or len(found) >= limit:
                        return Page(tuple(found), after)
                    partition = PayloadItem.pk == self._partition(character)
                    condition = partition & (PayloadItem.sk > max(after, character))
                    read = self._table.query(condition, limit - len(found))
                    has_more = read.has_more
                    for raw in read.items:
                        item = PayloadItem.read(raw)
                        after = item.sk
                        if not self._was_removed(item.pk, item.sk, item.expires_at):
                            uid, _, ref = item.sk.partition("/")
                            found.append(StoredPayload(uid, ref, item.written_at))
                    queries += bool(read.items)
        return Page(tuple(found), None)

    def _was_removed(self, pk: str, sk: str, expires_at: int | None) -> bool:
        """Remove an item that has expired, unless it was written again; return whether it has expired."""
        now_s = self._now() // SECOND_MS
        if expires_at is None or expires_at > now_s:
            return False
        self._table.delete((pk, sk), PayloadItem.expires_at <= now_s)
        return True

    def _partition(self, character: str) -> str:
        return f"{self._prefix}#{character}"

    def _key(self, uid: str, ref: str) -> ItemKey:
        assert uid[0] in _FIRST_CHARACTERS, f"the audit would not find the uid {uid}"
        return self._partition(uid[0]), f"{uid}/{ref}"

    @contextmanager
    def _parameter_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            if not _is_refused(error.__cause__):
                raise
            raise ParameterError(
                f"{self._parameter} must name a table of the stack's account and region, with the partition "
                f"key pk and the sort key sk, both of the type string. DynamoDB says: {error.__cause__}"
            ) from error


def _is_refused(cause: BaseException | None) -> bool:
    return isinstance(cause, ClientError) and cause.response["Error"]["Code"] in _NO_SUCH_TABLE


class PayloadsInPlaces:
    """ports.PayloadStore over several places. A payload has the same uid and ref in each of them."""

    def __init__(self, places: Sequence[PayloadPlace]) -> None:
        self._places = places

    def put(self, uid: str, ref: str, text: str) -> None:
        """Keep the payload in the first place."""
        self._places[0].put(uid, ref, text)

    def get(self, uid: str, ref: str) -> str | None:
        """The payload from the first place that has it.

        StoreError if a place before that one did not answer: the payload may be there.
        """
        texts = (each.get(uid, ref) for each in self._places)
        return next((text for text in texts if text is not None), None)

    def discard(self, uid: str, ref: str) -> bool:
        """Discard the payload in the first place that has it.

        A copy in a later place was discarded when the audit moved the payload. If it was not, the audit
        discards it.
        """
        return any(each.discard(uid, ref) for each in self._places)

    def renew(self, uid: str, ref: str) -> bool:
        """Renew the payload in the first place in which it expires."""
        return any(each.renew(uid, ref) for each in self._places)
