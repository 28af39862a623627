"""Admin keys: how an operator makes and rotates them, and what no longer works."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.contract.builders import admin_change
from tests.fakes.consumer import attempt_of
from tests.fakes.doubles import CountingIds
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.targets import LAMBDA
from tests.fakes.world import NOON

from sweephand.access.callers import authorize
from sweephand.access.key_making import AdminKeyRequest, keep_admin_key, make_admin_key
from sweephand.access.key_rotation import Rotated, rotate_key
from sweephand.base.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from sweephand.base.instants import HOUR_MS
from sweephand.delivery.aws_targets import envelope_of
from sweephand.model.api_key import Caller, Key, digest_of
from sweephand.model.change import AdminChange

OLD = Key("old", digest_of("abc"), "ns", "write", NOON - 1, NOON + 10 * HOUR_MS, "for a service")
ADMIN = Caller("admin", "*", "admin")
STRANGER = Caller("s", "elsewhere", "admin")
CALLERS = {each.key_id: Key(each.key_id, "", each.namespace, "admin", 0) for each in (ADMIN, STRANGER)}


class Overtaken(MemoryKeys):
    """Keys that another request changes just before a rotation is written."""

    def __init__(self, meanwhile: Callable[[MemoryKeys], object]) -> None:
        super().__init__(callers=CALLERS)
        self._meanwhile = meanwhile

    def rotate(
        self, key: Key, ended: Key, successor: Key, maker: Key | None, changes: Sequence[AdminChange]
    ) -> bool:
        self._meanwhile(self)
        return super().rotate(key, ended, successor, maker, changes)


def with_old(keys: MemoryKeys | None = None, *, expires_at: int | None = OLD.expires_at) -> MemoryKeys:
    keys = keys or MemoryKeys(callers=CALLERS)
    keys.put(OLD._replace(expires_at=expires_at), admin_change())
    return keys


def rotate(
    keys: MemoryKeys,
    *,
    caller: Caller = ADMIN,
    overlap_ms: int = HOUR_MS,
    lives_ms: int | None = None,
    now: int = NOON,
) -> Rotated:
    return rotate_key(keys, CountingIds(), "old", caller, now=now, overlap_ms=overlap_ms, lives_ms=lives_ms)


def holds(keys: MemoryKeys, text: str, now: int) -> bool:
    return authorize(f"Bearer {text}", keys=keys, now=now) is not None


def test_both_keys_work_until_the_overlap_is_over_and_then_the_new_one_alone() -> None:
    keys = with_old()
    rotated = rotate(keys)
    texts = ("sh_old_abc", rotated.new.text)
    assert [holds(keys, text, NOON + HOUR_MS - 1) for text in texts] == [True, True]
    assert [holds(keys, text, NOON + HOUR_MS) for text in texts] == [False, True]
    assert keys.get("old") == rotated.old


def test_the_new_key_has_the_namespace_the_role_the_description_and_the_end_of_the_old_one() -> None:
    rotated = rotate(with_old())
    new = rotated.new.key
    assert (new.namespace, new.role, new.description) == ("ns", "write", "for a service")
    assert (new.created_at, new.expires_at, new.replaced_by) == (NOON, OLD.expires_at, None)
    assert rotated.old.replaced_by == new.id


def test_a_new_end_is_for_the_new_key_alone() -> None:
    rotated = rotate(with_old(), lives_ms=100 * HOUR_MS)
    assert rotated.new.key.expires_at == NOON + 100 * HOUR_MS
    assert rotated.old.expires_at == NOON + HOUR_MS


def test_a_key_without_an_end_gets_a_successor_without_one() -> None:
    rotated = rotate(with_old(expires_at=None))
    assert (rotated.old.expires_at, rotated.new.key.expires_at) == (NOON + HOUR_MS, None)


def test_without_an_overlap_the_old_key_ends_at_once() -> None:
    keys = with_old()
    rotated = rotate(keys, overlap_ms=0)
    assert [holds(keys, text, NOON) for text in ("sh_old_abc", rotated.new.text)] == [False, True]


def test_an_overlap_does_not_prolong_the_old_key() -> None:
    assert rotate(with_old(), overlap_ms=100 * HOUR_MS).old.expires_at == OLD.expires_at


def test_an_expired_key_is_not_found() -> None:
    keys = with_old(expires_at=NOON)
    with pytest.raises(NotFoundError):
        rotate(keys)
    assert len(keys.page(None, "", 10).items) == 1


def test_a_key_of_another_namespace_is_refused_in_the_words_for_a_missing_one() -> None:
    keys = with_old()
    with pytest.raises(NotFoundError) as foreign:
        rotate(keys, caller=STRANGER)
    with pytest.raises(NotFoundError) as missing:
        rotate(MemoryKeys(callers=CALLERS), caller=STRANGER)
    assert str(foreign.value) == str(missing.value)
    assert keys.page(None, "", 10).items == (OLD,)


def test_a_key_has_one_successor_which_a_second_rotation_names() -> None:
    keys = with_old()
    successor = rotate(keys).new.key.id
    with pytest.raises(ConflictError, match=successor):
        rotate(keys)
    assert len(keys.page(None, "", 10).items) == 2


def test_a_key_that_is_revoked_meanwhile_stays_revoked_and_gets_no_successor() -> None:
    keys = with_old(Overtaken(lambda keys: keys.delete("old")))
    with pytest.raises(NotFoundError):
        rotate(keys)
    assert keys.page(None, "", 10).items == ()


def test_of_two_rotations_at_once_one_makes_the_successor() -> None:
    ended, successor = OLD._replace(expires_at=NOON + 1, replaced_by="first"), OLD._replace(id="first")
    keys = with_old(Overtaken(lambda keys: MemoryKeys.rotate(keys, OLD, ended, successor, None, [])))
    with pytest.raises(ConflictError, match="first"):
        rotate(keys)
    assert keys.page(None, "", 10).items == (successor, ended)


def test_a_rotation_gives_up_if_the_key_keeps_changing_and_has_then_written_nothing() -> None:
    def change(keys: MemoryKeys) -> None:
        stored = keys.get("old")
        assert stored is not None
        keys.put(stored._replace(digest=digest_of(stored.digest)), admin_change())

    keys = with_old(Overtaken(change))
    with pytest.raises(UnavailableError):
        rotate(keys)
    [left] = keys.page(None, "", 10).items
    assert (left.expires_at, left.replaced_by) == (OLD.expires_at, None)


DIGEST = digest_of("a-secret-of-the-operator")


def test_a_new_admin_key_opens_every_namespace() -> None:
    keys = MemoryKeys()
    made = make_admin_key(keys, CountingIds(), "for the pipeline", NOON)
    assert authorize(f"Bearer {made.text}", keys=keys, now=NOON) == Caller(made.key.id, "*", "admin")
    assert keys.get(made.key.id) == made.key
    assert made.key.description == "for the pipeline"


def test_two_admin_keys_work_side_by_side() -> None:
    keys, ids = MemoryKeys(), CountingIds()
    texts = [make_admin_key(keys, ids, None, NOON).text for _ in range(2)]
    assert all(authorize(f"Bearer {text}", keys=keys, now=NOON) for text in texts)


def test_the_secret_of_a_key_is_not_stored() -> None:
    keys = MemoryKeys()
    made = make_admin_key(keys, CountingIds(), None, NOON)
    assert made.text.rpartition("_")[2] not in str(keys.get(made.key.id))


def test_a_secret_that_the_operator_made_opens_and_replaces_the_one_before() -> None:
    keys = MemoryKeys()
    keep_admin_key(keys, CountingIds(), digest_of("old"), None, NOON)
    keep_admin_key(keys, CountingIds(), digest_of("new"), None, NOON)
    assert authorize("Bearer sh_admin_new", keys=keys, now=NOON) == Caller("admin", "*", "admin")
    assert authorize("Bearer sh_admin_old", keys=keys, now=NOON) is None


@pytest.mark.parametrize(
    ("event", "read"),
    [
        ({}, AdminKeyRequest()),
        ({"description": "x"}, AdminKeyRequest("x")),
        ({"secretSha256": DIGEST}, AdminKeyRequest(None, DIGEST)),
        ({"description": None, "secretSha256": None, "principal": None}, AdminKeyRequest()),
        (
            {"principal": "arn:aws:iam::123456789012:role/ops/admins"},
            AdminKeyRequest(principal="arn:aws:iam::123456789012:role/admins"),
        ),
    ],
)
def test_an_operator_asks_with_a_description_or_a_digest(
    event: dict[str, Any], read: AdminKeyRequest
) -> None:
    assert AdminKeyRequest.read(event) == read


@pytest.mark.parametrize(
    ("event", "pointer"),
    [
        ({"secret": "x"}, "/secret"),
        ({"secretSha256": "x"}, "/secretSha256"),
        ({"secretSha256": DIGEST.upper()}, "/secretSha256"),
        ({"secretSha256": DIGEST + "\n"}, "/secretSha256"),
        ({"secretSha256": 1}, "/secretSha256"),
        ({"description": 1}, "/description"),
        ({"principal": "admins"}, "/principal"),
        ({"principal": 1}, "/principal"),
        ({"principal": "arn:aws:iam::123456789012:user/ann", "secretSha256": DIGEST}, "/principal"),
        ({"description": "x" * 10_000}, "/description"),
    ],
)
def test_a_request_that_cannot_be_meant_names_its_field(event: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidError) as raised:
        AdminKeyRequest.read(event)
    assert [each.pointer for each in raised.value.violations] == [pointer]


def test_a_delivery_that_reaches_the_function_makes_no_key() -> None:
    """A lambda target sends nothing but the trigger's names and `data`, whatever the job says."""
    event = json.loads(envelope_of(attempt_of(LAMBDA, b'{"description":"mine"}')))
    with pytest.raises(InvalidError) as raised:
        AdminKeyRequest.read(event)
    assert {each.pointer for each in raised.value.violations} == {"/sweephand", "/data"}
