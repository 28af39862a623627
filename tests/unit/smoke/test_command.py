"""A run in an account removes its resources, however it ends, and its exit code tells the result."""

import signal
from collections.abc import Callable
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


def run(*, keep: bool = False) -> int:
    """The exit code, in an account that has no client of any use."""
    asked = SimpleNamespace(yes=True, keep=keep, set=[], consumer=None)
    owner = SimpleNamespace(get_caller_identity=lambda: {"Account": "1234"})
    aws = SimpleNamespace(
        region="eu-west-1",
        client=lambda _: owner,
        outputs=lambda _: {"ApiUrl": "https://api.example", "AdminKeyFunctionName": "admin-key"},
        invoke=lambda *_: {"key": "sh_admin_x"},
    )
    return command.on_aws(cast("Any", asked), cast("Any", aws), lanes=[], flip=lambda *_: iter(()))


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
    monkeypatch: pytest.MonkeyPatch,
    removed: list[str],
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
) -> None:
    def fail() -> None:
        raise error

    deployment(monkeypatch, fail)
    assert run() == 1
    [stack] = removed
    told = capsys.readouterr().out
    assert f"Deploys {stack} " in told
    assert "0 passed, 1 failed, 0 not shown" in told


def test_an_unexpected_error_is_shown_after_the_removal(
    monkeypatch: pytest.MonkeyPatch, removed: list[str]
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    deployment(monkeypatch, fail)
    with pytest.raises(ZeroDivisionError):
        run()
    assert len(removed) == 1


def test_a_run_whose_checks_pass_fails_if_a_resource_is_left(
    monkeypatch: pytest.MonkeyPatch,
    removed: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    deployment(monkeypatch, lambda: None)
    monkeypatch.setattr(account, "remove", lambda *_: ["queue x: in use"])
    assert run() == 1
    told = capsys.readouterr()
    assert "0 passed, 0 failed, 0 not shown" in told.out
    assert "NOT REMOVED: queue x: in use" in told.err
    assert removed == []


def test_a_run_with_keep_leaves_its_stack_and_says_how_to_remove_it(
    monkeypatch: pytest.MonkeyPatch, removed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    deployment(monkeypatch, lambda: None)
    assert (run(keep=True), removed) == (0, [])
    told = capsys.readouterr().out
    stack = told.split()[1]
    assert stack.startswith("sweephand-smoke-")
    assert f"--remove {stack}" in told
