"""How the progress of batches is stored in the Jobs table: heads by job, and each page by itself.

The heads of a job share a partition, so that they can be listed. Each page has a partition of its own. A
batch of a million may mark thousands of runs a second, but a partition takes 1,000 writes.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Final

from pynamodb.expressions.operand import Path

from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, NUMBER, TRUTH, WHOLE, Field, Layout, Part
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import WORDS, BatchHead, PageName, ProgressPage
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.run_id import AFTER_UIDS, Demand, batch_position
from sweephand.model.wire_parts import COUNTS, DEMAND
from sweephand.storage.item import IntegerAttribute, Item, StoredItem, expiry, fields_of
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

#: The attribute of a word: this and its number. A word without any mark is not stored.
_WORD: Final = "w"


#: The head of a batch as stored. Its key holds the namespace and the name of its job.
_HEAD: Final = Layout(
    BatchHead,
    Part(
        "name",
        Layout(
            dict,
            Field("uid", "uid", NAME),
            Field("due_at", "due", WHOLE),
            Field("demand", "demand", DEMAND.form, None),
        ),
    ),
    Part(
        "size",
        Layout(BatchSize, Field("total", "total", WHOLE), Field("window_ms", "window", WHOLE)),
    ),
    Field("ended_at", "ended", WHOLE, None),
    Field("counts", "counts", COUNTS.form, None),
    Field("was_told", "told", TRUTH, default=False),
    Field("expires_at", "gone", NUMBER),
    Field("began_at", "began", WHOLE, None),
)


class HeadItem(StoredItem):
    """The head of a batch as stored. `stage` is for the condition of its write."""

    stage = IntegerAttribute()


class PageItem(Item):
    """A page as stored, without its words."""

    gone_at = IntegerAttribute(attr_name="gone")


class DynamoBatches:
    """ports.BatchStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def advance(self, head: BatchHead) -> BatchHead:
        """Write the head over an earlier stage: 1 WRU, and the same if it is refused."""
        absent = HeadItem.pk.does_not_exist()
        refusal = self._table.put(_head_item(head), absent | (HeadItem.stage < head.stage))
        return head if refusal is None else _head(refusal.existing)

    def get(self, name: BatchName) -> BatchHead | None:
        """The head of that batch, by its key."""
        raw = self._table.get((_heads(name.key), name.position))
        return None if raw is None else _head(raw)

    def find(self, key: JobKey, due_at: Instant, demand: Demand | None) -> BatchHead | None:
        """The head of that name, by a query, since the uid of its job is not known."""
        low = batch_position(due_at, demand, "")
        in_range = HeadItem.sk.between(low, low + AFTER_UIDS)
        found = self._table.query((HeadItem.pk == _heads(key)) & in_range, 1, backwards=True).items
        return _head(found[0]) if found else None

    def page(self, key: JobKey, before: str, limit: int) -> Page[BatchHead]:
        """Up to `limit` heads, newest due time first, by a query that runs backwards."""
        of_job = HeadItem.pk == _heads(key)
        condition = of_job & (HeadItem.sk < before) if before else of_job
        result = self._table.query(condition, limit, backwards=True)
        return Page(tuple(map(_head, result.items)), result.items[-1]["sk"]["S"] if result.has_more else None)

    def marks(self, names: Sequence[PageName]) -> Mapping[PageName, ProgressPage]:
        """The pages, 100 to a request. Each costs 1 RRU."""
        by_key = {_page_key(name): name for name in names}
        found = self._table.get_batch(list(by_key))
        return {name: _page(name, raw) for raw in found for name in (by_key[raw["pk"]["S"], raw["sk"]["S"]],)}

    def mark(self, page: ProgressPage, seen: ProgressPage) -> tuple[bool, ProgressPage]:
        """Write the changed words: 1 WRU, and the same if another function has changed one of them."""
        changed = [
            (Path(f"{_WORD}{number}"), word, before)
            for number, (word, before) in enumerate(zip(page.words, seen.words, strict=True))
            if word != before
        ]
        assert changed, "a page without a new mark is not written"
        unchanged = [path == before if before else path.does_not_exist() for path, _, before in changed]
        actions = [path.set(word) for path, word, _ in changed]
        actions += [PageItem.gone_at.set(page.expires_at), Path("expires_at").set(expiry(page.expires_at))]
        answer = self._table.update(_page_key(page.name), actions, reduce(and_, unchanged))
        if isinstance(answer, Refusal):
            # A word can only be refused if it is stored.
            return False, _page(page.name, answer.existing)
        return True, _page(page.name, answer)


def _heads(key: JobKey) -> str:
    return f"batches#{key.namespace}#{key.name}"


def _page_key(name: PageName) -> ItemKey:
    key = name.batch.key
    return f"marks#{key.namespace}#{key.name}#{name.level}#{name.number}", name.batch.position


def _head_item(head: BatchHead) -> HeadItem:
    place = (_heads(head.name.key), head.name.position)
    return HeadItem(*place, _HEAD, head, stage=head.stage, expires_at=expiry(head.expires_at))


def _head(raw: RawItem) -> BatchHead:
    _, namespace, name = raw["pk"]["S"].split("#")
    fields = fields_of(_HEAD, raw)
    return BatchHead(**fields | {"name": BatchName(JobKey(namespace, name), **fields["name"])})


def _page(name: PageName, raw: RawItem) -> ProgressPage:
    stored = (raw.get(f"{_WORD}{number}") for number in range(WORDS))
    words = tuple(0 if each is None else int(each["N"]) for each in stored)
    return ProgressPage(name, words, PageItem.read(raw).gone_at)
