"""`sweephand deploy` and `sweephand destroy` on the local AWS, beside a stack that SAM has deployed."""

import io
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from infra.local.deploy import Aws, session
from infra.local.places import BUILD, REGION, STACK_NAME
from typer.testing import CliRunner, Result

from sweephand_client.commands.main import app
from sweephand_deploy import deploy as deploying
from sweephand_deploy.build import Artifact, build, source
from sweephand_deploy.changes import described
from sweephand_deploy.template import read_template

OWN = "sweephand-own"
BUCKET = f"sweephand-code-000000000000-{REGION}"


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Artifact]:
    """The code, built for this machine as the command builds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMBDA_PLATFORM", "native")
        return build(read_template(source() / "template.yaml"), tmp_path_factory.mktemp("zips"))


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


def processed(aws: Aws, stack: str) -> str:
    """The template after its transform, without what differs: names of uploads and their hashes.

    SAM's build adds the logical id to the metadata of each function and layer, for itself.
    """
    cloudformation = aws.client("cloudformation")
    body = cloudformation.get_template(StackName=stack, TemplateStage="Processed")["TemplateBody"]
    template = json.loads(body) if isinstance(body, str) else body
    for resource in template["Resources"].values():
        resource.get("Metadata", {}).pop("SamResourceId", None)
        if not resource.get("Metadata", True):
            del resource["Metadata"]
    text = json.dumps(template, indent=1, sort_keys=True)
    text = re.sub(r'"S3(Bucket|Key)": "[^"]+"', r'"S3\1": ""', text)
    return re.sub(r"(Layer|FunctionVersion)[0-9a-f]{10}\b", r"\1", text)


def uploaded(aws: Aws) -> dict[str, dict[str, bytes]]:
    """The content of each zip in the bucket of the command, by the logical id."""
    s3 = aws.client("s3")
    keys = [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"] if ".zip" in each["Key"]]
    found = {}
    for key in keys:
        content = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        with ZipFile(io.BytesIO(content)) as archive:
            found[key.rpartition("-")[0]] = {name: archive.read(name) for name in archive.namelist()}
    return found


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_stack_equals_one_of_sam_and_can_be_changed_and_deleted(aws: Aws) -> None:
    values = [f"{name}={value}" for name, value in aws.parameters(STACK_NAME).items()]
    created = shown("deploy", *(word for value in values for word in ("--parameter", value)))

    assert f"{'ApiUrl':<22} http" in created
    assert re.search(r"of \d+\] CREATE_COMPLETE +TickFunction$", created, re.MULTILINE)
    assert processed(aws, OWN) == processed(aws, STACK_NAME)
    assert uploaded(aws) == {folder.name: files(folder) for folder in BUILD.iterdir() if folder.is_dir()}

    assert "Uploaded 0 of 10 zips" in shown("deploy", "--parameter", "LogLevel=DEBUG")
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
