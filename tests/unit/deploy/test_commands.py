"""The commands `deploy` and `destroy`: their options, their question and their exit codes."""

from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.unit.deploy.conftest import Account, Step
from typer.testing import CliRunner, Result

from sweephand_client.commands import deploy as command
from sweephand_client.commands.main import app
from sweephand_deploy import deploy as deploying


@pytest.fixture(autouse=True)
def _own_account(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploying, "session_of", lambda _: account)
    monkeypatch.setattr("time.sleep", account.talk.pause)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def test_it_deploys_without_a_question_if_it_is_told_so(account: Account) -> None:
    account.cloudformation.steps = [Step("CREATE_COMPLETE")]
    ran = run("deploy", "--yes", "--parameter", "LogLevel=DEBUG", "--stack-name", "other", "--bucket", "mine")
    assert (ran.exit_code, ran.stderr) == (0, "")
    asked = account.cloudformation.asked("create_change_set")
    assert asked["StackName"] == "other"
    assert "/mine/" in asked["TemplateURL"]
    assert "ApiUrl                 https://api\n" in ran.stdout


def test_it_makes_no_bucket_if_it_is_given_one(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(type(account.s3), "head_bucket")
    assert run("deploy", "--no-execute", "--bucket", "mine").exit_code == 0


@pytest.mark.parametrize("words", [["deploy"], ["destroy"]])
def test_it_asks_nobody_without_a_terminal(account: Account, words: list[str]) -> None:
    ran = run(*words)
    assert (ran.exit_code, ran.stderr) == (2, "There is no terminal to ask at. --yes answers the question.\n")
    assert account.cloudformation.calls == []


def test_a_person_who_says_no_ends_it_with_1(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.cloudformation.has("CREATE_COMPLETE")
    account.answer = False
    monkeypatch.setattr(command, "_question", lambda **_: account.talk.ask)
    assert run("deploy").exit_code == 1
    assert run("destroy").exit_code == 1


def test_a_deleted_stack_ends_it_with_0(account: Account) -> None:
    account.cloudformation.has("CREATE_COMPLETE")
    account.cloudformation.steps = [Step("DELETE_COMPLETE")]
    assert run("destroy", "--yes").exit_code == 0


def _lost(**_: Any) -> None:
    raise EndpointConnectionError(endpoint_url="https://cloudformation")


@pytest.mark.parametrize(
    ("status", "words", "code", "told"),
    [
        ("ROLLBACK_COMPLETE", ["--yes"], 4, "cannot be changed"),
        ("CREATE_COMPLETE", ["--yes", "--parameter", "Unknown=1"], 2, "no parameter Unknown"),
        ("CREATE_COMPLETE", ["--yes", "--parameter", "x"], 2, "must be Name=value"),
    ],
)
def test_an_error_is_a_sentence_and_a_code(
    account: Account, status: str, words: list[str], code: int, told: str
) -> None:
    account.cloudformation.has(status)
    ran = run("deploy", *words)
    assert ran.exit_code == code
    assert told in ran.stderr


def test_aws_that_does_not_answer_ends_it_with_3(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account.cloudformation, "describe_stacks", _lost)
    ran = run("deploy", "--yes")
    assert (ran.exit_code, ran.stderr.count("\n")) == (3, 1)
    assert ran.stderr.startswith("AWS did not answer: Could not connect")


def test_control_c_says_that_cloudformation_goes_on(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(**_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(account.cloudformation, "execute_change_set", interrupt)
    ran = run("deploy", "--yes")
    assert ran.exit_code == 130
    assert "CloudFormation goes on with what it has begun. Give the command again" in ran.stderr


def test_packages_that_are_lacking_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_PACKAGE", "no_such_package")
    ran = run("deploy", "--yes")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("Deploying needs packages that are not installed, such as no_such_package.")
    assert ran.stderr.endswith("Install them: pip install 'sweephand[deploy]'\n")
