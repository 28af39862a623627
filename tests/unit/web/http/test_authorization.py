"""Each role may call its operations. tests/unit/web/tenants has the callers of another namespace."""

from typing import Any

import pytest
from tests.contract.builders import admin_change
from tests.fakes.http_events import ADMIN, JOB, NS_ADMIN, READER, WRITER, Client

from sweephand.model.api_key import Caller, Key
from sweephand.model.secret import SecretKey
from sweephand.web.operations import OPERATIONS
from sweephand.web.routes import console as assets

JOB_URL = "/v1/namespaces/ns/jobs/job"
CALENDAR_URL = "/v1/namespaces/ns/calendars/fr"
POLICY_URL = "/v1/namespaces/ns/policies/mailer"
WINDOW_URL = "/v1/namespaces/ns/windows/freeze"
SECRETS_URL = "/v1/namespaces/ns/signing-secrets"
KEYS_URL = "/v1/namespaces/ns/signing-keys"
NAMED_SECRETS_URL = "/v1/namespaces/ns/secrets"
CONSOLE_ASSET_URL = f"/console/{assets.names()['app.js']}"

#: Method, URL, body, and the status for a reader, a writer and an admin of the namespace.
TABLE: list[tuple[str, str, Any, tuple[int, int, int]]] = [
    ("PUT", JOB_URL, JOB, (403, 200, 200)),
    ("GET", JOB_URL, None, (200, 200, 200)),
    ("PATCH", JOB_URL, {"repeats": 2}, (403, 200, 200)),
    ("POST", f"{JOB_URL}/pause", {"reason": "x"}, (403, 200, 200)),
    ("POST", f"{JOB_URL}/resume", {"catchup": "all"}, (403, 200, 200)),
    ("POST", f"{JOB_URL}/trigger", {"data": 1}, (403, 202, 202)),
    (
        "POST",
        f"{JOB_URL}/backfill",
        {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"},
        (403, 202, 202),
    ),
    ("GET", f"{JOB_URL}/explain", None, (200, 200, 200)),
    ("GET", f"{JOB_URL}/changes", None, (200, 200, 200)),
    ("POST", "/v1/namespaces/ns/pause", {"prefix": "j"}, (403, 200, 200)),
    ("POST", "/v1/namespaces/ns/resume", {"prefix": "j"}, (403, 200, 200)),
    ("DELETE", "/v1/namespaces/ns/jobs?prefix=j", None, (403, 200, 200)),
    ("DELETE", JOB_URL, None, (403, 204, 204)),
    ("GET", "/v1/namespaces/ns/jobs", None, (200, 200, 200)),
    ("POST", "/v1/namespaces/ns/jobs", {"jobs": [{"name": "a", **JOB}]}, (403, 200, 200)),
    ("GET", f"{JOB_URL}/occurrences", None, (200, 200, 200)),
    ("POST", "/v1/occurrences", {"schedule": "@daily"}, (200, 200, 200)),
    ("GET", f"{JOB_URL}/runs", None, (200, 200, 200)),
    ("GET", f"{JOB_URL}/runs/1-0", None, (404, 404, 404)),
    ("POST", f"{JOB_URL}/runs/1-0/redrive", None, (403, 404, 404)),
    ("POST", f"{JOB_URL}/runs/1-0/heartbeat", None, (403, 404, 404)),
    ("POST", f"{JOB_URL}/runs/1-0/complete", None, (403, 404, 404)),
    ("POST", f"{JOB_URL}/runs/1-0/fail", {"reason": "no"}, (403, 404, 404)),
    ("POST", f"{JOB_URL}/runs/1-0/cancel", None, (403, 404, 404)),
    ("GET", f"{JOB_URL}/batches", None, (200, 200, 200)),
    ("GET", f"{JOB_URL}/batches/1", None, (404, 404, 404)),
    ("POST", "/v1/namespaces/ns/redrive", {"prefix": "j"}, (403, 200, 200)),
    ("POST", "/v1/namespaces/ns/cancel", {"prefix": "j"}, (403, 200, 200)),
    ("PUT", CALENDAR_URL, {"weekend": ["SUN"]}, (403, 201, 201)),
    ("GET", CALENDAR_URL, None, (404, 404, 404)),
    ("POST", f"{CALENDAR_URL}/preview", {"weekend": ["SUN"]}, (200, 200, 200)),
    ("GET", f"{CALENDAR_URL}/days", None, (404, 404, 404)),
    ("DELETE", CALENDAR_URL, None, (403, 404, 404)),
    ("GET", "/v1/namespaces/ns/calendars", None, (200, 200, 200)),
    ("PUT", POLICY_URL, {"maxConcurrent": 5}, (403, 409, 409)),
    ("GET", POLICY_URL, None, (404, 404, 404)),
    ("POST", f"{POLICY_URL}/pause", {"reason": "x"}, (403, 409, 409)),
    ("POST", f"{POLICY_URL}/resume", None, (403, 404, 404)),
    ("DELETE", POLICY_URL, None, (403, 404, 404)),
    ("GET", "/v1/namespaces/ns/runs", None, (200, 200, 200)),
    ("GET", "/v1/namespaces/ns/forecast", None, (200, 200, 200)),
    ("GET", "/v1/namespaces/ns/stats", None, (409, 409, 409)),
    ("GET", "/v1/namespaces/ns/policies", None, (200, 200, 200)),
    ("GET", f"{POLICY_URL}/keys", None, (404, 404, 404)),
    ("PUT", WINDOW_URL, {"schedule": "@daily", "duration": "1h"}, (403, 201, 201)),
    ("GET", WINDOW_URL, None, (404, 404, 404)),
    ("DELETE", WINDOW_URL, None, (403, 404, 404)),
    ("GET", "/v1/namespaces/ns/windows", None, (200, 200, 200)),
    ("GET", f"{POLICY_URL}/changes", None, (404, 404, 404)),
    ("GET", "/v1/namespaces/ns", None, (200, 200, 200)),
    ("PUT", "/v1/namespaces/ns", {"limits": {"jobs": 5}}, (403, 403, 200)),
    ("GET", "/v1/namespaces", None, (200, 200, 200)),
    ("GET", "/v1/overview", None, (200, 200, 200)),
    ("GET", SECRETS_URL, None, (403, 403, 200)),
    ("POST", SECRETS_URL, None, (403, 403, 200)),
    ("DELETE", SECRETS_URL, None, (403, 403, 404)),
    ("GET", KEYS_URL, None, (200, 200, 200)),
    ("POST", KEYS_URL, None, (403, 403, 200)),
    ("DELETE", KEYS_URL, None, (403, 403, 204)),
    ("PUT", f"{NAMED_SECRETS_URL}/new", {"value": "x"}, (403, 403, 201)),
    ("GET", NAMED_SECRETS_URL, None, (403, 403, 200)),
    ("DELETE", f"{NAMED_SECRETS_URL}/token", None, (403, 403, 204)),
    ("POST", "/v1/keys", {"namespace": "ns", "role": "read"}, (403, 403, 201)),
    ("GET", "/v1/keys", None, (403, 403, 200)),
    ("POST", "/v1/keys/k1/rotate", {"overlap": "0s"}, (403, 403, 201)),
    ("DELETE", "/v1/keys/k1", None, (403, 403, 204)),
    ("GET", "/v1/changes", None, (403, 403, 200)),
    ("POST", "/v1/audit", {}, (403, 403, 200)),
    ("POST", "/v1/rebuild", {"since": "2026-11-21T11:00:00Z"}, (403, 403, 200)),
    ("GET", "/v1/me", None, (200, 200, 200)),
    ("GET", "/v1/health", None, (503, 503, 503)),
    ("GET", "/v1/limits", None, (200, 200, 200)),
    ("GET", "/v1/openapi.json", None, (200, 200, 200)),
    ("GET", "/docs", None, (200, 200, 200)),
    ("GET", "/console", None, (200, 200, 200)),
    ("GET", CONSOLE_ASSET_URL, None, (200, 200, 200)),
]

OPEN = (
    ("GET", "/v1/health"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/console"),
    ("GET", CONSOLE_ASSET_URL),
    ("GET", KEYS_URL),
)


def client_with_a_job() -> Client:
    client = Client()
    client.put()
    client.keys.put(Key("k1", "0" * 64, "ns", "read", 0), admin_change())
    client.services.secrets.put(SecretKey("ns", "token"), "x", who="admin")
    client.services.signing.rotate_key("ns", who="admin")
    return client


def test_the_table_of_this_test_has_every_operation_of_the_api() -> None:
    assert len(TABLE) == len(OPERATIONS)


@pytest.mark.parametrize(("method", "url", "body", "statuses"), TABLE)
def test_each_role_gets_the_status_that_the_table_names(
    method: str, url: str, body: Any, statuses: tuple[int, int, int]
) -> None:
    found = tuple(
        client_with_a_job().send(method, url, body, caller=caller).status
        for caller in (READER, WRITER, NS_ADMIN)
    )
    assert found == statuses
    assert client_with_a_job().send(method, url, body, caller=ADMIN).status == statuses[2]


@pytest.mark.parametrize(("method", "url", "body", "_"), TABLE)
def test_a_request_without_a_caller_gets_401_except_at_open_operations(
    method: str, url: str, body: Any, _: object
) -> None:
    answer = Client().send(method, url, body, caller=None)
    assert (answer.status == 401) == ((method, url) not in OPEN)


def test_a_refusal_names_the_roles_that_may_make_the_call() -> None:
    refused = client_with_a_job().send("DELETE", JOB_URL, caller=READER)
    assert "write or admin" in refused.json["detail"]


def test_a_caller_who_may_not_write_gets_no_violations_of_the_body() -> None:
    refused = Client().send("PUT", JOB_URL, {"target": 7}, caller=READER)
    assert refused.status == 403


def test_a_caller_with_an_unknown_role_gets_401() -> None:
    odd: Any = Caller("k", "ns", "owner")  # type: ignore[arg-type]
    assert Client().send("GET", JOB_URL, caller=odd).status == 401
