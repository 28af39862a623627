"""The API of the deployed stack is what its OpenAPI document says, by schemathesis.

schemathesis makes thousands of requests from the document: valid and invalid ones, alone and in sequences.
It compares each answer with the document: status, content type, schema, methods and authentication. The API
has to accept each valid request and to refuse each invalid one. No answer may be 5xx. described/hooks.py
lists the exceptions, each with its reason.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.client import Client
from infra.local.places import LOCAL

from sweephand.web.operations import OPERATIONS

SCHEMATHESIS: Final = LOCAL / "venvs" / "schemathesis" / "bin" / "schemathesis"
DESCRIBED: Final = Path(__file__).parent / "described"

CASES_MIN: Final = 3_000
#: Examples of each operation, beside those that cover the limits of each field.
EXAMPLES: Final = 3
#: schemathesis reads the document by this call before it begins, and does not repeat it.
READ_BEFORE: Final = "GET /v1/openapi.json"
#: The operations that follow one another in sequences of calls, each with what an earlier one has answered.
IN_SEQUENCES_MIN: Final = 6
#: It takes two to three minutes on two cores.
PATIENCE_S: Final = 900


@pytest.fixture
def fuzzed(client: Client, namespace: str) -> Iterator[str]:
    """A namespace whose jobs and keys the fixture deletes afterwards."""
    yield namespace
    jobs = f"/v1/namespaces/{namespace}/jobs"
    while names := [each["name"] for each in client.ask("GET", jobs)["items"]]:
        for name in names:
            client.call("DELETE", f"{jobs}/{name}")
    cursor: str | None = ""
    while cursor is not None:
        page = client.ask("GET", f"/v1/keys?limit=200{cursor}")
        for key in page["items"]:
            if key["namespace"] == namespace:
                client.call("DELETE", f"/v1/keys/{key['id']}")
        cursor = f"&cursor={page['nextCursor']}" if "nextCursor" in page else None


def test_every_request_is_answered_as_the_openapi_document_says(
    stack: Mapping[str, Any], fuzzed: str, tmp_path: Path
) -> None:
    if not SCHEMATHESIS.exists():
        pytest.skip("schemathesis is not installed: make setup")
    told = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": str(DESCRIBED / "hooks.py"),
        "SWEEPHAND_FUZZED_NAMESPACE": fuzzed,
        "SWEEPHAND_FUZZED_CALLS": str(tmp_path / "calls"),
    }
    command = [
        str(SCHEMATHESIS),
        f"--config-file={DESCRIBED / 'schemathesis.toml'}",
        "run",
        f"{stack['apiUrl']}/v1/openapi.json",
        f"--url={stack['apiUrl']}",
        f"--header=Authorization: Bearer {stack['apiKey']}",
        f"--max-examples={EXAMPLES}",
        "--generation-deterministic",
        "--workers=1",
        "--no-color",
    ]
    # schemathesis writes its findings into the folder in which it runs.
    ended = subprocess.run(  # noqa: S603 - the tests' own environment
        command, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = re.search(r"([0-9]+) generated", ended.stdout)
    assert made is not None, ended.stdout
    assert int(made[1]) >= CASES_MIN
    called: dict[str, set[str]] = {}
    for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines():
        phase, _, operation = line.partition("\t")
        called.setdefault(phase, set()).add(operation)
    described = {f"{each.method} {each.path}" for each in OPERATIONS} - {READ_BEFORE}
    # Each phase may also try methods that a path does not have.
    assert described <= set().union(*called.values())
    assert len(called["stateful"] & described) >= IN_SEQUENCES_MIN
