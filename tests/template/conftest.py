"""The template in the form that AWS receives."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from infra.local.places import ROOT, SAM
from tests.template.stack import Stack


@pytest.fixture(scope="session")
def stack() -> Stack:
    """What SAM makes of template.yaml with the defaults."""
    return _transformed({})


@pytest.fixture(scope="session")
def gradual() -> Stack:
    """What SAM makes of template.yaml for gradual deployments. SAM itself reads this parameter."""
    return _transformed({"GradualDeployments": "true"})


def _transformed(parameters: dict[str, str]) -> Stack:
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
        str(ROOT / "template.yaml"),
        json.dumps(parameters),
    ]
    done = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, text=True, check=True, env=environment
    )
    return Stack(json.loads(done.stdout))
