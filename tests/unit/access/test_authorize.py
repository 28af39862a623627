"""Which authorization headers are accepted, and which are refused."""

import hmac

import pytest
from tests.contract.builders import admin_change
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.world import NOON

from sweephand.access.callers import authorize
from sweephand.model.api_key import Caller, Key, digest_of

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
