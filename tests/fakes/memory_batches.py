"""The progress of batches in memory. It keeps the promises of batch_ports.py."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweephand.base.instants import Instant
from sweephand.model.batch_mark import BatchName
from sweephand.model.batch_progress import BatchHead, PageName, ProgressPage
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.run_id import AFTER_UIDS, Demand, batch_position


class MemoryBatches:
    """ports.BatchStore."""

    def __init__(self) -> None:
        self._heads: dict[BatchName, BatchHead] = {}
        self._pages: dict[PageName, ProgressPage] = {}
        self._lock = threading.Lock()

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            self._heads = {name: head for name, head in self._heads.items() if head.expires_at > now}
            self._pages = {name: page for name, page in self._pages.items() if page.expires_at > now}

    def advance(self, head: BatchHead) -> BatchHead:
        with self._lock:
            stored = self._heads.get(head.name)
            if stored is None or stored.stage < head.stage:
                self._heads[head.name] = stored = head
            return stored

    def get(self, name: BatchName) -> BatchHead | None:
        return self._heads.get(name)

    def find(self, key: JobKey, due_at: Instant, demand: Demand | None) -> BatchHead | None:
        low = batch_position(due_at, demand, "")
        of_job = (head for head in list(self._heads.values()) if head.name.key == key)
        found = [head for head in of_job if low <= head.name.position <= low + AFTER_UIDS]
        return max(found, key=lambda head: head.name.position, default=None)

    def page(self, key: JobKey, before: str, limit: int) -> Page[BatchHead]:
        heads = {head.name.position: head for head in list(self._heads.values()) if head.name.key == key}
        positions = sorted((each for each in heads if not before or each < before), reverse=True)
        items = tuple(heads[each] for each in positions[:limit])
        return Page(items, items[-1].name.position if len(positions) > limit else None)

    def marks(self, names: Sequence[PageName]) -> Mapping[PageName, ProgressPage]:
        assert len(set(names)) == len(names), "a batch read has one name twice"
        return {name: page for name in names if (page := self._pages.get(name)) is not None}

    def mark(self, page: ProgressPage, seen: ProgressPage) -> tuple[bool, ProgressPage]:
        with self._lock:
            stored = self._pages.get(page.name) or ProgressPage(page.name)
            words = list(stored.words)
            for number, (word, before) in enumerate(zip(page.words, seen.words, strict=True)):
                if word != before:
                    if stored.words[number] != before:
                        return False, stored
                    words[number] = word
            written = replace(page, words=tuple(words))
            self._pages[page.name] = written
            return True, written
