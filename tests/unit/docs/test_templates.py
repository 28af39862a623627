"""The resource of docs/jobs-as-code.md makes its job, in a template of CloudFormation and in one of CDK."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from infra.local.places import LOCAL
from tests.unit.docs.blocks import ROOT, blocks
from tests.unit.runtime.test_resources import Deployment

PAGE: Final = ROOT / "docs" / "jobs-as-code.md"
NPM: Final = LOCAL / "venvs" / "npm" / "node_modules"
SETTINGS: Final = ROOT / "tests" / "e2e" / "generated" / "tsconfig.json"

#: How long a busy machine may take for what an idle one does in seconds.
PATIENCE_S: Final = 300


def of_page() -> dict[str, Any]:
    """The resources of the page's template."""
    [template] = [each for each in blocks(PAGE, "yaml") if each.text.startswith("Resources:")]
    resources: dict[str, Any] = yaml.safe_load(template.text)["Resources"]
    return resources


def test_the_template_of_the_page_makes_its_job() -> None:
    [resource] = of_page().values()
    assert resource["Type"] == "Custom::SweephandJob"
    deployment = Deployment(namespaces=("billing",))
    assert deployment.create(resource["Properties"]) == "billing/nightly"
    job = deployment.shown("/v1/namespaces/billing/jobs/nightly")
    assert (job["data"], job["target"]) == ({"count": 5}, resource["Properties"]["target"])


def test_the_construct_of_the_page_makes_the_resource_of_its_template(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not NPM.exists():
        pytest.skip("node or its packages are not installed: make setup")
    [construct] = blocks(PAGE, "ts")
    [(name, resource)] = of_page().items()
    properties = json.dumps(
        {key: each for key, each in resource["Properties"].items() if key != "ServiceToken"}
    )
    program = f"""
import {{ App, Stack }} from "aws-cdk-lib";
class Orders extends Stack {{ declare() {{ new Sweephand(this, "{name}", "Job", {properties}); }} }}
const app = new App({{ outdir: "out" }});
new Orders(app, "Orders").declare();
app.synth();
"""
    (tmp_path / "main.ts").write_text(construct.text + program, "utf-8")
    (tmp_path / "package.json").write_text("{}", "utf-8")
    (tmp_path / "node_modules").symlink_to(NPM)
    shutil.copy(SETTINGS, tmp_path)
    compiler = NPM / "typescript" / "bin" / "tsc"
    for command in ([compiler, "--project", "."], ["main.js"]):
        done = subprocess.run(  # noqa: S603 - our own commands
            [node, *command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        assert done.returncode == 0, done.stdout + done.stderr
    template = json.loads((tmp_path / "out" / "Orders.template.json").read_text("utf-8"))
    made = {
        name: {key: each[key] for key in ("Type", "Properties")}
        for name, each in template["Resources"].items()
    }
    assert made == of_page()
