"""Which authorization headers are accepted and what the authorizer answers. Run tokens are told from keys."""

import hmac
from types import ModuleType

import pytest
from tests.contract.builders import admin_change
from tests.fakes.functions import function
from tests.fakes.http_events import fixture
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.world import NOON

from sweephand.access.authentication import Auth, run_token, sent_run_token, without_run_tokens
from sweephand.access.callers import authorize
from sweephand.model.api_key import Caller, Key, digest_of, format_key
from sweephand.web.http.app import caller_of

KEY = Key("k1", digest_of("abc"), "ns", "write", NOON, expires_at=NOON + 1_000)


def opened(header: str | None, now: int = NOON) -> Caller | None:
    keys = MemoryKeys()
    keys.put(KEY, admin_change())
    return authorize(header, keys=keys, now=now)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  ", " Bearer"])
def test_a_key_opens_for_its_namespace_and_role_whatever_the_case_of_the_scheme(scheme: str) -> None:
    assert opened(f"{scheme} sh_k1_abc") == Caller("k1", "ns", "write")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "sh_k1_abc",
        "Basic sh_k1_abc",
        "Bearersh_k1_abc",
        "Bearer sh_k1_abd",
        "Bearer sh_k2_abc",
        "Bearer sh_k1_",
        "Bearer sh__abc",
        "Bearer sh_k1",
        "Bearer sx_k1_abc",
        "Bearer sh_k1_abc sh_k1_abc",
        "Bearer sh_k1_abc\nx",
        "Bearer sh_admin_abc",
        "Bearer sh_K1_abc",
        "Bearer sh_k\u00e91_abc",
        "Bearer sh_k1_ab\ud800c",
        "Bearer sh_k1_\x00",
        "Bearer sh_" + "k" * 65 + "_abc",
        "Bearer sh_k1_" + "a" * 10_000,
    ],
)
def test_nothing_else_opens(header: str | None) -> None:
    assert opened(header) is None


def test_an_expired_key_does_not_open() -> None:
    assert opened("Bearer sh_k1_abc", now=NOON + 999) is not None
    assert opened("Bearer sh_k1_abc", now=NOON + 1_000) is None


class Work:
    """What was done to judge a header: the reads of the store, and the lengths of what was compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[object] = []
        compare = hmac.compare_digest

        def compared(one: str, other: str) -> bool:
            self.done.append(("compared", len(one), len(other)))
            return compare(one, other)

        def hashed(secret: str) -> str:
            self.done.append(("hashed", len(secret)))
            return digest_of(secret)

        monkeypatch.setattr(hmac, "compare_digest", compared)
        monkeypatch.setattr("sweephand.model.api_key.digest_of", hashed)

    def of(self, header: str, now: int = NOON) -> list[object]:
        self.done = []
        work = self

        class Counted(MemoryKeys):
            def get(self, key_id: str) -> Key | None:
                work.done.append("read")
                return super().get(key_id)

        keys = Counted()
        keys.put(KEY, admin_change())
        authorize(header, keys=keys, now=now)
        return self.done


def test_an_unknown_a_wrong_and_an_expired_key_take_the_same_work_as_a_valid_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = Work(monkeypatch)
    valid = work.of("Bearer sh_k1_abc")
    assert valid == ["read", ("hashed", 3), ("compared", 64, 64)]
    assert work.of("Bearer sh_k1_abd") == valid, "a wrong secret"
    assert work.of("Bearer sh_k2_abc") == valid, "an unknown id"
    assert work.of("Bearer sh_k1_abc", now=NOON + 1_000) == valid, "an expired key"


TOKEN = run_token("aB3" * 14 + "z")


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", f" BEARER {TOKEN} "])
def test_a_token_is_read_as_it_was_made(header: str) -> None:
    assert sent_run_token(header) == TOKEN


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}-",
        f"Bearer {TOKEN[:-1]}\u0661",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {format_key('admin', 'x' * 43)}",
    ],
)
def test_a_text_that_is_not_a_run_token_is_read_as_none(header: str | None) -> None:
    assert sent_run_token(header) is None


@pytest.mark.parametrize("around", ["{}", '{{"token": "{}"}}', "a {} b {}", "sweephand-run-token: {}\\r\\n"])
def test_a_token_that_a_text_repeats_is_hidden(around: str) -> None:
    places = around.count("{}")
    hidden = without_run_tokens(around.format(*[TOKEN] * places))
    assert hidden == around.format(*["[secret]"] * places)


@pytest.mark.parametrize("length", range(len(TOKEN) + 1))
def test_an_end_that_cuts_a_token_shows_fewer_than_four_characters_of_its_secret(length: int) -> None:
    cut = f"refused: {TOKEN[:length]}"
    assert without_run_tokens(cut) == (cut if length < len("shr_") + 4 else "refused: [secret]")


def test_a_text_without_a_token_stays_as_it_is() -> None:
    for text in ("", "shr_", "shr_a-b", "no token", "sh_id_secret"):
        assert without_run_tokens(text) == text


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
