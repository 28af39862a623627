"""Who calls, and how often: the holder of an API key, an IAM role or user that has a key, or of a token."""

import re
from collections import deque
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any, Final

from sweephand.access.authentication import Auth
from sweephand.base.errors import ForbiddenError, RateError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.names import EVERY_NAMESPACE, NAME_RULE, is_name
from sweephand.model.api_key import ROLES, Caller, Key, parse_key
from sweephand.model.counters import US_PER_MS, minute_us_of, slice_of, step_us_of
from sweephand.ports.access import KeyStore
from sweephand.ports.flow import AllowanceStore

_NAME: Final = "[A-Za-z0-9+=,.@_-]{1,64}"

#: The pattern of an ARN that a key may name. The path of a role or user is any printable ASCII.
PRINCIPAL_PATTERN: Final = (
    f"^arn:aws[a-z-]{{0,10}}:iam::[0-9]{{12}}:(?:role|user)/(?:[!-~]{{0,511}}/)?{_NAME}$"
)

#: The length of the longest such ARN.
PRINCIPAL_LENGTH_MAX: Final = 640

PRINCIPAL_RULE: Final = (
    "It must be the ARN of an IAM role or user, such as arn:aws:iam::123456789012:role/billing."
)

_IDENTITY: Final = re.compile(
    rf"arn:(?P<partition>aws[a-z-]{{0,10}}):iam::(?P<account>[0-9]{{12}}):(?P<kind>role|user)/"
    rf"(?:[!-~]{{0,511}}/)?(?P<name>{_NAME})\Z"
)

# The credentials of a role are those of a session, whose ARN lacks the role's path (IAM user guide, "IAM
# identifiers").
_SESSION: Final = re.compile(
    rf"arn:(?P<partition>aws[a-z-]{{0,10}}):sts::(?P<account>[0-9]{{12}}):assumed-role/(?P<name>{_NAME})/[^/]+\Z"
)


def named_principal(arn: str) -> str | None:
    """The role or user of this ARN, without its path; None if it is the ARN of anything else.

    An account has no two roles of one name, whatever their paths, and no two users.
    """
    found = _IDENTITY.match(arn)
    return found and f"arn:{found['partition']}:iam::{found['account']}:{found['kind']}/{found['name']}"


def calling_principal(arn: str) -> str | None:
    """The role or user behind the ARN of a caller, which can be that of a role's session.

    None for anything else: the root user and federated users have no key.
    """
    session = _SESSION.match(arn)
    if session is None:
        return named_principal(arn)
    return f"arn:{session['partition']}:iam::{session['account']}:role/{session['name']}"


def key_id_of(principal: str) -> str:
    """The id of a principal's key. It is made of the principal, so that one read finds the key."""
    return f"iam{sha256(principal.encode()).hexdigest()[:40]}"


def caller_of(arn: str, *, keys: KeyStore, now: Instant) -> Caller:
    """The caller that IAM has authenticated by this ARN.

    Every call reads the key, so a revocation is in force at once.

    Raises ForbiddenError, which names the principal, if it has no key. Raises StoreError if the key cannot be
    looked up.
    """
    principal = calling_principal(arn)
    if principal is None:
        raise ForbiddenError("Call as an IAM role or as an IAM user. No other identity can have a key.")
    key = keys.get(key_id_of(principal))
    if key is None or key.principal != principal or not key.is_alive(now):
        raise ForbiddenError(
            f"There is no key for {principal}. An admin of every namespace makes one: POST /v1/keys with "
            f"this principal."
        )
    return key.caller


#: The length of the longest subject (OpenID Connect Core 1.0, section 2).
SUBJECT_LENGTH_MAX: Final = 255

#: The first second of the year 10000. RFC 3339 has no text for it.
_END_S_MAX: Final = 253_402_300_800


def caller_by_claims(claims: Mapping[str, Any], auth: Auth) -> Caller:
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


# A scheme in any case, at least one space, and a key (RFC 9110, 11.6.2). The bounds of length keep nonsense
# away from the key store.
_BEARER: Final = re.compile(r"(?i:bearer) +(?P<key>sh_[A-Za-z0-9]{1,64}_[A-Za-z0-9]{1,256})\Z")

# Stands for a key that does not exist. No secret has this digest that anybody could find: it would be the
# preimage of a given value of SHA-256.
_NOBODY: Final = Key("", "0" * 64, "", "read", 0)


def authorize(header: str | None, *, keys: KeyStore, now: Instant) -> Caller | None:
    """The caller whose API key is in the header; None if the header holds no valid key.

    The answer is the same for an unknown, revoked, expired or mistyped key, so a caller cannot tell these
    apart. So is the work: one read of the store, one hash, and one comparison. Raises StoreError if the key
    cannot be looked up.
    """
    found = _BEARER.match(header.strip()) if header else None
    parts = parse_key(found["key"]) if found else None
    if parts is None:
        return None
    key_id, secret = parts
    key = keys.get(key_id) or _NOBODY
    return key.caller if key.accepts(secret, now) else None


#: Keys whose slots one process remembers. When there are more, the process forgets all of them.
REMEMBERED_MAX: Final = 1_000


class RequestRates:
    """Lets requests through up to the rate of the caller's key. A function handles one request at a time.

    A minute's rate is divided into slots, as the triggers of a namespace are (model/counters.py). A process
    takes a few slots at once, and none of a later minute: a burst over many processes would else use up the
    minutes to come. A process that was refused asks again in the next minute.
    """

    def __init__(self, allowances: AllowanceStore) -> None:
        self._allowances = allowances
        self._slots: dict[tuple[str, int], deque[int]] = {}
        self._free_us: dict[tuple[str, int], int] = {}

    def check(self, caller: Caller, now: Instant) -> None:
        """Raise RateError if the caller has sent as many requests in this minute as its key may.

        Without a rate, nothing is read or written. With one, a request costs at most one write. StoreError if
        the store does not answer.
        """
        per_minute = caller.requests_per_minute
        if per_minute is None:
            return
        known = caller.key_id, per_minute
        slots = self._slots_of(known)
        begin_us = minute_us_of(now)
        end_us = begin_us + MINUTE_MS * US_PER_MS
        while slots and slots[0] < begin_us:
            slots.popleft()
        free_us = slots[0] if slots else self._free_us.get(known, 0)
        if not slots and free_us < end_us:
            count, step_us = slice_of(per_minute), step_us_of(per_minute)
            free_us = self._allowances.take(f"key#{known[0]}", now, per_minute, count, end_us).first_us
            if free_us < end_us:
                slots.extend(free_us + number * step_us for number in range(count))
        if free_us >= end_us:
            self._free_us[known] = free_us
            wait_ms = -(-free_us // US_PER_MS) - now
            raise RateError(
                f"Your key may send {per_minute} requests a minute. Send the next one later.",
                -(-wait_ms // SECOND_MS),
            )
        slots.popleft()

    def _slots_of(self, known: tuple[str, int]) -> deque[int]:
        if len(self._slots) >= REMEMBERED_MAX and known not in self._slots:
            self._slots.clear()
            self._free_us.clear()
        return self._slots.setdefault(known, deque())
