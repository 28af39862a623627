"""The claims of a token name its namespace and its role. What is missing or malformed is refused by name."""

from typing import Any

import pytest

from sweephand.access.authentication import Auth
from sweephand.access.callers import SUBJECT_LENGTH_MAX, caller_by_claims
from sweephand.base.errors import ForbiddenError
from sweephand.model.api_key import Caller

AUTH = Auth("jwt", "https://sweephand.example/ns", "role")

CLAIMS = {
    "iss": "https://issuer.example",
    "sub": "ann",
    "aud": "sweephand",
    "exp": "1795262400",
    "https://sweephand.example/ns": "billing",
    "role": "write",
}


def of(**changed: Any) -> Caller:
    given = {
        **CLAIMS,
        **{name.replace("namespace", AUTH.namespace_claim): each for name, each in changed.items()},
    }
    return caller_by_claims({name: each for name, each in given.items() if each is not None}, AUTH)


def test_a_token_is_a_caller_with_the_namespace_the_role_and_the_end_of_its_claims() -> None:
    assert of() == Caller("jwt:ann", "billing", "write", 1_795_262_400_000)


@pytest.mark.parametrize("role", ["read", "write", "admin"])
def test_a_token_may_open_every_namespace(role: str) -> None:
    caller = of(namespace="*", role=role)
    assert (caller.namespace, caller.role) == ("*", role)


@pytest.mark.parametrize("exp", ["1795262400", "1795262400.0", "1.7952624E9"])
def test_the_end_of_a_token_is_read_in_each_form_in_which_a_number_is_written(exp: str) -> None:
    assert of(exp=exp).expires_at == 1_795_262_400_000


@pytest.mark.parametrize(
    ("changed", "claim"),
    [
        ({"namespace": None}, "https://sweephand.example/ns"),
        ({"namespace": ""}, "https://sweephand.example/ns"),
        ({"namespace": "[billing]"}, "https://sweephand.example/ns"),
        ({"namespace": "[billing other]"}, "https://sweephand.example/ns"),
        ({"namespace": "a/b"}, "https://sweephand.example/ns"),
        ({"namespace": ".."}, "https://sweephand.example/ns"),
        ({"namespace": "**"}, "https://sweephand.example/ns"),
        ({"namespace": "billing\n"}, "https://sweephand.example/ns"),
        ({"namespace": "x" * 129}, "https://sweephand.example/ns"),
        ({"namespace": ["billing"]}, "https://sweephand.example/ns"),
        ({"namespace": 7}, "https://sweephand.example/ns"),
        ({"role": None}, "role"),
        ({"role": "owner"}, "role"),
        ({"role": "Admin"}, "role"),
        ({"role": "[admin]"}, "role"),
        ({"role": "admin "}, "role"),
        ({"role": True}, "role"),
        ({"sub": None}, "sub"),
        ({"sub": ""}, "sub"),
        ({"sub": "x" * (SUBJECT_LENGTH_MAX + 1)}, "sub"),
        ({"exp": None}, "exp"),
        ({"exp": "never"}, "exp"),
        ({"exp": "NaN"}, "exp"),
        ({"exp": "sNaN"}, "exp"),
        ({"exp": "Infinity"}, "exp"),
        ({"exp": "-1"}, "exp"),
        ({"exp": "1e400"}, "exp"),
    ],
)
def test_a_claim_that_is_missing_or_malformed_is_named(changed: dict[str, Any], claim: str) -> None:
    with pytest.raises(ForbiddenError, match=f"claim {claim}\\b"):
        of(**changed)


def test_a_refusal_repeats_nothing_of_the_token() -> None:
    with pytest.raises(ForbiddenError) as refused:
        of(namespace="\x1b[31m")
    assert "31m" not in str(refused.value)


def test_another_claim_than_the_ones_that_the_operator_chose_opens_nothing() -> None:
    claims = {name: each for name, each in CLAIMS.items() if not name.startswith("https")}
    with pytest.raises(ForbiddenError):
        caller_by_claims({**claims, "namespace": "*", "sweephand_namespace": "*"}, AUTH)
