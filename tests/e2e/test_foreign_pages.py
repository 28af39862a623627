"""A page of another site, open in the developer's browser, reaches neither the local AWS nor the API."""

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import urllib3
from infra.local.deploy import outputs
from tests.e2e.parameters import place_of

FOREIGN: Final = [
    {"origin": "https://evil.example", "content-type": "text/plain", "sec-fetch-site": "cross-site"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    {"host": "evil.example:4700", "origin": "http://evil.example:4700", "sec-fetch-site": "same-origin"},
]


def ask(
    stack: Mapping[str, Any], method: str, path: str, headers: Mapping[str, str], body: bytes = b""
) -> urllib3.BaseHTTPResponse:
    url = f"{stack['awsEndpointUrl']}{path}"
    # A server that refuses a request before it has read the body closes the connection.
    alone = {**headers, "connection": "close"}
    return urllib3.request(method, url, headers=alone, body=body, timeout=30, retries=False)


def paths(stack: Mapping[str, Any]) -> list[tuple[str, str, bytes]]:
    """Requests that need no key, and the function that makes admin keys."""
    name = outputs(place_of(stack))["AdminKeyFunctionName"]
    invocations = f"/2015-03-31/functions/{name}:live/invocations"
    return [
        ("POST", invocations, json.dumps({"description": "of a page"}).encode()),
        ("GET", "/?Action=ListQueues", b""),
        ("GET", "/_ministack/health", b""),
        ("GET", f"{urlsplit(stack['apiUrl']).path}/v1/health", b""),
        ("GET", f"{urlsplit(stack['apiUrl']).path}/console", b""),
    ]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_another_site_is_refused_and_may_read_nothing(
    stack: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    for method, path, body in paths(stack):
        preflight = {"access-control-request-method": method, **headers}
        for answer in (
            ask(stack, method, path, headers, body),
            ask(stack, "OPTIONS", path, preflight),
        ):
            assert answer.status == 403, path
            assert "access-control-allow-origin" not in answer.headers


def test_the_console_s_own_page_and_programs_are_answered(stack: Mapping[str, Any]) -> None:
    own = {"origin": stack["awsEndpointUrl"], "sec-fetch-site": "same-origin"}
    for headers in ({}, own, {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}):
        for path in ("/v1/health", "/console"):
            assert ask(stack, "GET", f"{urlsplit(stack['apiUrl']).path}{path}", headers).status == 200


def test_a_link_of_another_program_makes_the_local_aws_do_nothing(stack: Mapping[str, Any]) -> None:
    opened = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}
    below_the_api = "GET", f"{urlsplit(stack['apiUrl']).path}/console?Action=ListQueues", b""
    for method, path, body in (*paths(stack)[:3], below_the_api):
        assert ask(stack, method, path, opened, body).status == 403, path
