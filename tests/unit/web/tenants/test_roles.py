"""The table of all calls, roles and namespaces. Its rows come from the OpenAPI document."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest
from tests.unit.web.tenants.calls import Call, calls
from tests.unit.web.tenants.town import OURS, Tenant, Town, town_for

from sweephand.model.api_key import ROLES

#: The calls that need neither key nor token. A call that is to be open has to be added here, and to the
#: page docs/keys.md.
OPEN: Final = {
    "GET /v1/health",
    "GET /v1/openapi.json",
    "GET /docs",
    "GET /console",
    "GET /console/{asset}",
    "GET /v1/namespaces/{namespace}/signing-keys",
}

CALLS: Final = calls()


class Holder(NamedTuple):
    """Who sends a request: the holder of a key for a namespace, or of the token of a run, or nobody."""

    credential: str | None
    namespace: str
    role: str


def holders(town: Town) -> Iterator[Holder]:
    assert town.theirs is not None
    yield Holder(None, "", "nobody")
    yield Holder("sh_unknown_" + "x" * 43, "", "nobody")
    for tenant in (town.ours, town.theirs):
        yield from (Holder(tenant.keys[role], tenant.namespace, role) for role in ROLES)
        yield Holder(tenant.run_token, tenant.namespace, "token")
    yield from (Holder(town.everything_key[role], "*", role) for role in ROLES)


def expected(call: Call, holder: Holder) -> frozenset[int]:
    """The statuses that the call's declared access allows for a request about a thing of ours."""
    refused = _refused(call, holder)
    return call.successes if refused is None else frozenset({refused})


def _refused(call: Call, holder: Holder) -> int | None:
    if call.access == "open":
        return None
    if holder.role == "token" and call.access == "callback":
        return None if holder.namespace == OURS else 410
    if holder.role in ("nobody", "token"):
        return 401
    sees = holder.namespace in (OURS, "*")
    role = "write" if call.access == "callback" else call.access
    is_enough = role == "any" or ROLES.index(holder.role) >= ROLES.index(role)
    if call.names_namespace and not sees:
        return 404
    return (None if sees else _OF_ANOTHER.get(call.name)) if is_enough else 403


#: What an admin gets for a key or the jobs of another namespace. The paths of these calls name no namespace.
_OF_ANOTHER: Final = {"makeKey": 403, "rotateKey": 404, "revokeKey": 404, "rebuild": 403, "audit": 403}


@pytest.mark.parametrize("call", CALLS, ids=lambda each: each.name)
def test_each_caller_gets_what_the_declared_access_of_the_call_says(call: Call) -> None:
    town = town_for(call)
    before = town.state()
    accepted = []
    for holder in holders(town):
        statuses = expected(call, holder)
        if statuses == call.successes and not call.is_read:
            accepted.append(holder)
            continue
        answer = town.call(holder.credential, call, town.ours.names)
        assert answer.status in statuses, f"{holder}: {answer}"
    assert town.state() == before
    for holder in accepted:
        answer = town.call(holder.credential, call, town.ours.names)
        if answer.status not in call.successes:
            # An earlier holder has deleted or ended the thing. Equal stacks have equal keys.
            town = Town(has_both=True)
            answer = town.call(holder.credential, call, town.ours.names)
        assert answer.status in call.successes, f"{holder}: {answer}"


def test_the_calls_without_a_key_are_those_of_the_list() -> None:
    assert {f"{each.method} {each.path}" for each in CALLS if each.access == "open"} == OPEN


def reads_of(town: Town, tenant: Tenant, credential: str) -> str:
    """All answers to the reads about a tenant's things."""
    reads = [each for each in CALLS if each.method == "GET"]
    return "".join(str(town.call(credential, each, tenant.names)) for each in reads)


def test_every_mark_of_a_tenant_is_shown_to_its_own_admin_and_no_secret_to_its_readers() -> None:
    town = Town(has_both=True)
    assert town.theirs is not None
    shown = reads_of(town, town.theirs, town.theirs.keys["admin"])
    assert shown.count(town.theirs.mark) > 20
    assert f"{town.theirs.mark}-header" in shown
    to_readers = reads_of(town, town.theirs, town.theirs.keys["read"])
    assert not [each for each in town.theirs.secrets if each in to_readers]
    assert f"consumer.example/{town.theirs.mark}" in to_readers
