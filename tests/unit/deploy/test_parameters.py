"""Values of parameters, from options and files."""

import json
from pathlib import Path

import pytest

from sweephand_deploy.errors import InputError
from sweephand_deploy.parameters import read_parameters


def test_an_option_has_a_name_and_a_value_that_may_be_empty_or_have_an_equals_sign() -> None:
    found = read_parameters(["LogLevel=DEBUG", "AlarmTopicArn=", "AllowedTargetHosts=a=b"], None)
    assert found == {"LogLevel": "DEBUG", "AlarmTopicArn": "", "AllowedTargetHosts": "a=b"}


@pytest.mark.parametrize("option", ["LogLevel", "=DEBUG", ""])
def test_another_option_is_refused(option: str) -> None:
    with pytest.raises(InputError, match="--parameter must be Name=value"):
        read_parameters([option], None)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"Enabled": False, "ShardCount": 32, "AllowedTargetHosts": ["a.example", "b.example"]}),
        "Enabled: false\nShardCount: 32\nAllowedTargetHosts: [a.example, b.example]\n",
        json.dumps(
            [
                {"ParameterKey": "Enabled", "ParameterValue": "false"},
                {"ParameterKey": "ShardCount", "ParameterValue": "32"},
                {"ParameterKey": "AllowedTargetHosts", "ParameterValue": "a.example,b.example"},
            ]
        ),
    ],
    ids=["json", "yaml", "as the AWS CLI takes it"],
)
def test_a_file_has_values_and_options_come_before_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "parameters"
    file.write_text(content, encoding="utf-8")
    found = read_parameters(["ShardCount=64"], file)
    assert found == {"Enabled": "false", "ShardCount": "64", "AllowedTargetHosts": "a.example,b.example"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[1, 2]", "must hold names with values"),
        ("LogLevel", "must hold names with values"),
        ("LogLevel: {a: b}", "The value of the parameter LogLevel must be"),
        ("LogLevel:", "The value of the parameter LogLevel must be"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "parameters"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_parameters([], file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none cannot be read: .*No such file"):
        read_parameters([], tmp_path / "none")
