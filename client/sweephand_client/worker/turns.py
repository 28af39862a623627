"""Keeps commands of one job from running at once on this machine, in whichever worker.

Each job has a file that the command holds locked, as with flock(1). The lock outlives a worker that is killed
for as long as the command that it has started.
"""

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Self

from sweephand_client.http.errors import InputError


def locks_directory() -> Path:
    """The directory of the locks of this user. InputError if it belongs to somebody else."""
    return _checked(Path(tempfile.gettempdir()) / f"sweephand-worker-{os.geteuid()}")


def _checked(path: Path) -> Path:
    """The directory, made if it is gone: what stays unused for days is removed from /tmp."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise InputError(f"The directory of locks cannot be made: {error}. Set TMPDIR.") from None
    if found.st_uid != os.geteuid() or found.st_mode & 0o022 or not path.is_dir() or path.is_symlink():
        raise InputError(f"{path} is not a directory that only you can write to. Remove it, or set TMPDIR.")
    return path


class Turn:
    """The turn of one run of a job. Leaving the context gives it up.

    A lock belongs to the open file, so that the command which inherits it keeps it too.
    """

    def __init__(self, directory: Path, namespace: str, job: str) -> None:
        name = hashlib.sha256(f"{namespace}/{job}".encode()).hexdigest()
        self.file = os.open(
            _checked(directory) / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # What a command has left behind may hold the file open. It does not keep the turn.
        fcntl.flock(self.file, fcntl.LOCK_UN)
        os.close(self.file)

    def take(self) -> bool:
        """Take the turn if no other run has it, and return whether it is taken."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
