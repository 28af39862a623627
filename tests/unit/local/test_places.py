"""The files in which a local stack writes its address and secrets."""

import stat
from pathlib import Path

import pytest
from infra.local.places import LOCAL, PORT_DEFAULT, Place, write_private


def test_the_stack_on_the_default_port_is_described_in_stack_json() -> None:
    assert Place(PORT_DEFAULT).stack_file == LOCAL / "stack.json"


def test_a_stack_on_another_port_has_a_file_that_is_named_after_the_port() -> None:
    assert Place(4800).stack_file == LOCAL / "stack-4800.json"


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
