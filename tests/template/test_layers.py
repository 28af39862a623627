"""The layers are built for the Python of the functions, and the bill of materials names what is in them."""

import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.places import LOCAL, ROOT
from tests.template.stack import FUNCTIONS, Stack

from sweephand import __version__


@pytest.mark.parametrize("layer", ["sweephand", "dependencies"])
def test_a_layer_is_compiled_for_the_version_that_runs_it(stack: Stack, layer: str) -> None:
    makefile = (ROOT / "layers" / layer / "Makefile").read_text(encoding="utf-8")
    [version] = re.findall(r"^LAMBDA_PYTHON \?= (\S+)$", makefile, re.MULTILINE)
    layers = stack.named("AWS::Lambda::LayerVersion").values()
    assert [each["CompatibleRuntimes"] for each in layers] == [[f"python{version}"]] * 2
    assert {stack.properties(f"{name}Function")["Runtime"] for name in FUNCTIONS} == {f"python{version}"}


def test_each_stack_has_layers_of_its_own(stack: Stack) -> None:
    """An account has one layer of each name. Two stacks with one name would write into the same layer."""
    layers = stack.named("AWS::Lambda::LayerVersion").values()
    assert sorted(each["LayerName"]["Fn::Sub"] for each in layers) == [
        "${AWS::StackName}-libraries",
        "${AWS::StackName}-sweephand",
    ]


def test_a_package_differs_from_the_template_in_the_places_of_the_code_alone(
    stack: Stack, packaged: Stack
) -> None:
    own = packaged.template["Parameters"].keys() - stack.template["Parameters"].keys()
    assert own == {"CodeBucket", "CodePrefix"}
    # The transform puts the values of parameters into functions, and leaves them in layers.
    key = {"Fn::Sub": "sweephand/TickFunction-1.zip"}
    assert packaged.properties("TickFunction")["Code"] == {"S3Bucket": "my-code", "S3Key": key}
    places = [each["Content"] for each in packaged.named("AWS::Lambda::LayerVersion").values()]
    names = ("SweephandLayer", "DependenciesLayer")
    keys = [{"Fn::Sub": f"${{CodePrefix}}{name}-1.zip"} for name in names]
    assert places == [{"S3Bucket": {"Ref": "CodeBucket"}, "S3Key": each} for each in keys]
    assert without_code(packaged) == without_code(stack)


def without_code(stack: Stack) -> str:
    """The resources without the places of the code, and without the hashes that follow from these."""
    resources = copy.deepcopy(stack.template["Resources"])
    for resource in resources.values():
        for name in ("Code", "Content"):
            resource.get("Properties", {}).pop(name, None)
    text = json.dumps(resources, indent=1, sort_keys=True)
    return re.sub(r"(Layer|FunctionVersion)[0-9a-f]{10}\b", r"\1", text)


TOOL: Final = LOCAL / "venvs" / "sbom" / "bin" / "cyclonedx-py"
LAYER: Final = ROOT / "layers" / "dependencies" / "requirements.txt"
LOCKS: Final = (LAYER, *sorted((ROOT / "requirements").glob("*.txt")))

#: A package in a lock file: its name, its version, and the lines with its hashes.
_LOCKED: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)[^\n]*\n((?:    --hash=[^\n]*\n?)*)", re.MULTILINE)


def locked(path: Path) -> dict[tuple[str, str], set[str]]:
    """The SHA-256 hashes of each package in a lock file, by its name and version."""
    return {
        (name, version): set(re.findall(r"sha256:([0-9a-f]{64})", hashes))
        for name, version, hashes in _LOCKED.findall(path.read_text(encoding="utf-8"))
    }


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `make sbom` writes."""
    if not TOOL.exists():
        pytest.skip("cyclonedx-bom is not installed: make setup")
    output = tmp_path_factory.mktemp("sbom") / "build" / "sbom.json"
    subprocess.run([ROOT / "requirements" / "sbom.sh", TOOL, output], cwd=ROOT, check=True)  # noqa: S603 - our own script
    found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return found


def test_the_bill_is_of_cyclonedx_and_of_sweephand(bill: dict[str, Any]) -> None:
    assert bill["bomFormat"] == "CycloneDX"
    component = bill["metadata"]["component"]
    assert (component["name"], component["version"]) == ("sweephand", __version__)


def test_the_bill_names_every_package_that_goes_to_lambda_with_its_version_and_hashes(
    bill: dict[str, Any],
) -> None:
    named = {
        (each["name"], each["version"]): {
            digest["content"] for found in each["externalReferences"] for digest in found["hashes"]
        }
        for each in bill["components"]
    }
    assert len(named) > 10
    assert named == locked(LAYER)


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name if path != LAYER else "layer")
def test_every_package_of_a_lock_file_has_hashes(path: Path) -> None:
    packages = locked(path)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) == len(lines) > 0, "each line is one package in one version"
    assert all(packages.values())


def test_every_installation_asks_for_the_hashes() -> None:
    installing = {"requirements/install.sh": 2, "layers/dependencies/Makefile": 1}
    for name, count in installing.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert text.count("pip install ") == text.count("--require-hashes") == count
