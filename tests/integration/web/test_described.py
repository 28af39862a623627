"""The API in process is what its OpenAPI document says, at each limit of each field, by schemathesis.

It answers behind a small HTTP server on loopback. e2e/test_described.py sends fewer requests to a deployed
stack.
"""

from pathlib import Path
from typing import Final

from tests.described.fuzz import DESCRIBED, Fuzzing, fuzz
from tests.fakes.http_events import Client
from tests.fakes.http_server import serving

CASES_MIN: Final = 3_000


def test_every_request_is_answered_as_the_openapi_document_says(tmp_path: Path) -> None:
    api = Client(allow_insecure_targets=True)
    api.world.tick()  # a stack that has not ticked is not healthy
    with serving(api) as server:
        made = fuzz(server.url, "sh_admin", Fuzzing("ns", tmp_path, ("coverage",), examples=1))
    assert made.operations == DESCRIBED
    assert made.cases >= CASES_MIN
