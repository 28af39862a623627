"""The stacks of this machine, by the files in which `make up` and `sweephand dev` describe them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.http.transport import checked_url, is_loopback
from sweephand_client.private_files import private_text, write_private

_FOLDER: Final = ".local"
_USUAL: Final = "stack.json"
_ALL: Final = "stack*.json"

#: No system has a process with a larger number.
_PID_MAX: Final = 2**31 - 1

#: How long a port of this machine may take to answer.
_CONNECT_S: Final = 0.3


class LocalStack(NamedTuple):
    """A stack of this machine. `source` says in words what describes it."""

    url: str
    key: str
    source: str


def nearby(directory: Path) -> LocalStack | None:
    """The stack of `.local/stack.json`, which `make up` writes; None without it.

    The file is in the directory, or above it up to the root of the checkout: the nearest folder with an
    entry `.git`. Outside of a checkout only the directory itself counts: other users may write to folders
    above it, such as /tmp. Raises InputError for a file that names another machine, or is not the user's.
    """
    places = [each / _FOLDER / _USUAL for each in _folders(directory)]
    path = next((each for each in places if each.is_file()), None)
    return None if path is None else _described(path, f"the local stack of {path}")


def answering(devs: Path, directory: Path) -> list[LocalStack]:
    """The stacks of this machine that answer: of `sweephand dev`, and of `make up` with any port.

    `devs` is the folder in which the former are described. A file that cannot be used is left out.
    """
    found = [(path, "sweephand dev") for path in sorted(devs.glob("*.json"))]
    for folder in _folders(directory):
        paths = sorted((folder / _FOLDER).glob(_ALL))
        found += [(path, f"the local stack of {path}") for path in paths]
    stacks = []
    for path, source in found:
        with suppress(InputError):
            stacks.append(_described(path, source))
    return [each for each in stacks if _answers(each.url)]


@contextmanager
def describing(devs: Path, url: str, key: str) -> Iterator[None]:
    """Describe a stack of `sweephand dev` in a file of that folder, as long as it runs.

    A folder that cannot be written is no reason not to run: the stack prints its address and its key.
    """
    path = devs / f"{urlsplit(url).port}.json"
    with suppress(OSError):
        _forget_ended(devs)
        write_private(path, exact_json.write({"apiUrl": url, "apiKey": key, "pid": os.getpid()}))
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _folders(directory: Path) -> tuple[Path, ...]:
    """The directory, and those above it up to the root of its checkout."""
    folders = (directory, *directory.parents)
    root = next((depth for depth, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: root + 1]


def _described(path: Path, source: str) -> LocalStack:
    """The stack that a file describes. InputError if it is not on this machine, or not the user's.

    A file of somebody else must not lead secrets to another machine, or to a program of another user.
    """
    if not path.is_file():
        raise InputError(f"{path} is no file.")  # to open a pipe would wait for whoever writes into it
    try:
        described = exact_json.read(private_text(path))
        url, key, pid = described["apiUrl"], described["apiKey"], described.get("pid")
        host = urlsplit(url).hostname if isinstance(url, str) and urlsplit(url).port != 0 else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        host = None
    if host is None or not isinstance(key, str) or not (pid is None or _is_pid(pid)):
        raise InputError(f"{path} does not describe a local stack. Run make up again.")
    if not is_loopback(host):
        raise InputError(f"{path} names {url}, which is not on this machine. Use a profile for it.")
    if pid is not None and not _runs(pid):
        # Another program may listen on its port by now. It must not get the key.
        raise InputError(f"{path} describes a process that has ended. Start sweephand dev again.")
    return LocalStack(checked_url(url), key, source)


def _forget_ended(devs: Path) -> None:
    """Remove the files of processes that were killed."""
    for path in devs.glob("*.json"):
        try:
            _described(path, "")
        except InputError:
            path.unlink(missing_ok=True)


def _is_pid(value: object) -> bool:
    """Whether a value can be the number of one process. 0 and negative numbers stand for groups."""
    return type(value) is int and 0 < value <= _PID_MAX


def _runs(pid: int) -> bool:
    """Whether a process of the user has this number."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _answers(url: str) -> bool:
    """Whether a program listens at an address of this machine."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_CONNECT_S):
            return True
    except OSError:
        return False
