"""Which caller the claims of a JSON Web Token stand for. The gateway has verified the token."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from sweephand.access.auth_mode import Auth
from sweephand.base.errors import ForbiddenError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.names import NAME_RULE, is_name
from sweephand.model.api_key import EVERY_NAMESPACE, ROLES, Caller

#: The length of the longest subject (OpenID Connect Core 1.0, section 2).
SUBJECT_LENGTH_MAX: Final = 255

#: The first second of the year 10000. RFC 3339 has no text for it.
_END_S_MAX: Final = 253_402_300_800


def caller_of(claims: Mapping[str, Any], auth: Auth) -> Caller:
    """The caller of a token with these claims. Its id is `jwt:` and the subject.

    API Gateway gives every claim as a text, and a list as `[a b]`, which is no namespace and no role.

    Raises ForbiddenError, which names the claim and says what it must be, for a claim that is missing or
    malformed. A token needs an end, `exp`: nobody can revoke it.
    """
    namespace = _text(
        claims, auth.namespace_claim, "the name of the namespace that the token opens, or * for all"
    )
    if namespace != EVERY_NAMESPACE and not is_name(namespace):
        raise ForbiddenError(
            f"The claim {auth.namespace_claim} of the token must be one namespace, or * for all. {NAME_RULE}"
        )
    given = _text(claims, auth.role_claim, f"one of {', '.join(ROLES)}")
    role = next((each for each in ROLES if each == given), None)
    if role is None:
        raise ForbiddenError(f"The claim {auth.role_claim} of the token must be one of {', '.join(ROLES)}.")
    subject = _text(claims, "sub", "a text that names the caller")
    if len(subject) > SUBJECT_LENGTH_MAX:
        raise ForbiddenError(f"The claim sub of the token must have at most {SUBJECT_LENGTH_MAX} characters.")
    end = _text(claims, "exp", "the end of the token, in seconds since 1970")
    return Caller(f"jwt:{subject}", namespace, role, _instant(end))


def _text(claims: Mapping[str, Any], name: str, meaning: str) -> str:
    found = claims.get(name)
    if not isinstance(found, str) or not found:
        raise ForbiddenError(f"The token has no claim {name}. It must be {meaning}.")
    return found


def _instant(seconds: str) -> Instant:
    try:
        end_s = Decimal(seconds)
        is_instant = end_s.is_finite() and 0 < end_s < _END_S_MAX
    except InvalidOperation:
        is_instant = False
    if not is_instant:
        raise ForbiddenError("The claim exp of the token must be its end, in seconds since 1970.")
    return int(end_s * SECOND_MS)
