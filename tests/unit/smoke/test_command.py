"""A run in an account removes its resources, however it ends, and its exit code tells the result."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from infra.local.places import StackError
from infra.smoke import __main__ as command
from infra.smoke import account


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the stacks that were removed; nothing of them was left."""
    names: list[str] = []

    def remove(stack: str, *_: object) -> list[str]:
        names.append(stack)
        return []

    monkeypatch.setattr(account, "remove", remove)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return names


def run(tmp_path: Path, *, keep: bool = False) -> tuple[int, dict[str, Any]]:
    """The exit code, and what the run wrote as JSON, in an account that has no client of any use."""
    asked = SimpleNamespace(yes=True, keep=keep, set=[], consumer=None, json=tmp_path / "out.json")
    owner = SimpleNamespace(get_caller_identity=lambda: {"Account": "1234"})
    aws = SimpleNamespace(region="eu-west-1", client=lambda _: owner)
    code = command.on_aws(cast("Any", asked), cast("Any", aws), lanes=[], flip=lambda *_: iter(()))
    return code, json.loads(asked.json.read_text())


def deployment(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    monkeypatch.setattr(account, "deploy", lambda *_: act())


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        StackError("sam deploy failed"),
        ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "CreateBucket"),
    ],
    ids=["Ctrl-C", "sam fails", "AWS refuses"],
)
def test_every_resource_is_removed_whatever_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, removed: list[str], tmp_path: Path, error: BaseException
) -> None:
    def fail() -> None:
        raise error

    deployment(monkeypatch, fail)
    code, told = run(tmp_path)
    assert code == 1
    assert removed == [told["stack"]]
    assert [each["verdict"] for each in told["results"]] == ["failed"]


def test_an_unexpected_error_is_shown_after_the_removal(
    monkeypatch: pytest.MonkeyPatch, removed: list[str], tmp_path: Path
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    deployment(monkeypatch, fail)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path)
    assert len(removed) == 1


def test_a_run_whose_checks_pass_fails_if_a_resource_is_left(
    monkeypatch: pytest.MonkeyPatch,
    removed: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    deployment(monkeypatch, lambda: None)
    monkeypatch.setattr(account, "outputs", lambda *_: {"ApiUrl": "https://api.example"})
    monkeypatch.setattr(account, "admin_key", lambda *_: "sh_admin_x")
    monkeypatch.setattr(account, "remove", lambda *_: ["queue x: in use"])
    code, told = run(tmp_path)
    assert (code, told["results"], told["notRemoved"]) == (1, [], ["queue x: in use"])
    assert "NOT REMOVED: queue x: in use" in capsys.readouterr().err
    assert removed == []


def test_a_run_with_keep_leaves_its_stack_and_says_how_to_remove_it(
    monkeypatch: pytest.MonkeyPatch, removed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment(monkeypatch, lambda: None)
    monkeypatch.setattr(account, "outputs", lambda *_: {"ApiUrl": "https://api.example"})
    monkeypatch.setattr(account, "admin_key", lambda *_: "sh_admin_x")
    code, told = run(tmp_path, keep=True)
    assert (code, removed) == (0, [])
    assert f"--remove {told['stack']}" in capsys.readouterr().out
