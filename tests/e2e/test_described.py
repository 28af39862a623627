"""The API of the deployed stack is what its OpenAPI document says, by schemathesis.

schemathesis makes requests from the document: valid and invalid ones, alone and in sequences. It compares
each answer with the document: status, content type, schema, methods and authentication. The API has to accept
each valid request and to refuse each invalid one. No answer may be 5xx. described/hooks.py lists the
exceptions, each with its reason.

The thousands of cases that cover each limit of each field are sent to the API in process
(integration/web/test_described.py). With SWEEPHAND_WHOLE, as `make verify` sets it, they are sent here too.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.client import Client
from tests.described.fuzz import DESCRIBED, Fuzzing, Phase, fuzz

SAMPLE: Final[tuple[Phase, ...]] = ("examples", "fuzzing", "stateful")
PHASES: Final[tuple[Phase, ...]] = ("coverage", *SAMPLE) if os.environ.get("SWEEPHAND_WHOLE") else SAMPLE
#: Examples of each operation.
EXAMPLES: Final = 3
#: The operations that follow one another in sequences of calls, each with what an earlier one has answered.
IN_SEQUENCES_MIN: Final = 6


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


@pytest.mark.sampled(2)
def test_every_request_is_answered_as_the_openapi_document_says(
    stack: Mapping[str, Any], fuzzed: str, tmp_path: Path
) -> None:
    made = fuzz(stack["apiUrl"], stack["apiKey"], Fuzzing(fuzzed, tmp_path, PHASES, EXAMPLES))
    assert made.operations == DESCRIBED
    assert len(made.called["stateful"] & DESCRIBED) >= IN_SEQUENCES_MIN
