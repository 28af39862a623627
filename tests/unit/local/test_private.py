"""Only the owner can read a file that holds a secret."""

import stat
from pathlib import Path

import pytest
from infra.local.private import write_private


def test_only_the_owner_may_read_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "hush")
    assert path.read_text(encoding="utf-8") == "hush"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_second_writer_of_a_private_file_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "first")
    with pytest.raises(FileExistsError):
        write_private(path, "second")
    assert path.read_text(encoding="utf-8") == "first"
    assert list(tmp_path.iterdir()) == [path]
