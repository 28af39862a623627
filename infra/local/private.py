"""Writing files with a secret in them, which only their owner may read."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner may read. FileExistsError if it exists.

    The text is first written under another name, so that no reader sees a part of it.
    """
    descriptor, written = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(path).hardlink_to(written)
    finally:
        Path(written).unlink()
