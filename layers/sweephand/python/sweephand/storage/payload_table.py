"""`data` over 2 KB in a table of the operator's, one item for each uid and ref, and in several places."""

import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from botocore.exceptions import ClientError
from pynamodb.attributes import UnicodeAttribute

from sweephand.base.errors import ParameterError, StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.model.definition import StoredPayload
from sweephand.model.page import Page
from sweephand.ports.jobs import PayloadPlace
from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import ItemKey, Refusal, Table

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
