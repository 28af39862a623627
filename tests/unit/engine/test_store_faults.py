"""A store file that is cut or damaged, or whose disk is full: it has what was answered, or it is refused."""

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from sweephand.base.errors import StoreError
from sweephand_engine.dynamo.client import MemoryDynamoDB
from sweephand_engine.dynamo.tables import JournaledTables
from sweephand_engine.journal import FileJournal, StoredMessage, StoreFileError

#: The bytes of the header of SQLite's write-ahead log, and of a frame in it: a page with its own header.
LOG_HEADER: Final = 32
PAGE: Final = 4_096
FRAME: Final = 24 + PAGE

#: The bytes at the beginning of a page that say what it has.
PAGE_HEADER: Final = 16

#: So many items are written. One has so many bytes: some are larger than a page.
ITEMS: Final = 8
SIZES: Final = (40, 3_000, 200, 6_000)


class Store(NamedTuple):
    """An engine's tables over a file."""

    journal: FileJournal
    client: MemoryDynamoDB
    #: The numbers of the messages when it was opened.
    messages: set[int]

    def send(self, number: int) -> None:
        """Send a message with that number."""
        self.journal.send([StoredMessage("queue", number, 0, 0, 0, f"entry {number}")])

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
        assert journal.setting("name", lambda: "value") == "value"
        client = MemoryDynamoDB(JournaledTables(journal))
        messages = list(journal.messages("queue", 0))
        assert all(each.entry == f"entry {each.number}" for each in messages)
        return Store(journal, client, {each.number for each in messages})
    except BaseException:
        journal.close()
        raise


def found(path: Path) -> set[int]:
    """The numbers of the items of a file. Each was written after the message with its number."""
    store = opened(path)
    store.journal.close()
    found = store.numbers()
    assert store.messages in (found, {*found, len(found)})
    return found


def found_or_refused(path: Path) -> set[int] | None:
    """The numbers of the items of a file; None if it is refused with a sentence that names it."""
    try:
        return found(path)
    except StoreFileError as error:
        assert str(path) in str(error)  # noqa: PT017 - the file may be good
        return None


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


class Killed(NamedTuple):
    """A folder of a store whose process was killed.

    `ends` has the size of its log after each write, with how many items it had then.
    """

    path: Path
    ends: Mapping[int, int]

    def copied(self, folder: Path) -> Path:
        """A copy of the store in an empty folder."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.path.parent, folder)
        return folder / self.path.name


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    path = tmp_path_factory.mktemp("killed") / "store"
    opened(path).journal.close()
    store = opened(path)
    ends = {log_of(path).stat().st_size: 0}
    for number in range(ITEMS):
        store.send(number)
        ends[log_of(path).stat().st_size] = number
        store.put(number)
        ends[log_of(path).stat().st_size] = number + 1
    # The files as they are when the process is killed: closing would write the log into the file.
    kept = tmp_path_factory.mktemp("kept") / "store"
    shutil.copytree(path.parent, kept.parent, dirs_exist_ok=True)
    store.journal.close()
    return Killed(kept, ends)


@pytest.fixture(scope="module")
def closed(killed: Killed, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """The same store after its process has ended as usual: without a log."""
    path = killed.copied(tmp_path_factory.mktemp("closed"))
    found(path)
    assert not log_of(path).exists()
    return Killed(path, killed.ends)


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """No file grows beyond so many bytes: a write beyond fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def places(begin: int, end: int) -> Iterator[int]:
    """Bytes of a log: some of each field of a frame's header, and some of its page."""
    for place in range(begin, end):
        if (place - LOG_HEADER) % FRAME in (0, 1, 6, 9, 13, 17, 23, 24, FRAME - 1):
            yield place


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
                        store.send(number)
                        store.put(number)
                        answered.add(number)
        except (StoreError, StoreFileError) as error:
            assert "free some space" in str(error)  # noqa: PT017 - most of these disks are too small
            refused += len(answered) > 0
        assert found(path) == answered, most
    assert refused > 20


def test_after_a_write_that_failed_nothing_is_answered_any_more(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    store.send(0)
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
        store.send(1)
    store.journal.close()
    assert found(tmp_path / "store") == {0}


def test_a_log_that_is_cut_anywhere_loses_only_the_request_that_it_cuts(
    killed: Killed, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sizes = list(killed.ends)
    for end in places(sizes[-6], sizes[-1] + 1):
        path = killed.copied(tmp_path / "store")
        os.truncate(log_of(path), end)
        caplog.clear()

        whole = max(size for size in sizes if size <= end)
        assert found(path) == set(range(killed.ends[whole])), end
        said = [] if end == whole else [f"The last {end - whole} bytes of {log_of(path)} are no whole write."]
        assert [each.getMessage() for each in caplog.records] == said


def test_a_log_that_is_damaged_in_the_middle_is_refused_and_left_alone(
    killed: Killed, tmp_path: Path
) -> None:
    sizes = list(killed.ends)
    for place in (*range(0, LOG_HEADER, 5), *places(0, sizes[-2])):
        path = killed.copied(tmp_path / "store")
        content = bytearray(log_of(path).read_bytes())
        content[place] ^= 0xFF
        log_of(path).write_bytes(content)
        before = path.read_bytes()

        with pytest.raises(StoreFileError, match="is damaged") as refused:
            found(path)
        assert (path.read_bytes(), log_of(path).read_bytes()) == (before, bytes(content)), place

        # What the message advises brings back all that was written before the damage.
        whole = max((size for size in sizes if size <= place), default=0)
        command = str(refused.value).rpartition(": ")[2].removesuffix(".").split()
        assert command[:2] == ["truncate", "-s"]
        assert command[3:] == [str(log_of(path))]
        os.truncate(log_of(path), int(command[2]))
        assert found(path) == set(range(killed.ends.get(whole, 0))), place


def test_a_log_of_former_writes_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = opened(path)
    for number in range(ITEMS):
        store.send(number)
        store.put(number)
    store.journal._database.execute("PRAGMA wal_checkpoint(RESTART)")
    store.send(ITEMS)
    store.put(ITEMS)
    kept = tmp_path / "kept" / "store"
    kept.parent.mkdir()
    for each in (path, log_of(path)):
        shutil.copy(each, kept.parent)
    store.journal.close()

    assert log_of(kept).stat().st_size > 4 * FRAME
    assert found(kept) == set(range(ITEMS + 1))


@pytest.mark.parametrize("length", [1, 4_096])
def test_garbage_in_the_file_is_refused_unless_that_part_is_free(
    closed: Killed, tmp_path: Path, length: int
) -> None:
    results = []
    for place in range(0, closed.path.stat().st_size, length):
        # Of one byte, those of the header of each page, and some of the others.
        if length == 1 and place % PAGE > PAGE_HEADER and place % 97:
            continue
        path = closed.copied(tmp_path / "store")
        content = bytearray(path.read_bytes())
        content[place : place + length] = bytes(each ^ 0xA5 for each in content[place : place + length])
        path.write_bytes(content)
        results.append(found_or_refused(path))
        assert results[-1] in (None, set(range(ITEMS))), place
    assert None in results


def test_a_file_that_is_cut_is_refused_unless_that_part_is_free(closed: Killed, tmp_path: Path) -> None:
    for end in range(1, closed.path.stat().st_size, 997):
        path = closed.copied(tmp_path / "store")
        os.truncate(path, end)
        assert found_or_refused(path) in (None, set(range(ITEMS))), end


@contextmanager
def without_rights() -> Iterator[Path]:
    """A folder of a user who is not root, as whom this process goes on. Root may write every file."""
    folder = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, 65_534, -1)
        os.seteuid(65_534)
    try:
        yield folder
    finally:
        folder.chmod(0o700)
        if is_root:
            os.seteuid(0)
        shutil.rmtree(folder)


def test_a_file_that_may_only_be_read_is_refused() -> None:
    with without_rights() as folder:
        opened(folder / "store").journal.close()
        (folder / "store").chmod(0o400)
        with pytest.raises(StoreFileError, match=r"Permission denied\. Name a file that you may write"):
            opened(folder / "store")


def test_a_folder_that_may_only_be_read_is_refused() -> None:
    with without_rights() as folder:
        opened(folder / "store").journal.close()
        folder.chmod(0o500)
        with pytest.raises(StoreFileError, match="name a file in a folder that you may write"):
            opened(folder / "store")
        with pytest.raises(StoreFileError, match=r"Permission denied\. Name a file that you may write"):
            opened(folder / "other")
