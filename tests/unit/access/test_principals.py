"""A role or user of IAM is the caller of the key that names it, whatever session or path its ARN has."""

import pytest
from tests.contract.builders import admin_change, principal_key
from tests.fakes.memory_access import MemoryKeys
from tests.fakes.world import NOON

from sweephand.access.callers import (
    PRINCIPAL_LENGTH_MAX,
    authorize,
    caller_of,
    calling_principal,
    key_id_of,
    named_principal,
)
from sweephand.base.errors import ForbiddenError
from sweephand.model.api_key import Caller

ROLE = "arn:aws:iam::123456789012:role/billing"
SESSION = "arn:aws:sts::123456789012:assumed-role/billing/i-0123"


def with_key(principal: str = ROLE, *, expires_at: int | None = None) -> MemoryKeys:
    keys = MemoryKeys()
    keys.put(principal_key(principal, "ns", "write", expires_at), admin_change())
    return keys


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        (SESSION, ROLE),
        ("arn:aws:sts::123456789012:assumed-role/billing/a@b.example,x=y", ROLE),
        (ROLE, ROLE),
        ("arn:aws:iam::123456789012:role/service-role/of/billing", ROLE),
        ("arn:aws:iam::123456789012:user/team/ann", "arn:aws:iam::123456789012:user/ann"),
        (
            "arn:aws-us-gov:sts::123456789012:assumed-role/billing/s",
            "arn:aws-us-gov:iam::123456789012:role/billing",
        ),
    ],
)
def test_the_principal_of_a_caller_is_its_role_or_user_without_a_path(arn: str, principal: str) -> None:
    assert calling_principal(arn) == principal


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "arn:aws:iam::123456789012:root",
        "arn:aws:sts::123456789012:federated-user/ann",
        "arn:aws:iam::123456789012:group/team",
        "arn:aws:iam::12345678901:role/billing",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/a*",
        "arn:aws:iam::123456789012:role/billing\n",
        "arn:aws:iam::123456789012:role/bill\u00efng",
        "arn:aws:iam::\u0661\u0662\u0663456789012:role/billing",
        "arn:aws:sts::123456789012:assumed-role/billing",
        "arn:aws:sts::123456789012:assumed-role/a/billing/s",
        "arn:aws:lambda:eu-west-1:123456789012:function:f",
        f"arn:aws:iam::123456789012:role/{'x' * 65}",
    ],
)
def test_nothing_else_is_a_principal(arn: str) -> None:
    assert calling_principal(arn) is None
    assert named_principal(arn) is None
    with pytest.raises(ForbiddenError, match="IAM role or as an IAM user"):
        caller_of(arn, keys=with_key(), now=NOON)


def test_an_admin_cannot_name_a_session() -> None:
    assert named_principal(SESSION) is None


def test_the_longest_arn_is_one_of_a_principal() -> None:
    longest = f"arn:aws-abcdefg:iam::123456789012:role/{'p' * 511}/{'n' * 64}"
    assert named_principal(longest) is not None
    assert len(longest) <= PRINCIPAL_LENGTH_MAX


def test_a_session_of_a_role_with_a_key_is_the_caller_of_that_key() -> None:
    assert caller_of(SESSION, keys=with_key(), now=NOON) == Caller(key_id_of(ROLE), "ns", "write")


def test_a_principal_without_a_key_is_refused_by_its_name() -> None:
    other = SESSION.replace("billing", "other")
    with pytest.raises(ForbiddenError, match="arn:aws:iam::123456789012:role/other"):
        caller_of(other, keys=with_key(), now=NOON)


@pytest.mark.parametrize(
    "arn",
    [
        SESSION.replace("123456789012", "123456789013"),
        SESSION.replace("arn:aws:", "arn:aws-cn:"),
        "arn:aws:iam::123456789012:user/billing",
    ],
)
def test_a_name_of_another_account_partition_or_kind_is_another_principal(arn: str) -> None:
    with pytest.raises(ForbiddenError):
        caller_of(arn, keys=with_key(), now=NOON)


def test_a_key_of_a_principal_ends_when_it_expires_or_is_revoked() -> None:
    keys = with_key(expires_at=NOON + 1)
    assert caller_of(SESSION, keys=keys, now=NOON)
    with pytest.raises(ForbiddenError):
        caller_of(SESSION, keys=keys, now=NOON + 1)
    keys = with_key()
    keys.delete(key_id_of(ROLE))
    with pytest.raises(ForbiddenError):
        caller_of(SESSION, keys=keys, now=NOON)


def test_a_new_key_of_a_principal_replaces_the_former_one() -> None:
    keys = with_key()
    keys.put(principal_key(ROLE, "other", "read"), admin_change())
    assert caller_of(SESSION, keys=keys, now=NOON) == Caller(key_id_of(ROLE), "other", "read")
    assert len(keys.page(None, "", 5).items) == 1


@pytest.mark.parametrize(
    "secret", ["x", "0", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
)
def test_no_secret_opens_the_key_of_a_principal(secret: str) -> None:
    assert authorize(f"Bearer sh_{key_id_of(ROLE)}_{secret}", keys=with_key(), now=NOON) is None
