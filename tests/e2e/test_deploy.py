"""`sweephand deploy` and `sweephand destroy` on the local AWS. They deploy what SAM would."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from infra.local.build import build
from infra.local.deploy import Aws, session
from infra.local.places import REGION, ROOT, SAM, STACK_NAME
from typer.testing import CliRunner, Result

from sweephand_client.commands.main import app
from sweephand_deploy import deploy as deploying
from sweephand_deploy.build import Artifact
from sweephand_deploy.changes import described

OWN = "sweephand-own"
BUCKET = f"sweephand-code-000000000000-{REGION}"


@pytest.fixture(scope="module")
def zips() -> Sequence[Artifact]:
    """The code, built for this machine as the command builds it."""
    return build().artifacts


@pytest.fixture
def aws(stack: Mapping[str, Any], zips: Sequence[Artifact], monkeypatch: pytest.MonkeyPatch) -> Aws:
    """The local AWS, which the commands find in the environment. They take the code that was built once."""
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": stack["awsEndpointUrl"],
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def copied(_: object, folder: Path) -> list[Artifact]:
        return [Artifact(each.logical_id, Path(shutil.copy(each.path, folder))) for each in zips]

    monkeypatch.setattr(deploying, "build", copied)
    return Aws(session(), stack["awsEndpointUrl"])


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--yes", "--stack-name", OWN])


def shown(*words: str) -> str:
    """What a command prints that has to succeed."""
    ran = run(*words)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def by_sam(*words: str | Path) -> None:
    """Run SAM's command line in the checkout, without the variables that our Python has."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    settings = {"SAM_CLI_TELEMETRY": "0", "PYTHON": sys.executable, "LAMBDA_PLATFORM": "native"}
    done = subprocess.run(  # noqa: S603 - SAM, with options of this module
        [SAM, *words], cwd=ROOT, env=own | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def without_code(template: Any) -> Any:
    """A template without what differs: where the code is, and what SAM's build adds for itself."""
    for resource in template["Resources"].values():
        for name in ("CodeUri", "ContentUri"):
            resource.get("Properties", {}).pop(name, None)
        resource.get("Metadata", {}).pop("SamResourceId", None)
        if not resource.get("Metadata", True):
            del resource["Metadata"]
    return template


def object_of(aws: Aws, key: str) -> bytes:
    content: bytes = aws.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    return content


def keys_of(aws: Aws, ending: str) -> list[str]:
    """The keys of the bucket with this ending, from the oldest on."""
    found = aws.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    return [each["Key"] for each in sorted(found, key=itemgetter("LastModified")) if ending in each["Key"]]


def uploaded(aws: Aws) -> dict[str, dict[str, bytes]]:
    """The content of each zip in the bucket of the command, by the logical id."""
    found = {}
    for key in keys_of(aws, ".zip"):
        with ZipFile(io.BytesIO(object_of(aws, key))) as archive:
            found[key.rpartition("-")[0]] = {name: archive.read(name) for name in archive.namelist()}
    return found


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.sampled(2)
def test_what_is_deployed_is_what_sam_would_deploy(aws: Aws, tmp_path: Path) -> None:
    built, packaged = tmp_path / "build", tmp_path / "packaged.json"
    by_sam("build", "--build-dir", built, "--cached", "--cache-dir", tmp_path / "cache")
    by_sam(
        *("package", "--template-file", built / "template.yaml", "--s3-bucket", BUCKET),
        *("--s3-prefix", "sam", "--use-json", "--output-template-file", packaged),
    )
    ours = json.loads(object_of(aws, keys_of(aws, "template-")[-1]))
    assert without_code(ours) == without_code(json.loads(packaged.read_bytes()))
    code = {name: content for name, content in uploaded(aws).items() if not name.startswith("sam/")}
    assert code == {folder.name: files(folder) for folder in built.iterdir() if folder.is_dir()}


def test_a_stack_can_be_made_changed_and_deleted(aws: Aws) -> None:
    values = [f"{name}={value}" for name, value in aws.parameters(STACK_NAME).items()]
    created = shown("deploy", *(word for value in values for word in ("--parameter", value)))

    assert f"{'ApiUrl':<22} http" in created
    assert re.search(r"of \d+\] CREATE_COMPLETE +TickFunction$", created, re.MULTILINE)
    assert "Uploaded 0 of 11 zips" in shown("deploy", "--parameter", "LogLevel=DEBUG")
    assert aws.parameters(OWN) == aws.parameters(STACK_NAME) | {"LogLevel": "DEBUG"}

    names = aws.outputs(OWN)
    deleted = shown("destroy")
    assert described(aws.client("cloudformation"), OWN) is None
    for table in (names["JobsTableName"], names["TimersTableName"]):
        assert table in deleted
        assert aws.client("dynamodb").describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE"


def test_a_refusal_is_shown_with_its_resource_and_reason_and_leaves_nothing(aws: Aws) -> None:
    ran = run("deploy", "--parameter", "TargetQueueArns=garbage")
    assert ran.exit_code == 4
    reason = "TARGET_QUEUE_ARNS must be a list of ARNs with commas between them: 'garbage' is no ARN."
    assert f"  Lists (Custom::Lists): {reason}" in ran.stderr
    assert described(aws.client("cloudformation"), OWN) is None
