"""Files with a secret in them, which their owner alone may read."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a new file that its owner alone may read; FileExistsError if there is one.

    Whoever sees the file sees all of it: the text is written under another name first.
    """
    descriptor, written = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(path).hardlink_to(written)
    finally:
        Path(written).unlink()
