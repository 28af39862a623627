"""Which values a secret may have, and how secrets are written, deleted, and cached for deliveries."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import pytest
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.memory_access import MemoryNamedSecrets
from tests.unit.model.test_secret import HMAC, PRIVATE

from sweephand.access.ed25519 import private_key
from sweephand.access.named_secrets import REMEMBERED_MAX, SecretAdmin, SecretReader, value_violations
from sweephand.base.errors import NotFoundError, UnavailableError
from sweephand.base.limits import SECRET_LENGTH_MAX
from sweephand.base.timing import NAMED_SECRETS_AGE_MAX_MS
from sweephand.model.change import AdminChange
from sweephand.model.secret import Secret, SecretKey

KEY = SecretKey("ns", "token")


class Counting(MemoryNamedSecrets):
    """Counts how often it is read, and can be overtaken by other processes before it writes."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.overtaken = 0

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        self.reads += 1
        return super().get_many(namespace, names)

    def put(self, secret: Secret, replacing: str | None, change: AdminChange) -> bool:
        if self.overtaken:
            self.overtaken -= 1
            return False
        return super().put(secret, replacing, change)


class Stage(NamedTuple):
    store: Counting
    clock: HandClock
    admin: SecretAdmin
    reader: SecretReader


@pytest.fixture
def stage() -> Stage:
    store, clock = Counting(), HandClock()
    admin = SecretAdmin(secrets=store, clock=clock, ids=CountingIds())
    return Stage(store, clock, admin, SecretReader(secrets=store, clock=clock))


def test_a_secret_is_created_replaced_and_left_alone(stage: Stage) -> None:
    outcomes = [stage.admin.put(KEY, value, who="me").outcome for value in ("one", "one", "two", "one")]
    assert outcomes == ["created", "unchanged", "replaced", "replaced"]
    assert stage.store.get_many("ns", ["token"])["token"].value == "one"


def test_a_write_that_was_overtaken_starts_over(stage: Stage) -> None:
    stage.store.overtaken = 4
    assert stage.admin.put(KEY, "one", who="me").outcome == "created"
    stage.store.overtaken = 5
    with pytest.raises(UnavailableError):
        stage.admin.put(KEY, "two", who="me")


def test_a_secret_that_does_not_exist_cannot_be_deleted(stage: Stage) -> None:
    stage.admin.put(KEY, "one", who="me")
    stage.admin.delete(KEY, who="me")
    with pytest.raises(NotFoundError, match="no secret token in namespace ns"):
        stage.admin.delete(KEY, who="me")


def test_a_new_value_is_in_force_at_a_warm_function_within_seconds(stage: Stage) -> None:
    stage.admin.put(KEY, "one", who="me")
    assert stage.reader.active("ns", ["token"]) == {"token": ("one",)}
    stage.admin.put(KEY, "two", who="me")
    stage.clock.time += NAMED_SECRETS_AGE_MAX_MS
    assert stage.reader.active("ns", ["token"]) == {"token": ("two",)}
    assert NAMED_SECRETS_AGE_MAX_MS <= 5_000


def test_a_secret_is_read_once_in_that_time(stage: Stage) -> None:
    stage.admin.put(KEY, "one", who="me")
    stage.store.reads = 0
    for _ in range(3):
        stage.reader.active("ns", ["token"])
        stage.clock.time += NAMED_SECRETS_AGE_MAX_MS // 3
    assert stage.store.reads == 1
    stage.reader.active("ns", ["token", "other"])
    assert stage.store.reads == 2


def test_a_missing_secret_is_looked_up_each_time(stage: Stage) -> None:
    assert stage.reader.active("ns", ["token"]) == {}
    stage.admin.put(KEY, "one", who="me")
    assert stage.reader.active("ns", ["token"]) == {"token": ("one",)}


def test_a_namespace_never_gets_the_cached_secret_of_another_one(stage: Stage) -> None:
    stage.admin.put(KEY, "one", who="me")
    stage.reader.active("ns", ["token"])
    assert stage.reader.active("other", ["token"]) == {}


def test_memory_is_bounded(stage: Stage) -> None:
    for number in range(REMEMBERED_MAX + 2):
        stage.admin.put(SecretKey("ns", f"s{number}"), "one", who="me")
        stage.reader.active("ns", [f"s{number}"])
    assert len(stage.reader._remembered) <= REMEMBERED_MAX


#: The last character of the public half is changed.
BROKEN_PAIR = private_key(bytes(32))[:-4] + "AA=="


@pytest.mark.parametrize(
    "value", ["x", "Bearer a b", "!~", "{{due}}", "x" * SECRET_LENGTH_MAX, HMAC[0], PRIVATE, "whpk_x"]
)
def test_a_value_that_a_header_can_carry_is_accepted(value: str) -> None:
    assert value_violations(value) == []


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", " a", "a ", "a\tb", "a\n", "a\r\nb", "\x7f", "é", "€", "a\x00"),
        "x" * (SECRET_LENGTH_MAX + 1),
        *("whsec_", "whsec_short", "whsk_", PRIVATE[:-4], BROKEN_PAIR),
    ],
)
def test_any_other_value_is_refused_and_not_repeated(value: str) -> None:
    (violation,) = value_violations(value)
    assert violation.pointer == "/value"
    secret_part = value.strip().removeprefix("whsec_").removeprefix("whsk_")
    assert len(secret_part) < 2 or secret_part not in violation.detail
