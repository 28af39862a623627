"""Files that hold keys: only their owner may read or change them."""

import os
import tempfile
from pathlib import Path

from sweephand_client.http.errors import InputError


def private_text(path: Path) -> str:
    """The text of a file that says where keys go. InputError if others own it, or may read or change it."""
    try:
        file = path.open(encoding="utf-8")
    except PermissionError:
        raise _not_ours(path) from None
    with file:
        if os.name == "posix":
            found = os.fstat(file.fileno())
            if found.st_uid != os.geteuid():
                raise _not_ours(path)
            if found.st_mode & 0o077:
                raise InputError(f"Others may read {path}, which holds keys. Run: chmod 600 {path}")
        return file.read()


def write_private(path: Path, text: str) -> None:
    """Write a file in place of the one at that path. Only the user may read it, and never a part of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, written = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(written).replace(path)
    except BaseException:
        Path(written).unlink(missing_ok=True)
        raise


def _not_ours(path: Path) -> InputError:
    return InputError(
        f"{path} is not your file, so no key is sent by it. "
        "Name the stack by SWEEPHAND_URL and SWEEPHAND_KEY."
    )
