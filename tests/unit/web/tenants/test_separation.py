"""No answer to a tenant depends on whether another tenant exists, and no request of it changes the other.

Each request is sent twice: to a stack with both tenants, and to one that the other tenant never used. The two
answers must be equal, byte by byte. So a caller cannot tell an existing name of the other tenant from a
missing one. No call, role, precondition, cursor or body tells them apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from tests.fakes.http_events import TARGET, Answered
from tests.unit.web.tenants.calls import Call, Names, calls
from tests.unit.web.tenants.town import NOBODYS, OURS, THEIRS, Tenant, Town, absent, town_for

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.api_key import ROLES
from sweephand.web.http import cursor

CALLS: Final = calls()

#: An open call answers everybody about any namespace.
CLOSED: Final = [each for each in CALLS if each.access != "open"]

#: The calls whose body has a cursor, with the kind of the cursor.
BULK: Final[Mapping[str, str]] = {
    "pauseJobs": "pause",
    "resumeJobs": "resume",
    "redriveRuns": "redrive",
    "cancelRuns": "cancel",
    "rebuild": "rebuild",
    "audit": "audit",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: a right one about `names`, in which `body`, `text`, `headers` or `query` differ."""

    call: Call
    names: Names
    query: str = ""
    body: Any = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def to(self, town: Town, credential: str | None) -> Answered:
        body = None if self.text is not None else self.body or self.call.body(self.names)
        return town.send(
            credential,
            self.call.method,
            self.call.url(self.names, self.query),
            body,
            text=self.text,
            headers=self.headers,
        )


def variants(sent: Sent, etag: str, cursors: Mapping[str, str]) -> Iterator[Sent]:
    """The request with cursors, unknown parameters and bad bodies, and a write with preconditions."""
    call, names = sent.call, sent.names
    if call.name in cursors:
        yield replace(sent, query=f"cursor={cursors[call.name]}")
        yield replace(sent, query=f"limit=1&cursor={cursors[call.name]}")
    yield replace(sent, query="limit=1&unknown=1", text='{"unknown": 1}')
    if call.is_read:
        return
    if call.name in BULK:
        position = names.jobs["steady"]
        if call.name == "redriveRuns":
            position = f"{position}#"
        elif call.name in ("rebuild", "audit"):
            position = f"{names.namespace}#{position}#"
        yield replace(sent, body={**call.body(names), "cursor": cursor.encode(BULK[call.name], position)})
    for tag in (etag, "*", "nonsense"):
        yield replace(sent, headers={"If-Match": tag})
    yield replace(sent, headers={"If-None-Match": "*"})
    for text in ("{", '{"description": 1, "target": 7}'):
        yield replace(sent, text=text)


def cursors_of(town: Town) -> dict[str, str]:
    """A cursor of each list with two entries of the other tenant, by the name of the call."""
    assert town.theirs is not None
    found = {}
    for call in CALLS:
        if call.name == "forecast":  # it looks at a thousand jobs in a call
            found[call.name] = cursor.encode("forecast", town.theirs.names.jobs["steady"])
        elif call.name == "stats":  # it has no limit, and its positions are minutes
            now = town.client.world.clock.time
            found[call.name] = cursor.encode("stats", str(now - now % MINUTE_MS - 30 * MINUTE_MS))
        elif call.has_cursor and call.method == "GET":
            is_of_all = call.name in ("listNamespaces", "showOverview")
            keys = town.everything_key if is_of_all else town.theirs.keys
            page = town.send(keys["admin"], "GET", call.url(town.theirs.names, "limit=1"))
            found[call.name] = page.json["nextCursor"]
    return found


#: The places outside of our namespace. The first has something of every name.
NOT_OURS: Final = ("their things", "missing things of theirs", "their names in a namespace of nobody")


def their_places(ours: Tenant, theirs: Tenant) -> dict[str, Names]:
    """Names by which a caller of ours may try to reach their things, by what they are."""
    return {
        "their things": theirs.names,
        "missing things of theirs": absent(theirs.names),
        "their names in a namespace of nobody": replace(theirs.names, namespace=NOBODYS),
        "their names in our namespace": replace(theirs.names, namespace=OURS),
        "their ids below our jobs": replace(
            ours.names,
            runs=theirs.names.runs,
            batch=theirs.names.batch,
            key_id=theirs.names.key_id,
            policy=theirs.names.policy,
        ),
    }


def credentials(ours: Tenant) -> dict[str, str | None]:
    return {
        **{role: ours.keys[role] for role in ROLES},
        "token": ours.run_token,
        "forged token": "shr_" + "x" * 43,
        "nothing": None,
    }


@pytest.mark.parametrize("call", CLOSED, ids=lambda each: each.name)
def test_no_answer_to_a_tenant_depends_on_the_other_and_the_other_stays_as_it_was(call: Call) -> None:
    town, without_them = town_for(call), town_for(call, has_both=False)
    theirs = town.theirs
    assert theirs is not None
    cursors = cursors_of(town)
    before = town.state_of(THEIRS)
    assert len(before) > 50
    for who, credential in credentials(town.ours).items():
        answers: dict[str, list[Answered]] = {}
        for what, names in their_places(town.ours, theirs).items():
            right = Sent(call, names)
            is_varied = who == "admin" or (who == "token" and call.access == "callback")
            requests = [right, *(variants(right, theirs.etag, cursors) if is_varied else ())]
            answers[what] = [each.to(town, credential) for each in requests]
            same = [each.to(without_them, credential) for each in requests]
            assert answers[what] == same, f"{who} asks for {what}"
            told = str(answers[what])
            assert theirs.mark not in told, f"{who} asks for {what}"
            assert not [each for each in theirs.secrets if each in told], f"{who} asks for {what}"
        if call.names_namespace:
            there, *elsewhere = (answers[each] for each in NOT_OURS)
            assert elsewhere == [there, there], who
    assert town.state_of(THEIRS) == before


def naming(names: Names) -> dict[str, dict[str, Any]]:
    """Jobs that name something of a tenant, by the pointer of the refusal."""
    ref = {"secretRef": names.secret}
    return {
        "/policy": {"target": TARGET, "policy": names.policy},
        "/target/headers/x-a/secretRef": {"target": {**TARGET, "headers": {"x-a": ref}}},
        "/target/signingSecret/secretRef": {"target": {**TARGET, "signingSecret": ref}},
        "/onComplete/headers/x-a/secretRef": {
            "target": TARGET,
            "onComplete": {**TARGET, "headers": {"x-a": ref}},
        },
    }


def test_a_job_can_name_no_policy_and_no_secret_of_another_tenant() -> None:
    town, without_them = Town(has_both=True), Town(has_both=False)
    assert town.theirs is not None
    url = f"/v1/namespaces/{OURS}/jobs/new"
    for pointer, job in naming(town.theirs.names).items():
        answer = town.send(town.ours.keys["write"], "PUT", url, job)
        assert (answer.status, answer.pointers) == (422, [pointer])
        assert answer == without_them.send(town.ours.keys["write"], "PUT", url, job)
    for pointer, job in naming(town.ours.names).items():
        answer = town.send(town.ours.keys["write"], "PUT", url, job)
        # Our own secret is found, and is none that could sign.
        assert "whsec_" in str(answer.text) if "signing" in pointer else answer.status < 300


def test_a_chain_triggers_no_job_of_another_tenant() -> None:
    town = Town(has_both=True)
    assert town.theirs is not None
    before = town.state_of(THEIRS)
    their_job = town.theirs.names.jobs["steady"]
    job = {"dueTime": "1s", "target": TARGET, "onComplete": {"type": "job", "name": their_job}}
    url = f"/v1/namespaces/{OURS}/jobs/new"
    assert town.send(town.ours.keys["write"], "PUT", url, job).status == 201
    town.client.world.run_until(town.client.world.clock.time + 5 * SECOND_MS)
    (run,) = town.send(town.ours.keys["read"], "GET", f"{url}/runs").json["items"]
    assert run["state"] == "succeeded"
    assert town.state_of(THEIRS) == before


def test_a_cursor_of_every_list_was_tried() -> None:
    lists = {each.name for each in CLOSED if each.has_cursor and each.method == "GET"}
    assert len(lists) >= 9
    assert cursors_of(Town(has_both=True)).keys() == lists
    with_cursor = {each.name for each in CALLS if "cursor" in str(each.example) or each.name in BULK}
    assert with_cursor == BULK.keys()


def test_the_public_keys_are_all_that_an_open_call_shows_of_a_namespace() -> None:
    town = Town(has_both=True)
    assert town.theirs is not None
    opened = [each for each in CALLS if each.access == "open"]
    for credential in (None, town.ours.keys["admin"]):
        told = "".join(town.call(credential, each, town.theirs.names).text or "" for each in opened)
        assert town.theirs.mark not in told
        assert not [each for each in town.theirs.secrets if each in told]
        assert "whpk_" in told
