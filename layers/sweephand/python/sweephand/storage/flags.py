"""How flags are stored in the Jobs table: one item each, the newest first, over 16 partitions."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from zlib import crc32

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import NAME, WHOLE, Field, Layout, Part
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.run import Flag
from sweephand.model.run_id import RunName, run_position
from sweephand.model.wire_parts import DEMAND
from sweephand.storage.item import Item, StoredItem, expiry, fields_of
from sweephand.storage.listing import Listing, merged
from sweephand.storage.table import RawItem, Table

#: The partitions that one namespace is spread over. DynamoDB takes 1,000 writes a second in each, and a
#: consumer that is down can fail as many runs in a second as Sweephand delivers.
FLAG_PARTITIONS: Final = 16

#: Instants have at most 15 digits. A sort key begins with what is left up to the highest number of 15 digits.
#: So a query reads the newest due times first.
_HIGHEST: Final = 999_999_999_999_999

#: Sorts after everything that can follow a due time in a sort key.
_AFTER_ALL: Final = "\x7f"


#: A flag as stored. Its key holds the namespace, and `expires_at` its end in seconds.
_FLAG: Final = Layout(
    Flag,
    Part("key", Layout(dict, Field("name", "name", NAME))),
    Field("uid", "uid", NAME),
    Part(
        "run",
        Layout(
            RunName,
            Field("due_at", "due", WHOLE),
            Field("index", "index", WHOLE),
            Field("demand", "demand", DEMAND.form, None),
        ),
    ),
)


class DynamoFlags:
    """ports.FlagStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, flag: Flag) -> None:
        """Write a flag: 1 WRU."""
        position = _position(flag)
        partition = _partition(flag.key.namespace, crc32(position.encode()) % FLAG_PARTITIONS)
        item = StoredItem(partition, position, _FLAG, flag, expires_at=expiry(flag.expires_at))
        self._table.put(item)

    def page(self, namespace: str, since: Instant, after: str, limit: int) -> Page[Flag]:
        """Up to `limit` flags, newest due time first, merged from 16 partitions."""
        # Nothing is due before 1970. What is left up to the highest number would have 16 digits there.
        high = f"{_HIGHEST - max(since, 0):015d}{_AFTER_ALL}"
        listings = [
            Listing(partial(self._query, _partition(namespace, partition), high))
            for partition in range(FLAG_PARTITIONS)
        ]
        items, following = merged(listings, after, limit)
        return Page(tuple(_flag(raw) for raw in items), following)

    def _query(
        self, partition: str, high: str, after: str, limit: int
    ) -> tuple[Sequence[tuple[str, RawItem]], bool]:
        low = after + "\0"
        if low > high:
            return (), False
        result = self._table.query((Item.pk == partition) & Item.sk.between(low, high), limit)
        return [(raw["sk"]["S"], raw) for raw in result.items], result.has_more


def _partition(namespace: str, partition: int) -> str:
    return f"flags#{namespace}#{partition}"


def _position(flag: Flag) -> str:
    """The sort key of a flag. A job's uid is part of it, so runs of two jobs never share one."""
    _, _, place = run_position(flag.run, flag.uid).partition("#")
    return f"{_HIGHEST - flag.run.due_at:015d}#{place}"


def _flag(raw: RawItem) -> Flag:
    fields = fields_of(_FLAG, raw)
    key = JobKey(raw["pk"]["S"].split("#")[1], **fields["key"])
    expires_at = int(raw["expires_at"]["N"]) * SECOND_MS if "expires_at" in raw else None
    return Flag(**fields | {"key": key}, expires_at=expires_at)
