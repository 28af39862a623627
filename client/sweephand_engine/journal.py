"""The state of an engine in one SQLite file: items of tables, messages of queues, and a key.

The file is read once, at the start. Later reads come from memory. The writes of each request are one
transaction of the write-ahead log, so the end of the process loses no request that was answered. SQLite calls
the operating system's fsync only at a checkpoint ("PRAGMA synchronous", NORMAL). So a loss of power may lose
the last requests.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from sweephand.base.errors import ParameterError, StoreError, SweephandError
from sweephand.base.instants import Instant

#: Marks a file as a store of Sweephand's ("PRAGMA application_id"): the letters `Swph`.
APPLICATION_ID: Final = 0x53777068

#: The form of the tables below ("PRAGMA user_version").
FORMAT: Final = 1

_TABLES: Final = """
    CREATE TABLE items (name TEXT, pk TEXT, sk TEXT, item TEXT NOT NULL, PRIMARY KEY (name, pk, sk))
        WITHOUT ROWID;
    CREATE TABLE messages (queue TEXT, number INTEGER, sent_at INTEGER NOT NULL, visible_at INTEGER NOT NULL,
        receives INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (queue, number)) WITHOUT ROWID;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

_PUT: Final = "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM items WHERE name = ? AND pk = ? AND sk = ?"
_SEND: Final = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)"
_RECEIVE: Final = "UPDATE messages SET receives = receives + 1 WHERE queue = ? AND visible_at <= ?"
_DELETE: Final = "DELETE FROM messages WHERE queue = ? AND number = ?"

#: A statement and its values.
_Change = tuple[str, Sequence[Any]]


class StoreFileError(SweephandError):
    """A store file cannot be used. The message names it, and says what to do."""


class StoppedStoreError(ParameterError):
    """The store file cannot be written any more. Callers see the message, which names it and says what to do.

    Nothing was written.
    """


class StoredItem(NamedTuple):
    """An item of a table, as JSON."""

    table: str
    pk: str
    sk: str
    item: str


class StoredMessage(NamedTuple):
    """A message of a queue. `entry` has its fields of SendMessage as JSON."""

    queue: str
    number: int
    sent_at: Instant
    visible_at: Instant
    receives: int
    entry: str


class Journal:
    """A journal that keeps nothing: the state of its engine ends with the process."""

    def items(self) -> Iterable[StoredItem]:
        """The items in the order of their keys."""
        return ()

    def messages(self, queue: str, now: Instant) -> Iterable[StoredMessage]:
        """The messages of a queue when an engine starts.

        A message that was visible by `now` may have been received when the engine before ended, so it counts
        as received once more. That costs less than a write for each receive.
        """
        del queue, now
        return ()

    def setting(self, name: str, make: Callable[[], str]) -> str:
        """The setting of that name. If there is none, it is made and kept."""
        del name
        return make()

    def put(self, table: str, pk: str, sk: str, item: str) -> None:
        """Note that an item was written. `commit` keeps it."""

    def remove(self, table: str, pk: str, sk: str) -> None:
        """Note that an item was removed. `commit` keeps that."""

    def commit(self) -> None:
        """Keep what was noted since the last call, all or nothing. One thread at a time notes and commits.

        Raises StoreError, and so does every later call: the memory has what the file does not have, so the
        engine must end.
        """

    def send(self, messages: Iterable[StoredMessage]) -> None:
        """Keep messages of a queue, as `commit` does."""

    def delete(self, queue: str, numbers: Sequence[int]) -> None:
        """Keep that messages were deleted."""

    def close(self) -> None:
        """Close the file. Later calls raise StoreError."""


class FileJournal(Journal):
    """A journal in one file, which no other process can use meanwhile. Several threads may use it at once.

    A file that does not exist is made. Only its owner may read it, since it holds a key. `failed` is called
    with a sentence when the file cannot be written any more.
    """

    def __init__(self, path: Path, failed: Callable[[str], None]) -> None:
        """Raises StoreFileError if the file cannot be used."""
        self._path = path
        self._failed = failed
        self._lock = threading.Lock()
        self._is_closed = False
        #: Why a write failed. The journal keeps nothing after it.
        self._failure: str | None = None
        self._noted: list[_Change] = []
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
            try:
                self._open()
            except BaseException:
                self._database.close()
                raise
        except OSError as error:
            raise StoreFileError(
                f"The store {path} cannot be opened: {error.strerror}. Name a file that you may write."
            ) from error
        except sqlite3.Error as error:
            raise StoreFileError(_sentence(path, error)) from error

    def _open(self) -> None:
        database = self._database
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        kind, form = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        is_new = not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not is_new and kind != APPLICATION_ID:
            raise StoreFileError(
                f"{self._path} is no store of Sweephand: name another file, or one that does not exist."
            )
        if not is_new and form > FORMAT:
            raise StoreFileError(
                f"{self._path} was written by a newer version of Sweephand, in the format {form}. This "
                f"version knows formats up to {FORMAT}: update Sweephand, or name another file."
            )
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if is_new:
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        # A file that may not be written shows it now, and not at the first job.
        self._write([("INSERT OR REPLACE INTO settings VALUES ('opened', '')", ())])

    def items(self) -> Iterable[StoredItem]:
        """As Journal promises."""
        rows = self._database.execute("SELECT * FROM items ORDER BY name, pk, sk")
        return (StoredItem(*row) for row in rows)

    def messages(self, queue: str, now: Instant) -> Iterable[StoredMessage]:
        """As Journal promises."""
        self._keep([(_RECEIVE, (queue, now))])
        rows = self._database.execute("SELECT * FROM messages WHERE queue = ?", (queue,))
        return [StoredMessage(*row) for row in rows]

    def setting(self, name: str, make: Callable[[], str]) -> str:
        """As Journal promises."""
        found = self._database.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        if found is not None:
            return str(found[0])
        value = make()
        self._keep([("INSERT INTO settings VALUES (?, ?)", (name, value))])
        return value

    def put(self, table: str, pk: str, sk: str, item: str) -> None:
        """As Journal promises."""
        self._noted.append((_PUT, (table, pk, sk, item)))

    def remove(self, table: str, pk: str, sk: str) -> None:
        """As Journal promises."""
        self._noted.append((_REMOVE, (table, pk, sk)))

    def commit(self) -> None:
        """As Journal promises."""
        if self._failure is not None:
            # The memory has what the file does not have. So no request may succeed any more, not even a read.
            raise StoppedStoreError(self._failure)
        if self._noted:
            noted, self._noted = self._noted, []
            self._keep(noted)

    def send(self, messages: Iterable[StoredMessage]) -> None:
        """As Journal promises."""
        self._keep([(_SEND, each) for each in messages])

    def delete(self, queue: str, numbers: Sequence[int]) -> None:
        """As Journal promises."""
        if numbers:
            self._keep([(_DELETE, (queue, number)) for number in numbers])

    def close(self) -> None:
        """As Journal promises. The write-ahead log becomes part of the file."""
        with self._lock, suppress(sqlite3.Error):
            self._is_closed = True
            self._database.close()

    def _keep(self, changes: Sequence[_Change]) -> None:
        with self._lock:
            if self._failure is not None:
                raise StoppedStoreError(self._failure)
            if self._is_closed:
                raise StoreError("The engine has ended.")
            try:
                self._write(changes)
            except sqlite3.Error as error:
                self._failure = _sentence(self._path, error)
                self._failed(self._failure)
                raise StoppedStoreError(self._failure) from error

    def _write(self, changes: Sequence[_Change]) -> None:
        database = self._database
        if len(changes) == 1:
            # SQLite makes a transaction of it, with one call instead of three.
            database.execute(*changes[0])
            return
        database.execute("BEGIN IMMEDIATE")
        for statement, values in changes:
            database.execute(statement, values)
        database.execute("COMMIT")


#: What to do about an error of SQLite, by its primary result code ("Result and Error Codes").
_ADVICE: Final[Mapping[int, str]] = {
    sqlite3.SQLITE_BUSY: "another process uses it: end that one, or name another file",
    sqlite3.SQLITE_CANTOPEN: "make its folder, or name a file in a folder that you may write",
    sqlite3.SQLITE_CORRUPT: "it is damaged: name another file, or restore it",
    sqlite3.SQLITE_FULL: "its disk is full: free some space, or name a file on another disk",
    sqlite3.SQLITE_IOERR: "its disk failed or is full: free some space, or name a file on another disk",
    sqlite3.SQLITE_NOTADB: "it is no store of Sweephand: name another file, or one that does not exist",
    sqlite3.SQLITE_READONLY: "it may only be read: name a file that you may write",
}

_PRIMARY: Final = 0xFF


def _sentence(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    advice = _ADVICE.get(code, "name another file")
    return f"The store {path} cannot be used ({error}): {advice}."
