"""The OpenAPI document makes working clients: a Python one and a TypeScript one call `sweephand dev`."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from infra.local.dev import Dev, running
from infra.local.places import LOCAL
from tests.fakes.consumer import Consumer
from tests.fakes.webhooks import check_received

SOURCES: Final = Path(__file__).parent / "generated"
GENERATORS: Final = LOCAL / "venvs" / "generators" / "bin"
NPM: Final = LOCAL / "venvs" / "npm" / "node_modules"

#: How long a busy machine may take for what an idle one does in seconds.
PATIENCE_S: Final = 300


@pytest.fixture(scope="module")
def dev() -> Iterator[Dev]:
    with running() as dev:
        yield dev


@pytest.fixture
def document(dev: Dev, tmp_path: Path) -> Path:
    """The OpenAPI document of the stack, in a file."""
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(dev.client.call("GET", "/v1/openapi.json").body), "utf-8")
    return path


def ran(*words: object, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own commands
        [*map(str, words)],
        env=environment or None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def generated(document: Path) -> Path:
    """The folder of the generated Python client."""
    if not GENERATORS.exists():
        pytest.skip("openapi-python-client is not installed: make setup")
    folder = document.with_name("python")
    ran(
        GENERATORS / "openapi-python-client",
        "generate",
        f"--path={document}",
        f"--output-path={folder}",
        f"--config={SOURCES / 'config.yml'}",
        "--meta=none",
        "--fail-on-warning",
    )
    return folder


def test_the_generated_python_client_has_every_operation_and_works(dev: Dev, document: Path) -> None:
    folder = generated(document)
    described = json.loads(document.read_text("utf-8"))["paths"].values()
    names = {each["operationId"] for methods in described for each in methods.values()}
    modules = {path.stem for path in folder.glob("api/*/[!_]*.py")}
    assert modules == {re.sub("([A-Z])", r"_\1", name).lower() for name in names}

    (folder.parent / "sweephand_api").symlink_to(folder)
    with Consumer() as consumer:
        url = consumer.spec()["url"]
        script = SOURCES / "client.py"
        ran(
            GENERATORS / "python",
            script,
            dev.client.api_url,
            dev.client.api_key,
            url,
            PYTHONPATH=str(folder.parent),
        )
        deadline = time.monotonic() + PATIENCE_S
        while len(consumer.requests) < 5:
            assert time.monotonic() < deadline, consumer.requests
            time.sleep(0.02)
    events = [check_received(each.headers, each.body) for each in consumer.requests]
    assert sorted(events) == ["batch-end", "end", "trigger", "trigger", "trigger"]


def test_the_generated_typescript_client_compiles_and_works(dev: Dev, document: Path) -> None:
    node = shutil.which("node")
    if node is None or not NPM.exists():
        pytest.skip("node or its packages are not installed: make setup")
    folder = document.parent
    (folder / "node_modules").symlink_to(NPM)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    for name in ("client.ts", "tsconfig.json"):
        shutil.copy(SOURCES / name, folder)
    ran(node, NPM / "openapi-typescript" / "bin" / "cli.js", document, f"--output={folder / 'api.ts'}")
    ran(node, NPM / "typescript" / "bin" / "tsc", "--project", folder)
    with Consumer() as consumer:
        ran(
            node,
            folder / "client.js",
            dev.client.api_url,
            dev.client.api_key,
            consumer.spec()["url"],
        )
    assert [check_received(each.headers, each.body) for each in consumer.requests] == ["trigger"]
