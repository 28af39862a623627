"""A store file whose disk is full: it keeps what was answered, and nothing is answered after that."""

import resource
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from sweephand.base.errors import StoreError
from sweephand_engine.dynamo.client import MemoryDynamoDB
from sweephand_engine.dynamo.tables import JournaledTables
from sweephand_engine.journal import FileJournal, StoredMessage, StoreFileError

#: So many items are written. One has so many bytes: some are larger than a page.
ITEMS: Final = 8
SIZES: Final = (40, 3_000, 200, 6_000)


class Store(NamedTuple):
    """An engine's tables over a file."""

    journal: FileJournal
    client: MemoryDynamoDB

    def put(self, number: int) -> None:
        """Write an item, whose size follows from its number."""
        text = f"{number}-" * (SIZES[number % len(SIZES)] // 2)
        item = {"pk": {"S": "p"}, "sk": {"S": f"{number:03}"}, "text": {"S": text}}
        self.client.put_item(TableName="jobs", Item=item)

    def numbers(self) -> set[int]:
        """The numbers of the items. Each must be as it was written."""
        items = list(self.client.tables.everything("jobs"))
        for each in items:
            number = int(each["sk"]["S"])
            assert each["text"]["S"] == f"{number}-" * (SIZES[number % len(SIZES)] // 2)
        return {int(each["sk"]["S"]) for each in items}


def opened(path: Path) -> Store:
    journal = FileJournal(path, lambda _: None)
    try:
        return Store(journal, MemoryDynamoDB(JournaledTables(journal)))
    except BaseException:
        journal.close()
        raise


def found(path: Path) -> set[int]:
    """The numbers of the items of a file."""
    store = opened(path)
    store.journal.close()
    return store.numbers()


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """No file grows beyond so many bytes: a write beyond fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_at_any_write_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    refused = 0
    for most in range(0, 90_000, 2_222):
        path = tmp_path / "store"
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        answered: set[int] = set()
        try:
            with full_disk(most):
                store = opened(path)
                with closing(store.journal):
                    for number in range(ITEMS):
                        store.put(number)
                        answered.add(number)
        except (StoreError, StoreFileError) as error:
            assert "free some space" in str(error)  # noqa: PT017 - most of these disks are too small
            refused += len(answered) > 0
        assert found(path) == answered, most
    assert refused > 20


def test_after_a_write_that_failed_nothing_is_answered_any_more(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    store.put(0)
    with full_disk(log_of(tmp_path / "store").stat().st_size), pytest.raises(StoreError):
        store.put(5)
    # There is space again. But the memory has the item, and the file has not: a caller who asks again would
    # be told that it is there.
    with pytest.raises(StoreError, match="cannot be used"):
        store.client.get_item(
            TableName="jobs", Key={"pk": {"S": "p"}, "sk": {"S": "005"}}, ConsistentRead=True
        )
    with pytest.raises(StoreError, match="cannot be used"):
        store.put(1)
    with pytest.raises(StoreError, match="cannot be used"):
        store.journal.send([StoredMessage("queue", 1, 0, 0, 0, "{}")])
    store.journal.close()
    assert found(tmp_path / "store") == {0}
