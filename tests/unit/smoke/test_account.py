"""A stack of the smoke test is deployed from what was built once, under a tag, from a bucket of its own."""

from pathlib import Path

import pytest
from infra.local.deploy import Aws
from infra.smoke import account
from tests.unit.deploy.conftest import Account, Step

STACK = "sweephand-smoke-1"


def test_an_update_takes_what_was_built_and_the_tag_and_the_bucket_of_the_stack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(account, "_BUILT", tmp_path)
    (tmp_path / "ApiFunction-1.zip").write_text("the code", encoding="utf-8")
    made = Account()
    made.cloudformation.has("CREATE_COMPLETE", ["LogLevel", "ShardCount"])
    made.cloudformation.steps = [Step("UPDATE_COMPLETE")]

    account.update(STACK, Aws(made.session), ["LogLevel=DEBUG"])

    asked = made.cloudformation.asked("create_change_set")
    assert asked["Tags"] == [{"Key": account.TAG, "Value": STACK}]
    assert f"/{STACK}-123456789012-eu-west-1/template-" in asked["TemplateURL"]
    assert asked["Parameters"] == [
        {"ParameterKey": "LogLevel", "ParameterValue": "DEBUG"},
        {"ParameterKey": "ShardCount", "UsePreviousValue": True},
    ]
    assert made.s3.objects["ApiFunction-1.zip"] == b"the code"
