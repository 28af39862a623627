"""The answers of the authorizer function to the gateway (payload 2.0, simple responses)."""

from types import ModuleType

import pytest
from tests.fakes.functions import function
from tests.fakes.http_events import fixture
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.world import NOON

from sweephand.access.authentication import Auth, run_token
from sweephand.model.api_key import Caller
from sweephand.web.http.app import caller_of


@pytest.fixture
def module() -> ModuleType:
    """The module of the authorizer's handler."""
    return function("authorizer")


def test_a_valid_key_is_let_in_with_its_namespace_and_role(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def caller_of(header: str | None) -> Caller:
        asked.append(header)
        return Caller("k1", "ns", "write")

    monkeypatch.setattr(module, "caller_of", caller_of)
    answer = module.handler(fixture("authorizer_request"), None)
    assert asked == ["Bearer sh_admin_secret"]
    assert answer == {
        "isAuthorized": True,
        "context": {"keyId": "k1", "namespace": "ns", "role": "write"},
    }


def test_the_rate_of_a_key_goes_to_the_api(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller("k1", "ns", "write", requests_per_minute=60)
    monkeypatch.setattr(module, "caller_of", lambda _: caller)
    answer = module.handler(fixture("authorizer_request"), None)
    event = {"requestContext": {"authorizer": {"lambda": answer["context"]}}}
    assert caller_of(event, Auth(), MemoryKeys(), NOON) == caller


def test_a_caller_without_a_valid_key_is_refused(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "caller_of", lambda _: None)
    assert module.handler(fixture("authorizer_request"), None) == {"isAuthorized": False}


def test_a_token_of_a_run_is_let_in_without_a_caller(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(module, "caller_of")
    event = fixture("authorizer_request")
    event["headers"]["authorization"] = f"Bearer {run_token('x' * 43)}"
    answer = module.handler(event, None)
    assert answer == {"isAuthorized": True, "context": {"keyId": "run"}}
    event = {"requestContext": {"authorizer": {"lambda": answer["context"]}}}
    assert caller_of(event, Auth(), MemoryKeys(), NOON) is None
    assert "xxx" not in str([vars(record) for record in caplog.records])


def test_neither_the_key_nor_its_secret_is_logged(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "caller_of", lambda _: Caller("k1", "ns", "write"))
    module.handler(fixture("authorizer_request"), None)
    assert len(caplog.records) == 1
    assert "sh_admin" not in str([vars(record) for record in caplog.records])
