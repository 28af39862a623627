"""The layers are built for the Python version of the functions."""

import re

import pytest
from infra.local.places import ROOT
from tests.template.stack import FUNCTIONS, Stack


@pytest.mark.parametrize("layer", ["sweephand", "dependencies"])
def test_a_layer_is_compiled_for_the_version_that_runs_it(stack: Stack, layer: str) -> None:
    makefile = (ROOT / "layers" / layer / "Makefile").read_text(encoding="utf-8")
    [version] = re.findall(r"^LAMBDA_PYTHON \?= (\S+)$", makefile, re.MULTILINE)
    layers = stack.named("AWS::Lambda::LayerVersion").values()
    assert [each["CompatibleRuntimes"] for each in layers] == [[f"python{version}"]] * 2
    assert {stack.properties(f"{name}Function")["Runtime"] for name in FUNCTIONS} == {f"python{version}"}
