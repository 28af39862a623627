"""The API in process is what its OpenAPI document says, at each limit of each field, by schemathesis.

It answers behind a small HTTP server on loopback. e2e/test_described.py sends fewer requests to a deployed
stack.
"""

from pathlib import Path
from typing import Final

import pytest
from tests.described.fuzz import DESCRIBED, Fuzzing, fuzz
from tests.fakes.http_events import Client
from tests.fakes.http_server import serving

#: The operations whose bodies are a job have most of the cases. Each part has one of them, and some others.
OF_JOBS: Final = (
    "PATCH /v1/namespaces/{namespace}/jobs/{name}",
    "PUT /v1/namespaces/{namespace}/jobs/{name}",
    "POST /v1/namespaces/{namespace}/jobs",
)
OTHERS: Final = sorted(DESCRIBED - set(OF_JOBS))
PARTS: Final = len(OF_JOBS)

#: A part has this number of cases at least.
CASES_MIN: Final = 1_000


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_request_is_answered_as_the_openapi_document_says(tmp_path: Path, part: int) -> None:
    operations = {OF_JOBS[part], *OTHERS[part::PARTS]}
    api = Client(allow_insecure_targets=True)
    api.world.tick()  # a stack that has not ticked is not healthy
    with serving(api) as server:
        made = fuzz(server.url, "sh_admin", Fuzzing("ns", tmp_path, ("coverage",), 1, operations))
    assert made.operations == operations
    assert made.cases >= CASES_MIN, made.cases
