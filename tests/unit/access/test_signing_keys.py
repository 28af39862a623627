"""Signing secrets are created, rotated and cached."""

from base64 import b64decode
from collections.abc import Mapping

import pytest
from standardwebhooks import Webhook
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.memory_access import MemorySecrets

from sweephand.access.signing_keys import REMEMBERED_MAX, SigningKeys
from sweephand.base.errors import ConflictError, NotFoundError, UnavailableError
from sweephand.base.instants import HOUR_MS
from sweephand.base.timing import SECRET_OVERLAP_MS, SECRETS_AGE_MAX_MS
from sweephand.model.change import AdminChange
from sweephand.model.secret import Scheme, SigningSecrets, public_key_of


class Counting(MemorySecrets):
    """Counts how often it is read, and can be overtaken by another process before it writes."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.overtaking: SigningSecrets | None = None

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        self.reads += 1
        return super().get(namespace, scheme)

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        self.reads += 1
        return super().both(namespace)

    def create(self, secrets: SigningSecrets) -> bool:
        if self.overtaking is not None:
            other, self.overtaking = self.overtaking, None
            assert super().create(other)
        return super().create(secrets)

    def put(self, secrets: SigningSecrets, replacing: str | None, change: AdminChange) -> bool:
        if self.overtaking is not None:
            other, self.overtaking = self.overtaking, None
            assert super().put(other, replacing, change)
        return super().put(secrets, replacing, change)


@pytest.fixture
def secrets() -> Counting:
    return Counting()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def signing(secrets: Counting, clock: HandClock) -> SigningKeys:
    return SigningKeys(secrets=secrets, ids=CountingIds(), clock=clock)


def test_a_namespace_gets_its_first_secret_when_it_is_first_needed(signing: SigningKeys) -> None:
    (secret,) = signing.active("ns")
    assert secret.startswith("whsec_")
    assert len(b64decode(secret.removeprefix("whsec_"))) == 32
    Webhook(secret)  # the reference implementation reads it
    assert signing.active("other") != (secret,)


def test_the_secret_before_signs_for_a_day_after_a_rotation(signing: SigningKeys, clock: HandClock) -> None:
    (first,) = signing.active("ns")
    signing.rotate("ns", who="me")
    second, kept = signing.active("ns")
    assert kept == first != second
    clock.time += SECRET_OVERLAP_MS
    assert signing.active("ns") == (second,)


def test_a_third_rotation_within_a_day_is_refused_until_a_secret_has_had_its_day(
    signing: SigningKeys, clock: HandClock
) -> None:
    (first,) = signing.active("ns")
    signing.rotate("ns", who="me")
    clock.time += HOUR_MS
    signing.rotate("ns", who="me")
    with pytest.raises(ConflictError, match=r"possible from 2026-11-22T12:00:00\.000Z on"):
        signing.rotate("ns", who="me")
    assert first in signing.active("ns")
    clock.time += SECRET_OVERLAP_MS - HOUR_MS
    signing.rotate("ns", who="me")
    assert len(signing.active("ns")) == 3


def test_an_old_secret_that_is_ended_signs_no_more(
    signing: SigningKeys, secrets: Counting, clock: HandClock
) -> None:
    signing.active("ns")
    elsewhere = SigningKeys(secrets=secrets, ids=CountingIds(), clock=clock)
    for _ in range(2):
        signing.rotate("ns", who="me")
    newest, *old = elsewhere.active("ns")
    assert len(old) == 2
    signing.end_old("ns", who="me")
    assert signing.active("ns") == (newest,)
    assert elsewhere.active("ns") == (newest, *old)
    clock.time += SECRETS_AGE_MAX_MS
    assert elsewhere.active("ns") == (newest,)
    stored = secrets.get("ns")
    assert stored is not None
    assert [each.secret for each in stored.secrets] == [newest]


def test_after_old_secrets_were_ended_the_newest_can_be_rotated_at_once(signing: SigningKeys) -> None:
    signing.active("ns")
    for _ in range(2):
        signing.rotate("ns", who="me")
    signing.end_old("ns", who="me")
    signing.rotate("ns", who="me")
    assert len(signing.active("ns")) == 2


def test_a_namespace_without_an_old_secret_has_none_to_end(signing: SigningKeys, clock: HandClock) -> None:
    with pytest.raises(NotFoundError):
        signing.end_old("ns", who="me")
    first = signing.active("ns")
    with pytest.raises(NotFoundError):
        signing.end_old("ns", who="me")
    assert signing.active("ns") == first
    signing.rotate("ns", who="me")
    clock.time += SECRET_OVERLAP_MS
    with pytest.raises(NotFoundError):
        signing.end_old("ns", who="me")


def test_ending_secrets_that_are_being_rotated_is_refused(signing: SigningKeys, secrets: Counting) -> None:
    signing.active("ns")
    stored = signing.rotate("ns", who="me")
    secrets.overtaking = stored.rotated("whsec_x", "version of another", 0)
    with pytest.raises(UnavailableError):
        signing.end_old("ns", who="me")


def test_ending_secrets_leaves_the_keys_alone(signing: SigningKeys) -> None:
    signing.active("ns")
    signing.rotate("ns", who="me")
    keys = signing.rotate_key("ns", who="me")
    signing.end_old("ns", who="me")
    assert signing.public_keys("ns") == keys


def test_secrets_are_read_once_a_minute(signing: SigningKeys, secrets: Counting, clock: HandClock) -> None:
    signing.active("ns")
    reads = secrets.reads
    clock.time += SECRETS_AGE_MAX_MS - 1
    signing.active("ns")
    assert secrets.reads == reads
    clock.time += 1
    signing.active("ns")
    assert secrets.reads == reads + 1


def test_a_rotation_elsewhere_is_followed_within_a_minute(
    signing: SigningKeys, secrets: Counting, clock: HandClock
) -> None:
    (first,) = signing.active("ns")
    SigningKeys(secrets=secrets, ids=CountingIds(), clock=clock).rotate("ns", who="me")
    clock.time += SECRETS_AGE_MAX_MS
    assert first in signing.active("ns")
    assert len(signing.active("ns")) == 2


def test_the_loser_of_a_race_for_the_first_secret_uses_the_winners(
    signing: SigningKeys, secrets: Counting, clock: HandClock
) -> None:
    winner = SigningKeys(secrets=MemorySecrets(), ids=CountingIds(), clock=clock)
    for _ in range(2):
        winner.rotate("other", who="me")
    secrets.overtaking = winner.get_or_create("ns")
    assert signing.active("ns") == winner.active("ns")


def test_memory_is_bounded(signing: SigningKeys) -> None:
    for number in range(REMEMBERED_MAX + 2):
        signing.active(f"ns-{number}")
    assert len(signing._remembered) <= REMEMBERED_MAX


def test_a_namespace_has_no_ed25519_key_until_an_admin_makes_one(signing: SigningKeys) -> None:
    assert signing.public_keys("ns") == ()
    assert len(signing.active("ns")) == 1
    (made,) = signing.rotate_key("ns", who="me")
    secret, private = signing.active("ns")
    assert secret.startswith("whsec_")
    assert made.key == public_key_of(private)
    assert signing.public_keys("ns") == (made,)
    assert signing.public_keys("other") == ()


def test_the_key_before_signs_for_a_day_after_a_rotation(signing: SigningKeys, clock: HandClock) -> None:
    (first,) = signing.rotate_key("ns", who="me")
    second, kept = signing.rotate_key("ns", who="me")
    assert kept == first._replace(expires_at=clock.time + SECRET_OVERLAP_MS)
    assert [public_key_of(each) for each in signing.active("ns")[1:]] == [second.key, first.key]
    clock.time += SECRET_OVERLAP_MS
    assert signing.public_keys("ns") == (second,)
    assert len(signing.active("ns")) == 2


def test_keys_and_secrets_are_rotated_each_by_themselves(signing: SigningKeys) -> None:
    signing.rotate_key("ns", who="me")
    signing.active("ns")
    for _ in range(2):
        signing.rotate("ns", who="me")
    with pytest.raises(ConflictError):
        signing.rotate("ns", who="me")
    assert len(signing.rotate_key("ns", who="me")) == 2
    assert len(signing.active("ns")) == 5


def test_no_key_signs_after_they_were_ended_and_a_new_one_can_be_made(signing: SigningKeys) -> None:
    (first,) = signing.rotate_key("ns", who="me")
    signing.end_keys("ns", who="me")
    assert signing.public_keys("ns") == ()
    assert len(signing.active("ns")) == 1
    with pytest.raises(NotFoundError):
        signing.end_keys("ns", who="me")
    (second,) = signing.rotate_key("ns", who="me")
    assert second.key != first.key


def test_ending_keys_that_are_being_rotated_is_refused(signing: SigningKeys, secrets: Counting) -> None:
    signing.rotate_key("ns", who="me")
    stored = secrets.get("ns", "v1a")
    assert stored is not None
    secrets.overtaking = stored.rotated("whsk_x", "version of another", 0)
    with pytest.raises(UnavailableError):
        signing.end_keys("ns", who="me")


def test_an_ed25519_key_made_elsewhere_signs_within_a_minute(
    signing: SigningKeys, secrets: Counting, clock: HandClock
) -> None:
    signing.active("ns")
    SigningKeys(secrets=secrets, ids=CountingIds(), clock=clock).rotate_key("ns", who="me")
    assert len(signing.active("ns")) == 1
    clock.time += SECRETS_AGE_MAX_MS
    assert len(signing.active("ns")) == 2
