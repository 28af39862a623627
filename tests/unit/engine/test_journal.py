"""The store file of an engine: what it brings back, and which files it refuses."""

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sweephand.base.errors import StoreError
from sweephand_engine.dynamo.client import MemoryDynamoDB
from sweephand_engine.dynamo.tables import JournaledTables
from sweephand_engine.journal import FORMAT, FileJournal, StoredMessage, StoreFileError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def opened(path: Path, failed: Callable[[str], object] = pytest.fail) -> FileJournal:
    return FileJournal(path, lambda sentence: void(failed(sentence)))


def void(_: object) -> None:
    return None


def item(key: str, **more: str) -> dict[str, Any]:
    fields = {"pk": "p", "sk": key, **more}
    return {name: {"S": value} for name, value in fields.items()}


def put(client: MemoryDynamoDB, key: str, **more: str) -> None:
    client.put_item(TableName="jobs", Item=item(key, **more))


def read(client: MemoryDynamoDB, key: str) -> Any:
    key_of_it = {"pk": {"S": "p"}, "sk": {"S": key}}
    return client.get_item(TableName="jobs", Key=key_of_it, ConsistentRead=True).get("Item")


def test_items_come_back_in_order_as_they_were_written_last(path: Path) -> None:
    journal = opened(path)
    client = MemoryDynamoDB(JournaledTables(journal))
    for key in ("c", "é", "a", "b"):
        put(client, key, text="first")
    put(client, "b", text="second")
    client.delete_item(TableName="jobs", Key={"pk": {"S": "p"}, "sk": {"S": "a"}})
    journal.close()

    after = MemoryDynamoDB(JournaledTables(opened(path)))

    answer = after.query(
        TableName="jobs",
        ConsistentRead=True,
        ScanIndexForward=True,
        KeyConditionExpression="#0 = :0",
        ExpressionAttributeNames={"#0": "pk"},
        ExpressionAttributeValues={":0": {"S": "p"}},
    )
    assert answer["Items"] == [item("b", text="second"), item("c", text="first"), item("é", text="first")]


def test_what_a_process_was_killed_after_is_there(path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from sweephand_engine.dynamo.client import MemoryDynamoDB
from sweephand_engine.dynamo.tables import JournaledTables
from sweephand_engine.journal import FileJournal
client = MemoryDynamoDB(JournaledTables(FileJournal(Path({str(path)!r}), print)))
client.put_item(TableName="jobs", Item={item("a")!r})
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, check=False
    )

    assert done.returncode == -9
    assert read(MemoryDynamoDB(JournaledTables(opened(path))), "a") == item("a")


def test_the_writes_of_a_request_that_was_refused_are_not_kept(path: Path) -> None:
    journal = opened(path)
    client = MemoryDynamoDB(JournaledTables(journal))
    put(client, "a")
    condition = {
        "ConditionExpression": "attribute_not_exists(#0)",
        "ExpressionAttributeNames": {"#0": "pk"},
    }
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": "jobs", "Item": item("b")}},
                {"Put": {"TableName": "jobs", "Item": item("a", text="second"), **condition}},
            ]
        )
    journal.close()

    after = MemoryDynamoDB(JournaledTables(opened(path)))
    assert (read(after, "a"), read(after, "b")) == (item("a"), None)


def test_items_whose_time_to_live_is_over_are_removed_for_good(path: Path) -> None:
    journal = opened(path)
    client = MemoryDynamoDB(JournaledTables(journal))
    client.put_item(TableName="jobs", Item={**item("over"), "expires_at": {"N": "99"}})
    client.put_item(TableName="jobs", Item={**item("now"), "expires_at": {"N": "100"}})
    put(client, "never")

    client.expire(100)
    journal.close()

    for each in (client, MemoryDynamoDB(JournaledTables(opened(path)))):
        assert read(each, "over") is None
        assert read(each, "now") is not None
        assert read(each, "never") is not None


def test_a_setting_is_made_once(path: Path) -> None:
    journal = opened(path)
    assert journal.setting("key", lambda: "first") == "first"
    assert journal.setting("key", lambda: "second") == "first"
    journal.close()
    assert opened(path).setting("key", lambda: "third") == "first"


def test_only_the_owner_may_read_a_new_file(path: Path) -> None:
    opened(path)
    assert {each.stat().st_mode & 0o077 for each in path.parent.iterdir()} == {0}


def test_a_file_that_another_process_uses_is_refused(path: Path) -> None:
    first = opened(path)
    first.setting("key", lambda: "value")
    with pytest.raises(StoreFileError, match="another process uses it: end that one, or name another file"):
        opened(path)


def test_a_file_of_a_newer_version_is_refused(path: Path) -> None:
    opened(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(StoreFileError, match=r"newer version.*in the format 2.*up to 1: update Sweephand"):
        opened(path)


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE songs (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreFileError, match=r"store is no store of Sweephand: name another file"):
        opened(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("jobs:\n" * 1_000)
    with pytest.raises(StoreFileError, match=r"it is no store of Sweephand: name another file"):
        opened(path)
    assert path.read_text() == "jobs:\n" * 1_000


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError, match=r"cannot be opened: No such file or directory\. Name a file"):
        opened(tmp_path / "none" / "store")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError, match=r"cannot be opened: Is a directory\. Name a file"):
        opened(tmp_path)


def test_a_file_on_a_disk_that_may_only_be_read_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The user of a test may be root, who may write every file.
    def read_only(*_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(StoreFileError, match=r"Read-only file system\. Name a file that you may write"):
        opened(path)


def test_a_full_disk_is_told_and_fails_the_write(path: Path) -> None:
    told: list[str] = []
    journal = opened(path, told.append)
    # SQLite refuses a page more than this with the error of a full disk.
    journal._database.execute("PRAGMA max_page_count = 8")
    big = StoredMessage("queue", 1, 0, 0, 0, "x" * 100_000)

    with pytest.raises(StoreError, match="its disk is full: free some space"):
        journal.send([big])
    assert len(told) == 1
    assert "its disk is full: free some space, or name a file on another disk" in told[0]
