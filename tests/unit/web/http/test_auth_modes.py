"""In each mode the API knows its callers by what the gateway says in that mode, and by nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests.contract.builders import admin_change, principal_key
from tests.fakes.acceptance import RUN, Worker
from tests.fakes.http_events import JOB, Client, document
from tests.fakes.world import NOON, World

from sweephand import __version__
from sweephand.access.authentication import OWN_FUNCTION, Auth
from sweephand.access.callers import key_id_of
from sweephand.base.errors import StoreError
from sweephand.model.api_key import Caller, Key, Role
from sweephand.model.job import JobKey
from sweephand.web.operations import OPERATIONS

IAM = Auth("iam")
JWT = Auth("jwt", "ns", "role")
MODES = (Auth(), IAM, JWT)

ROLE = "arn:aws:iam::123456789012:role/billing"
SIGNED = {
    "iam": {
        "accessKey": "ASIA0123",
        "accountId": "123456789012",
        "callerId": "AROA0123:session",
        "cognitoIdentity": None,
        "principalOrgId": "aws:PrincipalOrgID",
        "userArn": "arn:aws:sts::123456789012:assumed-role/billing/session",
        "userId": "AROA0123:session",
    }
}
CLAIMS = {"iss": "https://issuer.example", "sub": "ann", "exp": "1795262401", "ns": "ns", "role": "write"}
TOKEN = {"jwt": {"claims": CLAIMS, "scopes": None}}
BY_KEY = {"lambda": {"keyId": "k", "namespace": "*", "role": "admin"}}
JOB_URL = "/v1/namespaces/ns/jobs/job"


def with_role(role: Role = "write", namespace: str = "ns") -> Client:
    """A client of a stack in the mode iam, where the role `billing` of IAM has a key."""
    client = Client(auth=IAM)
    client.keys.put(principal_key(ROLE, namespace, role), admin_change())
    return client


def test_a_signed_request_is_one_of_the_holder_of_the_key() -> None:
    client = with_role()
    assert client.put(caller=SIGNED).status == 201
    assert client.send("GET", "/v1/me", caller=SIGNED).json == {
        "id": key_id_of(ROLE),
        "namespace": "ns",
        "role": "write",
        "expiresAt": None,
        "stats": False,
        "version": __version__,
    }
    assert client.send("GET", f"{JOB_URL}/changes", caller=SIGNED).json["items"][0]["who"] == key_id_of(ROLE)
    assert client.send("GET", "/v1/keys", caller=SIGNED).status == 403
    assert client.send("GET", "/v1/namespaces/other/jobs", caller=SIGNED).status == 404


def test_a_signed_request_of_a_role_without_a_key_is_refused_by_the_name_of_the_role() -> None:
    refused = Client(auth=IAM).put(caller=SIGNED)
    assert refused.status == 403
    assert ROLE in refused.json["detail"]


def test_a_revoked_key_of_a_role_opens_nothing_from_then_on() -> None:
    client = with_role("admin", "*")
    assert client.send("DELETE", f"/v1/keys/{key_id_of(ROLE)}", caller=SIGNED).status == 204
    assert client.send("GET", "/v1/limits", caller=SIGNED).status == 403


def test_keys_that_cannot_be_looked_up_are_answered_with_503(monkeypatch: pytest.MonkeyPatch) -> None:
    client = with_role()

    def fail(_: str) -> Key:
        raise StoreError("no")

    monkeypatch.setattr(client.keys, "get", fail)
    assert client.send("GET", "/v1/limits", caller=SIGNED).status == 503


def test_a_request_with_a_token_is_one_of_its_claims() -> None:
    client = Client(auth=JWT)
    assert client.put(caller=TOKEN).status == 201
    assert client.send("GET", "/v1/me", caller=TOKEN).json == {
        "id": "jwt:ann",
        "namespace": "ns",
        "role": "write",
        "expiresAt": "2026-11-21T12:00:01.000Z",
        "stats": False,
        "version": __version__,
    }
    assert client.send("GET", f"{JOB_URL}/changes", caller=TOKEN).json["items"][0]["who"] == "jwt:ann"
    assert client.send("GET", "/v1/keys", caller=TOKEN).status == 403
    assert client.send("GET", "/v1/namespaces/other/jobs", caller=TOKEN).status == 404


def test_a_token_without_the_claim_is_refused_and_the_answer_names_the_claim() -> None:
    claims = {name: each for name, each in CLAIMS.items() if name != "ns"}
    client = Client(auth=JWT)
    refused = client.put(caller={"jwt": {"claims": claims}})
    assert refused.status == 403
    assert "claim ns" in refused.json["detail"]
    assert client.world.jobs.get(JobKey("ns", "job")) is None


@pytest.mark.parametrize("auth", MODES, ids=lambda auth: auth.mode)
def test_what_another_mode_says_of_a_caller_counts_for_nothing(auth: Auth) -> None:
    said: dict[str, dict[str, Any]] = {"keys": BY_KEY, "iam": SIGNED, "jwt": TOKEN}
    client = Client(auth=auth)
    client.keys.put(principal_key(ROLE, "*", "admin"), admin_change())
    others: dict[str, Any] = {}
    for mode, each in said.items():
        others |= {} if mode == auth.mode else each
    assert client.send("GET", "/v1/limits", caller=others).status == 401
    assert client.send("GET", "/v1/limits", caller=said[auth.mode]).status == 200


@pytest.mark.parametrize("auth", MODES, ids=lambda auth: auth.mode)
def test_a_function_of_the_stack_calls_in_every_mode_within_its_namespace_and_role(auth: Auth) -> None:
    """No gateway writes this name. Whoever may invoke the API function could claim any other caller, too."""
    client = Client(auth=auth)
    caller = {OWN_FUNCTION: Caller("stack", "ns", "write").context}
    assert client.send("PUT", JOB_URL, JOB, caller=caller).json["owner"] == "stack"
    assert client.send("GET", "/v1/namespaces/other/jobs", caller=caller).status == 404
    assert client.send("GET", "/v1/keys", caller=caller).status == 403


@pytest.mark.parametrize("auth", MODES, ids=lambda auth: auth.mode)
@pytest.mark.parametrize(
    "caller", [{}, {"iam": None}, {"iam": {}}, {"jwt": {}}, {"jwt": {"claims": None}}, {"function": {}}]
)
def test_without_a_caller_only_open_calls_are_answered(auth: Auth, caller: Mapping[str, Any]) -> None:
    client = Client(auth=auth)
    for path in ("/v1/openapi.json", "/docs", "/console", "/v1/namespaces/ns/signing-keys"):
        assert client.send("GET", path, caller=caller).status == 200
    for path in ("/v1/limits", "/v1/keys", "/v1/me", JOB_URL):
        assert client.send("GET", path, caller=caller).status == 401


@pytest.mark.parametrize("auth", MODES, ids=lambda auth: auth.mode)
def test_the_token_of_a_run_reports_on_the_run_in_every_mode(world: World, auth: Auth) -> None:
    client = Client(world, auth=auth)
    Client(world).put(job={**JOB, "dueTime": "10s", "completion": "async"})
    worker = Worker(world)
    world.run_until(NOON + 10_001)
    url = f"{JOB_URL}/runs/{RUN}/complete"
    refused = client.send("POST", url, caller=None)
    assert refused.status == 401
    assert "shr_" in refused.json["detail"]
    token = {"authorization": f"Bearer {worker.tokens[-1]}"}
    assert client.send("POST", url, headers=token, caller=None).status == 200


@pytest.mark.parametrize("auth", MODES, ids=lambda auth: auth.mode)
def test_the_openapi_document_of_each_mode_says_how_to_authenticate(auth: Auth) -> None:
    whole = document(auth)
    if auth.mode != "keys":  # test_service.py validates that document
        OpenAPIV31SpecValidator(whole).validate()
    proof = {"keys": "key", "iam": "iam", "jwt": "token"}[auth.mode]
    assert set(whole["components"]["securitySchemes"]) == {proof, "runToken"}
    for operation in OPERATIONS:
        security = whole["paths"][operation.path][operation.method.lower()]["security"]
        if operation.access == "open":
            assert security == []
        elif operation.access == "callback":
            assert security == [{"runToken": []}, *([{"key": []}] if auth.mode == "keys" else [])]
        else:
            assert security == [{proof: []}], operation.name
    shown = Client(auth=auth).send("GET", "/v1/openapi.json", caller=None).json
    assert shown["components"]["securitySchemes"].keys() == whole["components"]["securitySchemes"].keys()


def test_the_openapi_document_names_the_claims_that_the_operator_chose() -> None:
    auth = Auth("jwt", "https://example.com/namespace", "custom:role")
    about = document(auth)["info"]["description"]
    assert "https://example.com/namespace" in about
    assert "custom:role" in about
    assert "sh_" not in about
