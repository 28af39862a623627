"""The zips of functions and layers, and the template of a package."""

import json
import zipfile
from pathlib import Path

import pytest
from infra.local.places import ROOT

from sweephand_deploy import build as building
from sweephand_deploy.build import build
from sweephand_deploy.deploy import package
from sweephand_deploy.errors import InputError
from sweephand_deploy.template import code_folders, read_template, with_code

FUNCTION = {"Type": "AWS::Serverless::Function", "Properties": {"CodeUri": "functions/api"}}
LAYER = {"Type": "AWS::Serverless::LayerVersion", "Properties": {"ContentUri": "layers/tiny"}}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source with one function, and a layer whose Makefile copies a file."""
    root = tmp_path / "source"
    (root / "functions" / "api" / "__pycache__").mkdir(parents=True)
    (root / "functions" / "api" / "handler.py").write_text("pass\n", encoding="utf-8")
    (root / "functions" / "api" / "__pycache__" / "handler.pyc").write_text("", encoding="utf-8")
    (root / "layers" / "tiny").mkdir(parents=True)
    makefile = (
        'build-TinyLayer:\n\tmkdir "$(ARTIFACTS_DIR)/python"\n\tcp Makefile "$(ARTIFACTS_DIR)/python"\n'
    )
    (root / "layers" / "tiny" / "Makefile").write_text(makefile, encoding="utf-8")
    monkeypatch.setattr(building, "source", lambda: root)
    (tmp_path / "zips").mkdir()
    return root


def built(folder: Path) -> dict[str, list[str]]:
    """The names of the files in each zip."""
    template = {"Resources": {"ApiFunction": FUNCTION, "TinyLayer": LAYER}}
    found = {}
    for each in build(template, folder):
        with zipfile.ZipFile(each.path) as archive:
            found[each.logical_id] = archive.namelist()
    return found


def test_a_zip_has_the_files_of_its_folder_or_of_what_the_makefile_makes(
    source: Path, tmp_path: Path
) -> None:
    assert built(tmp_path / "zips") == {"ApiFunction": ["handler.py"], "TinyLayer": ["python/Makefile"]}
    assert not (source / "layers" / "tiny" / "python").exists()


def test_the_same_content_gives_the_same_zip_and_another_one_another_name(
    source: Path, tmp_path: Path
) -> None:
    handler = source / "functions" / "api" / "handler.py"
    names = []
    for number, text in enumerate(("pass\n", "pass\n", "other\n")):
        handler.unlink()  # a file with another time and mode
        handler.write_text(text, encoding="utf-8")
        handler.chmod(0o600 + number)
        folder = tmp_path / f"zips-{number}"
        folder.mkdir()
        built(folder)
        names.append(sorted(each.name for each in folder.iterdir()))
    assert names[0] == names[1]
    assert names[0][0] != names[2][0]
    assert names[0][1] == names[2][1]


def test_a_makefile_that_fails_is_told_with_its_words(source: Path, tmp_path: Path) -> None:
    makefile = "build-TinyLayer:\n\t@echo Install a thing. >&2; exit 1\n"
    (source / "layers" / "tiny" / "Makefile").write_text(makefile, encoding="utf-8")
    with pytest.raises(InputError, match=r"TinyLayer could not be built:\nInstall a thing\."):
        built(tmp_path / "zips")


@pytest.mark.usefixtures("source")
def test_a_machine_without_make_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="make, which is not installed"):
        built(tmp_path / "zips")


def test_the_template_is_written_without_aliases_and_with_long_functions() -> None:
    template = read_template(ROOT / "template.yaml")
    assert json.loads(json.dumps(template)) == template
    assert (
        template["Resources"]["TimersTable"]["Properties"] == template["Resources"]["JobsTable"]["Properties"]
    )
    assert template["Outputs"]["DeliverRoleArn"]["Value"] == {"Fn::GetAtt": ["DeliverRole", "Arn"]}
    assert template["Outputs"]["ApiId"]["Value"] == {"Ref": "HttpApi"}


def test_each_function_and_layer_has_a_folder_of_code() -> None:
    template = read_template(ROOT / "template.yaml")
    folders = code_folders(template)
    assert len(folders) == 11
    assert all((ROOT / folder).is_dir() for folder in folders.values())
    placed = with_code(template, dict.fromkeys(folders, "s3://bucket/key"))
    assert set(code_folders(placed).values()) == {"s3://bucket/key"}
    assert code_folders(template) == folders


@pytest.mark.usefixtures("account")
def test_a_package_has_a_template_that_takes_its_bucket_from_parameters(tmp_path: Path) -> None:
    package(tmp_path / "package")
    (file,) = (tmp_path / "package").glob("template-*.json")
    template = json.loads(file.read_text("utf-8"))
    assert template["Resources"]["DependenciesLayer"]["Properties"]["ContentUri"] == {
        "Bucket": {"Ref": "CodeBucket"},
        "Key": {"Fn::Sub": "${CodePrefix}DependenciesLayer-1.zip"},
    }
    assert template["Parameters"]["CodePrefix"]["Default"] == ""
    assert "Default" not in template["Parameters"]["CodeBucket"]
    assert len(list((tmp_path / "package").glob("*.zip"))) == 11


@pytest.mark.usefixtures("account")
def test_a_package_goes_into_an_empty_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(InputError, match="is not an empty folder"):
            package(place)
