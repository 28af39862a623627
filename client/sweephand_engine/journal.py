"""The state of an engine in one SQLite file: items of tables, messages of queues, and a key.

The file is read once, at the start. Later reads come from memory. The writes of each request are one
transaction of the write-ahead log, so the end of the process loses no request that was answered. SQLite calls
the operating system's fsync only at a checkpoint ("PRAGMA synchronous", NORMAL). So a loss of power may lose
the last requests.

Each row has a checksum, and the start checks all of them: SQLite has checksums in its log alone.
"""

import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from sweephand.base.errors import ParameterError, StoreError, SweephandError
from sweephand.base.instants import Instant
from sweephand_engine.write_ahead_log import ending_of

_LOG: Final = logging.getLogger(__name__)

#: Marks a file as a store of Sweephand's ("PRAGMA application_id"): the letters `Swph`.
APPLICATION_ID: Final = 0x53777068

#: The form of the tables below ("PRAGMA user_version").
FORMAT: Final = 1

_TABLES: Final = """
    CREATE TABLE items (name TEXT, pk TEXT, sk TEXT, item TEXT NOT NULL, checksum INTEGER NOT NULL,
        PRIMARY KEY (name, pk, sk)) WITHOUT ROWID;
    CREATE TABLE messages (queue TEXT, number INTEGER, sent_at INTEGER NOT NULL, visible_at INTEGER NOT NULL,
        receives INTEGER NOT NULL, entry TEXT NOT NULL, checksum INTEGER NOT NULL,
        PRIMARY KEY (queue, number)) WITHOUT ROWID;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)
        WITHOUT ROWID;
"""

_PUT: Final = "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM items WHERE name = ? AND pk = ? AND sk = ?"
_SET: Final = "INSERT OR REPLACE INTO settings VALUES (?, ?, ?)"
_SEND: Final = "INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)"
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
        """Keep messages of a queue in place of those with their numbers, as `commit` does."""

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
            self._check_log()
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
        except _UNREADABLE as error:
            raise StoreFileError(_sentence(path, error)) from error

    def _check_log(self) -> None:
        """Raise StoreFileError if SQLite would forget whole writes of the log.

        SQLite also removes the log of a file that it has opened, so this comes first.
        """
        log = self._path.with_name(f"{self._path.name}-wal")
        ending = ending_of(log)
        if ending.is_damaged:
            raise StoreFileError(
                f"{log} is damaged after byte {ending.whole}, and later writes cannot be read. Restore it "
                f"and {self._path} from a copy, or go on without them: truncate -s {ending.whole} {log}"
            )
        if ending.torn:
            _LOG.warning("The last %d bytes of %s are no whole write.", ending.torn, log)

    def _open(self) -> None:
        database = self._database
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        kind, form = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        is_new = not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if is_new and self._path.stat().st_size and not database.execute("PRAGMA page_count").fetchone()[0]:
            raise _damage(self._path, "it has no whole page")
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
        # SQLite finds most damage only when it needs the page. A page may also have lost rows without that.
        [checked] = database.execute("PRAGMA quick_check(1)").fetchone()
        if checked != "ok":
            raise _damage(self._path, checked)
        # A file that may not be written shows it now, and not at the first job.
        self._write([(_SET, ("opened", "", _checksum(("opened", ""))))])

    def items(self) -> Iterable[StoredItem]:
        """As Journal promises."""
        return (StoredItem(*row) for row in self._rows("items ORDER BY name, pk, sk"))

    def messages(self, queue: str, now: Instant) -> Iterable[StoredMessage]:
        """As Journal promises."""
        stored = [StoredMessage(*row) for row in self._rows("messages") if row[0] == queue]
        found = [each._replace(receives=each.receives + (each.visible_at <= now)) for each in stored]
        self.send(each for each in found if each.visible_at <= now)
        return found

    def setting(self, name: str, make: Callable[[], str]) -> str:
        """As Journal promises."""
        for found, value in self._rows("settings"):
            if found == name:
                return str(value)
        value = make()
        self._keep([(_SET, (name, value, _checksum((name, value))))])
        return value

    def _rows(self, table: str) -> Iterator[Sequence[Any]]:
        """The rows of a table. Raises StoreFileError if one cannot be read, or is not as it was written.

        All are read, since a condition would pass over a row whose name is damaged.
        """
        try:
            for *row, checksum in self._database.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own
                if _checksum(row) != checksum:
                    raise _damage(self._path, f"a row has changed: {str(row)[:100]}")
                yield row
        except _UNREADABLE as error:
            raise StoreFileError(_sentence(self._path, error)) from error

    def put(self, table: str, pk: str, sk: str, item: str) -> None:
        """As Journal promises."""
        row = (table, pk, sk, item)
        self._noted.append((_PUT, (*row, _checksum(row))))

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
        self._keep([(_SEND, (*each, _checksum(each))) for each in messages])

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
    sqlite3.SQLITE_READONLY: "it or its folder may only be read: name a file in a folder that you may write",
}

_PRIMARY: Final = 0xFF

#: The message of an error of SQLite may quote what is damaged, and Python fails to decode it.
_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)


def _checksum(row: Iterable[object]) -> int:
    return zlib.crc32("\0".join(map(str, row)).encode())


def _damage(path: Path, what: str) -> StoreFileError:
    return StoreFileError(f"The store {path} cannot be used ({what}): {_ADVICE[sqlite3.SQLITE_CORRUPT]}.")


def _sentence(path: Path, error: Exception) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY
    advice = _ADVICE.get(code, "name another file")
    return f"The store {path} cannot be used ({error}): {advice}."
