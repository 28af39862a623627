"""Admin keys that an operator makes."""

import json
from typing import Any

import pytest
from tests.fakes.consumer import attempt_of
from tests.fakes.doubles import CountingIds
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.targets import LAMBDA
from tests.fakes.world import NOON

from sweephand.access.callers import authorize
from sweephand.access.key_making import AdminKeyRequest, keep_admin_key, make_admin_key
from sweephand.base.errors import InvalidError
from sweephand.delivery.aws_targets import envelope_of
from sweephand.model.api_key import Caller, digest_of

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
