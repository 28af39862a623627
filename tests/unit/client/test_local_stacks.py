"""A stack of this machine that listens on another port than usual is found, or offered."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.client.conftest import CommandLine

from sweephand_client.http.authorization import Bearer
from sweephand_client.http.errors import InputError
from sweephand_client.local_stacks import describing
from sweephand_client.profiles import devs_path, find_stack, write_profile


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SWEEPHAND_CONFIG": str(tmp_path / "folder" / "config")}


@pytest.fixture
def listening() -> Iterator[list[str]]:
    """The addresses of two programs that listen on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        yield [f"http://127.0.0.1:{each.getsockname()[1]}" for each in (one, other)]


def described(directory: Path, url: str) -> Path:
    """The file by which `make up` describes a stack on another port."""
    path = directory / ".local" / f"stack-{url.rpartition(':')[2]}.json"
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps({"apiUrl": url, "apiKey": "sh_up"}), encoding="utf-8")
    return path


def test_the_dev_server_that_runs_is_found_with_its_key(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    with describing(devs_path(environment), listening[0], "sh_dev"):
        stack = find_stack(environment=environment, directory=tmp_path)
    assert (stack.url, stack.source, stack.is_implied) == (listening[0], "sweephand dev", True)
    assert stack.authorization() == Bearer("sh_dev")


def test_what_describes_a_dev_server_is_private_and_ends_with_it(
    environment: dict[str, str], listening: list[str]
) -> None:
    folder = devs_path(environment)
    with describing(folder, listening[0], "sh_dev"):
        (path,) = folder.iterdir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(folder.iterdir()) == []


def test_a_dev_server_runs_although_its_file_cannot_be_written(tmp_path: Path, listening: list[str]) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    with describing(blocked / "dev", listening[0], "sh_dev"):
        pass


def test_a_local_stack_on_another_port_is_found(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    path = described(tmp_path, listening[1])
    stack = find_stack(environment=environment, directory=tmp_path)
    assert (stack.url, stack.source) == (listening[1], f"the local stack of {path}")


def test_of_several_local_stacks_one_has_to_be_named_and_brings_its_key(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    described(tmp_path, listening[1])
    with describing(devs_path(environment), listening[0], "sh_dev"):
        with pytest.raises(InputError, match=r"Several local stacks answer: .*export SWEEPHAND_URL="):
            find_stack(environment=environment, directory=tmp_path)
        for url, key in zip(listening, ("sh_dev", "sh_up"), strict=True):
            stack = find_stack(environment={**environment, "SWEEPHAND_URL": url}, directory=tmp_path)
            assert stack.authorization() == Bearer(key)
        named = {**environment, "SWEEPHAND_URL": listening[0], "SWEEPHAND_KEY": "sh_mine"}
        assert find_stack(environment=named, directory=tmp_path).authorization() == Bearer("sh_mine")


def test_the_default_profile_is_called_although_a_dev_server_runs(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    write_profile(environment, "default", {"url": "https://default.example"})
    with describing(devs_path(environment), listening[0], "sh_dev"):
        assert find_stack(environment=environment, directory=tmp_path).url == "https://default.example"


def test_no_key_goes_to_a_program_that_listens_where_a_dev_server_has_ended(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = devs_path(environment)
    with describing(folder, listening[0], "sh_dev"):
        (path,) = folder.iterdir()
        path.write_text(path.read_text().replace(str(os.getpid()), str(ended.pid)))
        with pytest.raises(InputError, match="No stack is known"):
            find_stack(environment=environment, directory=tmp_path)
        named = {**environment, "SWEEPHAND_URL": listening[0]}
        assert find_stack(environment=named, directory=tmp_path).authorization() is None


def test_the_file_of_a_dev_server_that_was_killed_goes_at_the_next_start(
    environment: dict[str, str], listening: list[str]
) -> None:
    folder = devs_path(environment)
    folder.mkdir(parents=True)
    killed = folder / "1.json"
    killed.touch(mode=0o600)
    killed.write_text(json.dumps({"apiUrl": "http://127.0.0.1:1", "apiKey": "sh_old", "pid": 2**22 + 1}))
    with describing(folder, listening[0], "sh_dev"), describing(folder, listening[1], "sh_other"):
        assert len(list(folder.iterdir())) == 2
        assert not killed.exists()


def test_a_file_that_others_may_read_names_no_stack(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    described(tmp_path, listening[1]).chmod(0o644)
    with pytest.raises(InputError, match="No stack is known"):
        find_stack(environment=environment, directory=tmp_path)


def test_a_stack_that_does_not_answer_leads_to_one_that_does(
    sweephand: CommandLine, listening: list[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        away = f"http://127.0.0.1:{closed.getsockname()[1]}"
    environment = {"SWEEPHAND_CONFIG": str(sweephand.home / "config")}
    with describing(devs_path(environment), listening[0], "sh_dev"):
        failed = sweephand.run("status", SWEEPHAND_URL=away)
        assert failed.code == 3
        assert f"sweephand dev answers at {listening[0]}" in failed.err
        assert f"export SWEEPHAND_URL={listening[0]}" in failed.err
        # A stack elsewhere is another one. Its callers want no local one.
        elsewhere = sweephand.run("status", SWEEPHAND_URL="https://127.0.0.1.invalid")
        assert (elsewhere.code, "sweephand dev" in elsewhere.err) == (3, False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pid", "x"),
        ("pid", []),
        ("pid", True),
        ("pid", 0),
        ("pid", -1),
        ("pid", 10**20),
        ("apiUrl", 5),
        ("apiUrl", None),
        ("apiUrl", "http://[::1"),
        ("apiUrl", "http://127.0.0.1:99999"),
        ("apiUrl", "http://localhost:x"),
        ("apiKey", 5),
    ],
)
def test_a_file_that_describes_no_stack_is_left_out_and_named_if_it_is_the_usual_one(
    tmp_path: Path, environment: dict[str, str], listening: list[str], field: str, value: object
) -> None:
    path = described(tmp_path, listening[0])
    path.write_text(json.dumps({"apiUrl": listening[0], "apiKey": "sh_up", field: value}), encoding="utf-8")
    with pytest.raises(InputError, match="No stack is known"):
        find_stack(environment=environment, directory=tmp_path)
    path.rename(path.with_name("stack.json"))
    with pytest.raises(InputError, match="does not describe a local stack"):
        find_stack(environment=environment, directory=tmp_path)


def test_a_pipe_in_place_of_a_file_is_left_out_and_nothing_waits_for_it(
    tmp_path: Path, environment: dict[str, str], listening: list[str]
) -> None:
    os.mkfifo(described(tmp_path, listening[0]).with_name("stack-1.json"), 0o600)
    assert find_stack(environment=environment, directory=tmp_path).url == listening[0]
