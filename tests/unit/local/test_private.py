"""A file with a secret in it is its owner's alone."""

import stat
from pathlib import Path

import pytest
from infra.local.private import write_private


def test_only_its_owner_may_read_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "hush")
    assert path.read_text(encoding="utf-8") == "hush"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_first_of_two_writers_wins_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "first")
    with pytest.raises(FileExistsError):
        write_private(path, "second")
    assert path.read_text(encoding="utf-8") == "first"
    assert list(tmp_path.iterdir()) == [path]
