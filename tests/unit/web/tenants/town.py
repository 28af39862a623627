"""A stack with two tenants. Requests to it pass the authorizer, as those that come through the gateway do."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any, Final

from tests.fakes.doubles import CountingIds
from tests.fakes.http_events import ADMIN, Answered, Client
from tests.fakes.world import World
from tests.unit.web.tenants.calls import Call, Names

from sweephand.access.authentication import sent_run_token
from sweephand.access.callers import authorize
from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.api_key import ROLES, Caller, Role
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.gate import GateName, WaitingGate, guard_id
from sweephand.model.policy_names import PolicyKey

#: The tenant whose keys a test holds, the other tenant, and a namespace that was never used.
OURS: Final = "amber"
THEIRS: Final = "birch"
NOBODYS: Final = "cedar"

#: The ids of one tenant's things begin here. Other tenants have smaller and larger ones.
_OUR_IDS: Final = 5 * 10**8

_JOBS: Final = ("steady", "worker", "done", "failing", "batched", "gone")


class ReservedIds(CountingIds):
    """Ids that count up from a number, so that what one tenant does moves no id of another one."""

    def begin(self, number: int) -> None:
        self._numbers = count(number)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A namespace, its things, its keys by role, and what must never leave it.

    `run_token` is the token of the run that its consumer works on. `secrets` are the values that even the
    tenant's own role `read` must not see.
    """

    names: Names
    keys: Mapping[Role, str]
    run_token: str
    etag: str
    secrets: tuple[str, ...]

    @property
    def namespace(self) -> str:
        return self.names.namespace

    @property
    def mark(self) -> str:
        """A text that stands in all data of the tenant, and in no request of another tenant."""
        return mark_of(self.namespace)


def mark_of(namespace: str) -> str:
    return f"planted-{namespace}"


class Town:
    """The stack. `theirs` is None in a stack that the other tenant never used."""

    def __init__(self, *, has_both: bool) -> None:
        self.ids = ReservedIds()
        world = World()
        world.ids = self.ids
        world.flow_functions_max = 5
        world.counts_deliveries = True
        world.consumers.answering = self._answer
        self._tokens: dict[str, str] = {}
        self.client = Client(world)
        self.ids.begin(2 * _OUR_IDS)
        self.everything_key = {role: self._make_key("*", role) for role in ROLES}
        # The first list of keys makes the secret that seals cursors.
        assert self.send(self.everything_key["admin"], "GET", "/v1/keys?limit=1").status == 200
        self.ids.begin(_OUR_IDS)
        self.ours = self._settle(OURS)
        self.theirs: Tenant | None = None
        if has_both:
            self.ids.begin(1)
            self.theirs = self._settle(THEIRS)
            self.ids.begin(3 * _OUR_IDS)
            self._make_key(THEIRS, "read")
        else:
            world.run_until(world.clock.time + MINUTE_MS + 10 * SECOND_MS)
        self.ids.begin(4 * _OUR_IDS)

    def send(
        self,
        credential: str | None,
        method: str,
        url: str,
        body: Any = None,
        *,
        text: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answered:
        """The answer to a request with this key or run token as its bearer token, or with no header."""
        authorization = {} if credential is None else {"Authorization": f"Bearer {credential}"}
        return self.client.send(
            method,
            url,
            body,
            text=text,
            headers={**authorization, **(headers or {})},
            caller=self.caller(authorization.get("Authorization")),
        )

    def call(self, credential: str | None, call: Call, names: Names) -> Answered:
        """The answer to a request that is right for the names."""
        return self.send(credential, call.method, call.url(names), call.body(names))

    def state(self) -> list[str]:
        """All that the stack stores and has in its queues."""
        kept = [*vars(self.client.world).values(), self.client.keys, self.client.secrets]
        return sorted(f"{type(each).__name__} {entry}" for each in kept for entry in _entries(each))

    def state_of(self, namespace: str) -> list[str]:
        """The part of the state that is of one namespace."""
        return [each for each in self.state() if f"'{namespace}'" in each or mark_of(namespace) in each]

    def caller(self, authorization: str | None) -> Caller | None:
        """The caller that the authorizer function finds. It passes a run's token on unchecked."""
        if sent_run_token(authorization) is not None:
            return None
        now = self.client.world.clock.now()
        return authorize(authorization, keys=self.client.keys, now=now)

    def _make_key(self, namespace: str, role: Role) -> str:
        body = {"namespace": namespace, "role": role, "description": mark_of(namespace)}
        made = self.client.send("POST", "/v1/keys", body, caller=ADMIN)
        assert made.status == 201, made.text
        key: str = made.json["key"]
        return key

    def _answer(self, attempt: Attempt) -> Answer:
        """The answer of every tenant's consumer."""
        key = attempt.trigger.key
        if attempt.run_token is not None:
            self._tokens[key.name] = attempt.run_token
            return Answer(succeeded=True, code=202, text="")
        if key.name.endswith("failing"):
            return Answer(succeeded=False, code=422, is_final=True, text=mark_of(key.namespace))
        return Answer(succeeded=True, code=204)

    def _settle(self, namespace: str) -> Tenant:
        """Fill a namespace by its own admin's key, and let its jobs fire."""
        keys = {role: self._make_key(namespace, role) for role in ROLES}
        spare = self._make_key(namespace, "read")
        jobs = {each: f"{namespace}-{each}" for each in (*_JOBS, "absent")}
        mark, root = mark_of(namespace), f"/v1/namespaces/{namespace}"

        def admin(method: str, path: str, body: Any = None) -> Any:
            answer = self.send(keys["admin"], method, f"{root}{path}", body)
            assert answer.status < 300, answer.text
            return answer.json if answer.text else None

        admin("PUT", "", {"limits": {}, "defaultTarget": _target(mark)})
        for name in ("token", "spare"):
            admin("PUT", f"/secrets/{namespace}-{name}", {"value": f"{mark}-value-of-{name}"})
        once = {"from": "2026-12-24T00:00:00Z", "to": "2026-12-26T00:00:00Z", "labels": {"mark": mark}}
        admin("PUT", f"/windows/{namespace}-freeze", once)
        admin("GET", "/signing-secrets")
        signing = [each["secret"] for each in admin("POST", "/signing-secrets")["items"]]
        admin("POST", "/signing-keys")
        for name in ("mailer", "spare"):
            for most in (5, 6):
                admin("PUT", f"/policies/{namespace}-{name}", {"maxConcurrent": most, "by": "job"})
            # The list of values that wait has two places, so a page of one has a cursor.
            for number in range(2):
                gate = GateName(PolicyKey(namespace, f"{namespace}-{name}"), 0, f"job:{mark}-{number}")
                self.client.world.gates.enlist(WaitingGate(gate, guard_id(number, mark)))
        for name in ("shop", "spare"):
            admin("PUT", f"/calendars/{namespace}-{name}", {"closed": [{"from": "2026-12-24", "note": mark}]})
        for name, fields in _definitions(namespace).items():
            admin("PUT", f"/jobs/{jobs[name]}", {**_common(namespace), **fields})
        admin("POST", f"/jobs/{jobs['steady']}/pause", {"reason": mark})
        for _ in range(2):
            admin("POST", f"/jobs/{jobs['steady']}/trigger", {"data": mark})
        world = self.client.world
        world.run_until(world.clock.time + 11 * SECOND_MS)
        admin("POST", f"/jobs/{jobs['batched']}/trigger")
        admin("DELETE", f"/jobs/{jobs['gone']}")
        runs = {each: admin("GET", f"/jobs/{jobs[each]}/runs")["items"][-1]["id"] for each in _JOBS}
        # The list of failed runs has two entries, so a page of one has a cursor.
        admin("POST", f"/jobs/{jobs['failing']}/trigger")
        done = f"{root}/jobs/{jobs['done']}/runs/{runs['done']}/complete"
        assert self.send(self._tokens[jobs["done"]], "POST", done, {"result": mark}).status == 200
        world.run_until(world.clock.time + MINUTE_MS - SECOND_MS)
        return Tenant(
            names=Names(
                namespace=namespace,
                jobs=jobs,
                runs=runs,
                calendar=f"{namespace}-spare",
                policy=f"{namespace}-mailer",
                secret=f"{namespace}-token",
                window=f"{namespace}-freeze",
                batch=admin("GET", f"/jobs/{jobs['batched']}/batches")["items"][-1]["id"],
                key_id=spare.split("_")[1],
            ),
            keys=keys,
            run_token=self._tokens[jobs["worker"]],
            etag=self.send(keys["read"], "GET", f"{root}/jobs/{jobs['steady']}").etag,
            secrets=(
                *(each.rpartition("_")[2] for each in (*keys.values(), spare, *signing)),
                *self._tokens.values(),
                f"{mark}-value",
                f"{mark}-header",
            ),
        )


def town_for(call: Call, *, has_both: bool = True) -> Town:
    """A stack to which the call is sent. All calls that change nothing share one."""
    return _shared_town(has_both) if call.is_read else Town(has_both=has_both)


@lru_cache(maxsize=2)
def _shared_town(has_both: bool) -> Town:  # noqa: FBT001 - the only argument of a cache
    return Town(has_both=has_both)


def absent(names: Names) -> Names:
    """Names of the same namespace, none of which anything has."""
    missing = names.jobs["absent"]
    return replace(
        names,
        jobs=dict.fromkeys(names.jobs, missing),
        calendar=f"{names.calendar}-absent",
        policy=f"{names.policy}-absent",
        secret=f"{names.secret}-absent",
        window=f"{names.window}-absent",
        key_id="absent",
    )


def _common(namespace: str) -> dict[str, Any]:
    mark = mark_of(namespace)
    return {
        "target": _target(mark),
        "data": {"of": mark},
        "description": mark,
        "labels": {"team": "ops", "mark": mark},
    }


def _target(mark: str) -> dict[str, Any]:
    return {
        "type": "http",
        "url": f"https://consumer.example/{mark}",
        "headers": {"x-mark": f"{mark}-header"},
    }


def _definitions(namespace: str) -> dict[str, dict[str, Any]]:
    """The fields of each job, by the last part of its name."""
    secret = {"x-token": {"secretRef": f"{namespace}-token"}}
    return {
        "steady": {"schedule": "@every 1h", "policy": f"{namespace}-mailer", "overlap": "wait"},
        "worker": {"dueTime": "10s", "completion": "async", "data": json.dumps(secret)},
        "done": {
            "dueTime": "10s",
            "completion": "async",
            "target": {**_target(mark_of(namespace)), "headers": secret},
        },
        "failing": {"dueTime": "10s", "onComplete": {"type": "job", "name": f"{namespace}-steady"}},
        "batched": {"dueTime": "10s", "batch": {"count": 2}},
        "gone": {"dueTime": "10s"},
    }


def _entries(store: object) -> Iterator[str]:
    """The entries of a store in memory, each as a text."""
    for name, held in vars(store).items() if hasattr(store, "__dict__") else ():
        if isinstance(held, dict):
            yield from (f"{name} {key!r}: {value!r}" for key, value in held.items())
        elif isinstance(held, list | set):
            yield from (f"{name} {each!r}" for each in held)
