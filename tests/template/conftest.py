"""The template in the form that AWS receives."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from infra.local.places import ROOT, SAM
from tests.template.stack import Stack

from sweephand_deploy import deploy as deploying
from sweephand_deploy.build import Artifact
from sweephand_deploy.template import Template, code_folders


@pytest.fixture(scope="session")
def stack() -> Stack:
    """What SAM makes of template.yaml with the defaults."""
    return _transformed({})


@pytest.fixture(scope="session")
def gradual() -> Stack:
    """What SAM makes of template.yaml for gradual deployments. SAM itself reads this parameter."""
    return _transformed({"GradualDeployments": "true"})


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """What SAM makes of the template that `sweephand deploy --package` writes. Its zips are empty."""

    def empty(template: Template, folder: Path) -> list[Artifact]:
        artifacts = [Artifact(name, folder / f"{name}-1.zip") for name in code_folders(template)]
        for each in artifacts:
            each.path.touch()
        return artifacts

    monkeypatch.setattr(deploying, "build", empty)
    deploying.package(tmp_path / "package")
    (file,) = (tmp_path / "package").glob("template-*.json")
    return _transformed({"CodeBucket": "my-code", "CodePrefix": "sweephand/"}, file)


def _transformed(parameters: dict[str, str], template: Path = ROOT / "template.yaml") -> Stack:
    """SAM's own environment has the translator."""
    transform = Path(__file__).with_name("transform.py")
    if not SAM.exists():
        pytest.skip("SAM is not installed: make setup")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))
    }
    command = [
        str(SAM.with_name("python")),
        str(transform),
        str(template),
        json.dumps(parameters),
    ]
    done = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, text=True, check=True, env=environment
    )
    return Stack(json.loads(done.stdout))
