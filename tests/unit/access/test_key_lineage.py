"""A key that a key makes ends with its maker: by expiry, by revocation, and after a crash half-way."""

from collections.abc import Callable
from functools import partial

import pytest
from tests.contract.builders import admin_change, principal_key
from tests.fakes.doubles import CountingIds
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import Stores, in_memory, on_fake
from tests.fakes.world import NOON

from sweephand.access.key_making import WantedKey, make_admin_key, make_key
from sweephand.access.key_rotation import revoke_key, rotate_key
from sweephand.base.errors import ConflictError, ForbiddenError, InvalidError, StoreError, UnavailableError
from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.model.api_key import OPERATOR, Caller, Key
from sweephand.ports.access import KeyStore

ROLE = "arn:aws:iam::123456789012:role/billing"
TOKEN = Caller("jwt:ann", "*", "admin", expires_at=NOON + HOUR_MS)


class Keyring:
    """A store of keys, and short names for what callers do with it."""

    def __init__(self, stores: Stores) -> None:
        self.trail = stores.admin_changes
        self.store = stores.keys
        self.ids = CountingIds()
        self.now = NOON

    def first(self) -> Key:
        return make_admin_key(self.store, self.ids, None, self.now).key

    def make(self, maker: Key | Caller, lives_ms: int | None = None, principal: str | None = None) -> Key:
        caller = maker if isinstance(maker, Caller) else maker.caller
        wanted = WantedKey("*", "admin", lives_ms, principal=principal)
        return make_key(self.store, self.ids, wanted, caller, self.now).key

    def rotate(self, old: Key, by: Key, lives_ms: int | None = None, overlap_ms: int = HOUR_MS) -> Key:
        rotated = rotate_key(
            self.store, self.ids, old.id, by.caller, now=self.now, overlap_ms=overlap_ms, lives_ms=lives_ms
        )
        return rotated.new.key

    def revoke(self, key: Key, by: Key, in_time: Callable[[], bool] = lambda: True) -> None:
        revoke_key(self.store, self.ids, key.id, by.caller, now=self.now, in_time=in_time)

    def alive(self) -> set[str]:
        return {key.id for key in self.store.page(None, "", 1_000).items if key.is_alive(self.now)}


@pytest.fixture(params=[in_memory, lambda: on_fake(FakeDynamoDB()).stores()], ids=["memory", "wire"])
def ring(request: pytest.FixtureRequest) -> Keyring:
    return Keyring(request.param())


@pytest.fixture
def root(ring: Keyring) -> Key:
    return ring.first()


def ids_of(*keys: Key) -> set[str]:
    return {key.id for key in keys}


def test_a_key_names_its_maker(ring: Keyring, root: Key) -> None:
    assert root.created_by == OPERATOR
    assert ring.make(root).created_by == root.id
    assert ring.make(TOKEN).created_by == "jwt:ann"
    assert ring.rotate(ring.make(root), by=root).created_by == root.id


@pytest.mark.parametrize(
    ("lives_ms", "ends_at"), [(None, NOON + HOUR_MS), (HOUR_MS, NOON + HOUR_MS), (1, NOON + 1)]
)
def test_a_key_ends_no_later_than_its_maker(
    ring: Keyring, root: Key, lives_ms: int | None, ends_at: Instant
) -> None:
    maker = ring.make(root, HOUR_MS)
    assert ring.make(maker, lives_ms).expires_at == ends_at
    assert ring.make(maker, lives_ms, ROLE).expires_at == ends_at


def test_a_key_that_would_outlive_its_maker_is_refused_with_what_would_be_right(
    ring: Keyring, root: Key
) -> None:
    maker = ring.make(root, HOUR_MS)
    ring.now += 1_000
    for make in (ring.make, partial(ring.make, principal=ROLE), partial(ring.rotate, maker)):
        with pytest.raises(InvalidError, match="Give at most 3599s, or leave it out") as raised:
            make(maker, lives_ms=HOUR_MS)
        assert [each.pointer for each in raised.value.violations] == ["/expiresIn"]
    assert ring.alive() == ids_of(root, maker)


def test_a_key_does_not_prolong_itself_or_another_one_by_rotation(ring: Keyring, root: Key) -> None:
    maker = ring.make(root, HOUR_MS)
    assert ring.rotate(root, by=maker, overlap_ms=DAY_MS).expires_at == NOON + HOUR_MS
    assert ring.rotate(maker, by=maker).expires_at == NOON + HOUR_MS


def test_a_key_that_lives_longer_may_prolong_another_one(ring: Keyring, root: Key) -> None:
    assert ring.rotate(ring.make(root, HOUR_MS), by=root, lives_ms=DAY_MS).expires_at == NOON + DAY_MS


def test_the_key_of_a_principal_does_not_prolong_itself(ring: Keyring) -> None:
    own = principal_key(ROLE, "*", "admin", NOON + HOUR_MS)
    ring.store.put(own, admin_change())
    assert ring.make(own, principal=ROLE).expires_at == NOON + HOUR_MS
    with pytest.raises(InvalidError):
        ring.make(own, DAY_MS, ROLE)


@pytest.mark.parametrize(("before", "after"), [("birch", "amber"), ("*", "amber")])
def test_a_principal_changes_its_namespace_only_after_what_it_made_is_revoked(
    ring: Keyring, root: Key, before: str, after: str
) -> None:
    # Else an admin of amber, who may revoke the key, would revoke what it made as an admin of birch.
    old = make_key(
        ring.store, ring.ids, WantedKey(before, "admin", principal=ROLE), root.caller, ring.now
    ).key
    make_key(ring.store, ring.ids, WantedKey(before, "write"), old.caller, ring.now)
    wanted = WantedKey(after, "admin", principal=ROLE)
    with pytest.raises(ConflictError, match=f"has the key {old.id} for the namespace"):
        make_key(ring.store, ring.ids, wanted, root.caller, ring.now)
    assert ring.store.get(old.id) == old

    ring.revoke(old, by=root)
    new = make_key(ring.store, ring.ids, wanted, root.caller, ring.now).key
    assert ring.alive() == ids_of(root, new)


def test_the_ended_key_of_a_principal_gives_way_to_one_of_any_namespace(ring: Keyring, root: Key) -> None:
    ring.make(root, HOUR_MS, ROLE)
    ring.now += HOUR_MS
    wanted = WantedKey("amber", "admin", principal=ROLE)
    assert make_key(ring.store, ring.ids, wanted, root.caller, ring.now).key.namespace == "amber"


def test_a_caller_with_a_token_has_no_stored_end_that_bounds_its_keys(ring: Keyring) -> None:
    assert ring.make(TOKEN, DAY_MS).expires_at == NOON + DAY_MS


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_key_that_the_gateway_still_lets_in_after_its_end_makes_and_rotates_nothing(
    ring: Keyring, root: Key, end: str
) -> None:
    maker = ring.make(root, HOUR_MS)
    if end == "revoked":
        ring.revoke(maker, by=root)
    else:
        ring.now += HOUR_MS
    for make in (ring.make, partial(ring.make, principal=ROLE), partial(ring.rotate, root)):
        with pytest.raises(ForbiddenError, match="revoked or has expired"):
            make(maker)
    assert ring.alive() == ids_of(root)


def test_a_key_is_not_made_by_one_that_is_revoked_meanwhile(ring: Keyring, root: Key) -> None:
    maker = ring.make(root)
    stored = ring.store.get(maker.id)
    assert stored is not None
    ring.revoke(maker, by=root)
    orphan = maker._replace(id="orphan", created_by=maker.id)
    assert not ring.store.make(orphan, stored, admin_change())
    assert ring.alive() == ids_of(root)


def test_what_a_key_made_is_revoked_with_it_however_deep(ring: Keyring, root: Key) -> None:
    other = ring.make(root)
    key = maker = ring.make(root)
    for _ in range(60):
        key = ring.make(key)
        ring.make(key, principal=ROLE)
    ring.revoke(maker, by=root)
    assert ring.alive() == ids_of(root, other)


def test_what_a_key_made_before_it_was_rotated_is_revoked_with_its_successor(
    ring: Keyring, root: Key
) -> None:
    first = ring.make(root)
    ring.make(first)
    second = ring.rotate(first, by=first)
    ring.make(second)
    third = ring.rotate(second, by=root)
    ring.now += 2 * HOUR_MS
    ring.revoke(third, by=root)
    assert ring.alive() == ids_of(root)


def test_a_key_that_was_rotated_is_revoked_alone(ring: Keyring, root: Key) -> None:
    old = ring.make(root)
    child = ring.make(old)
    new = ring.rotate(old, by=root)
    ring.revoke(old, by=root)
    assert ring.alive() == ids_of(root, child, new)


def test_a_key_whose_successor_has_ended_is_revoked_with_what_it_made(ring: Keyring, root: Key) -> None:
    old = ring.make(root)
    ring.make(old)
    ring.rotate(old, by=root, lives_ms=1, overlap_ms=HOUR_MS)
    ring.now += 2
    ring.revoke(old, by=root)
    assert ring.alive() == ids_of(root)


def test_a_revocation_ends_the_keys_that_the_key_replaced(ring: Keyring, root: Key) -> None:
    new = ring.rotate(ring.make(root), by=root, overlap_ms=DAY_MS)
    ring.revoke(new, by=root)
    assert ring.alive() == ids_of(root)


def test_what_a_key_rotated_is_revoked_with_it(ring: Keyring, root: Key) -> None:
    thief, victim = ring.make(root), ring.make(root)
    ring.rotate(victim, by=thief)
    ring.revoke(thief, by=root)
    assert ring.alive() == ids_of(root)


def test_keys_that_rotate_each_other_in_a_circle_are_all_revoked(ring: Keyring, root: Key) -> None:
    first = ring.make(root)
    second = ring.make(first)
    first_again = ring.rotate(first, by=second)
    second_again = ring.rotate(second, by=first_again)
    ring.make(second_again)
    ring.revoke(first_again, by=root)
    assert ring.alive() == ids_of(root)


def test_the_trail_has_each_key_that_was_revoked_and_why(ring: Keyring, root: Key) -> None:
    maker = ring.make(root)
    child = ring.make(maker)
    ring.revoke(maker, by=root)
    found = {each.name: each for each in ring.trail.page(None, "", 100).items if each.what == "revoked"}
    assert found.keys() == ids_of(maker, child)
    assert {each.who for each in found.values()} == {root.id}
    assert found[maker.id].reason is None
    assert maker.id in str(found[child.id].reason)


def test_the_trail_says_what_a_rotation_changed_and_no_secret(ring: Keyring, root: Key) -> None:
    old = ring.make(root, DAY_MS)
    new = ring.rotate(old, by=root)
    rotated, created = ring.trail.page(None, "", 100).items[:2]
    if rotated.what != "rotated":
        rotated, created = created, rotated
    assert (rotated.name, created.name) == (old.id, new.id)
    assert dict(rotated.fields)["replacedBy"] == (None, new.id)
    assert dict(created.fields)["role"] == (None, "admin")
    assert new.digest not in str(ring.trail.page(None, "", 100))


class Crashing:
    """A store of keys that fails at one of its calls, before or after it has done it."""

    def __init__(self, store: KeyStore, number: int, *, is_done: bool) -> None:
        self._store = store
        self._left = number
        self._is_done = is_done

    def __getattr__(self, name: str) -> Callable[..., object]:
        def call(*args: object) -> object:
            self._left -= 1
            if self._left == 0 and not self._is_done:
                raise StoreError("crashed")
            found: object = getattr(self._store, name)(*args)
            if self._left == 0:
                raise StoreError("crashed")
            return found

        return call


@pytest.mark.parametrize("is_done", [False, True])
def test_a_revocation_that_crashed_anywhere_is_completed_by_the_same_request(is_done: bool) -> None:  # noqa: FBT001
    number = crashes = 0
    has_crashed = True
    while has_crashed:
        number += 1
        ring = Keyring(in_memory())
        root = ring.first()
        maker = ring.make(root)
        child = ring.make(maker)
        ring.make(ring.rotate(child, by=child))
        ring.make(maker, principal=ROLE)
        memory = ring.store
        ring.store = Crashing(memory, number, is_done=is_done)  # type: ignore[assignment]
        try:
            ring.revoke(maker, by=root)
            has_crashed = False
        except StoreError:
            crashes += 1
        ring.store = memory
        if memory.get(maker.id) is not None:
            ring.revoke(maker, by=root)
        assert ring.alive() == ids_of(root)
    assert crashes > 20


def test_a_revocation_that_takes_too_long_says_so_and_goes_on_when_it_is_asked_again(
    ring: Keyring, root: Key
) -> None:
    key = maker = ring.make(root)
    for _ in range(20):
        key = ring.make(key)
    requests = 0
    while ring.store.get(maker.id) is not None:
        left = iter([True, True])
        requests += 1
        try:
            ring.revoke(maker, by=root, in_time=lambda left=left: next(left, False))  # type: ignore[misc]
        except UnavailableError as error:
            assert "again" in str(error)  # noqa: PT017
        assert maker.id not in ring.alive()
    assert ring.alive() == ids_of(root)
    assert requests > 5
