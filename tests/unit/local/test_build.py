"""The build of the local stack takes what the last one has made of the same source."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from infra.local import build as building
from infra.local.places import StackError

from sweephand_deploy.build import Artifact
from sweephand_deploy.errors import InputError

TEMPLATE = """
Resources:
  One: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/one}}
  Two: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/two}}
"""


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A checkout with two functions. Returns the names of those that are built."""
    for name in ("one", "two"):
        (tmp_path / "functions" / name).mkdir(parents=True)
        (tmp_path / "functions" / name / "handler.py").write_text("before")
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    names: list[str] = []

    def build_one(name: str, named: str, folder: Path, settings: Mapping[str, str]) -> Artifact:
        assert settings["LAMBDA_PLATFORM"] == "native"
        names.append(name)
        path = folder / f"{name}.zip"
        path.write_bytes((tmp_path / named / "handler.py").read_bytes())
        return Artifact(name, path)

    local = tmp_path / ".local"
    places = {"ROOT": tmp_path, "LOCAL": local, "BUILD": local / "build", "build_one": build_one}
    for name, value in (places | {"_TEMPLATE": tmp_path / "template.yaml"}).items():
        monkeypatch.setattr(building, name, value)
    return names


def test_only_what_has_changed_is_built_again(built: list[str], tmp_path: Path) -> None:
    first = building.build()
    assert building.build() == first
    assert built == ["One", "Two"]

    (tmp_path / "functions" / "two" / "handler.py").write_text("after")
    second = building.build()
    assert built == ["One", "Two", "Two"]
    assert second.digest != first.digest
    assert [each.path.read_text() for each in second.artifacts] == ["before", "after"]
    assert not first.artifacts[1].path.exists()


def test_another_template_is_another_build_of_the_same_code(built: list[str], tmp_path: Path) -> None:
    first = building.build()
    (tmp_path / "template.yaml").write_text(TEMPLATE + "\nOutputs: {}\n")
    second = building.build()
    assert second.artifacts == first.artifacts
    assert second.digest != first.digest
    assert built == ["One", "Two"]


def test_a_build_that_fails_says_why_and_is_tried_again(
    built: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def refuse(*_: object) -> Artifact:
            raise InputError("Install make.")

        patch.setattr(building, "build_one", refuse)
        with pytest.raises(StackError, match=r"^Install make\.$"):
            building.build()
    assert [path.name for path in (tmp_path / ".local" / "build").iterdir()] == []
    building.build()
    assert built == ["One", "Two"]
