"""A job is judged by the same rules in the same order, whichever way it is written."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.contract.builders import policy
from tests.fakes.http_events import NS_ADMIN, Answered
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import serving
from tests.fakes.world import World
from tests.unit.web.strategies import FIELDS, SOME

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.model.policy import PolicyKey
from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile

URL: Final = "/v1/namespaces/ns"
HTTP: Final = {"type": "http", "url": "https://consumer.example/hook"}

#: Values of each field. Some are right by themselves. Some break a rule of their own or of another field.
#: Only the settings, policies and secrets of the namespace tell the rest from right ones.
NEAR: Final[dict[str, list[Any]]] = {
    "schedule": ["@every 1h", "0 0 30 2 *", "* *", ["2020-01-01T00:00:00Z"], {"hour": "4"}, {"hours": 4}],
    "timezone": ["Europe/Paris", "Nowhere", "x" * 65, 5],
    "dueTime": ["10s", "2020-01-01T00:00:00Z", "soon", 10],
    "ttl": ["2h", "2020-01-01T00:00:00Z", "1s"],
    "repeats": [4, 0, 2.5, "4"],
    "dst": [{"gap": "skip"}, {"gap": "skipp"}, {"gaps": "skip"}, 5],
    "jitter": ["5m", "0s", "9d"],
    "target": [
        HTTP,
        {"type": "default"},
        {"type": "default", "method": "GET"},
        {**HTTP, "url": "https://elsewhere.example/"},
        {**HTTP, "headers": {"a": {"secretRef": "missing"}}},
        {**HTTP, "headers": {"x-large": "x" * 8_000}},
        {**HTTP, "method": "GET"},
        {"type": "http"},
        {"type": "htp"},
        5,
    ],
    "data": ["x", {"task": 1}, "x" * 300, "x" * 3_000],
    "retry": [{"maxAttempts": 3}, {"maxAttempts": 0, "maxAge": "0s", "max": 1}, {"multiplier": "2"}],
    "deadLetterQueue": ["https://sqs.eu-west-1.amazonaws.com/123456789012/letters", "letters", 5],
    "batch": [{"count": 5}, {"count": 5, "window": "2h"}, {"window": "30s"}, {"count": 0, "window": "x"}],
    "overlap": ["allow", "wait", "waits"],
    "waitLimit": [5, 0],
    "catchup": [{"mode": "all"}, {"window": "1s"}, {"window": "0s", "mode": "some"}],
    "completion": ["async", "later"],
    "heartbeatTimeout": ["5m", "60d"],
    "maxRunTime": ["5m", "0s"],
    "onComplete": [{"type": "job", "name": "next"}, {"type": "default", "path": "/../x"}, HTTP, "next"],
    "alertAfter": ["10m", "1s", "30d"],
    "onAlert": [HTTP, {"type": "job", "name": "next"}],
    "onError": ["pause", "stop"],
    "policy": ["mailer", "missing", "no name"],
    "priority": ["high", "higher"],
    "history": ["full", "failures", "none"],
    "historyRetention": ["20d", "1000d"],
    "retention": ["0s", "1000d"],
    "deleteAfterCompletion": [True, "yes"],
    "labels": [{"team": "ops"}, {"a:b": "", "": 5, "long": "x" * 129}, {str(each): "" for each in range(21)}],
    "description": ["", "x" * 513],
    "state": ["paused"],
    "scedule": ["@daily"],
}


def without_nulls(value: Any) -> Any:
    """The value without its nulls. A merge patch removes by them, and other writes may not."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


VALUES: Final = {
    name: st.sampled_from(near) | FIELDS.get(name, st.nothing()).filter(lambda value: value is not None)
    for name, near in NEAR.items()
}
#: With few fields, a rule between two of them is not hidden by what is wrong with others.
FEW: Final = st.lists(st.sampled_from(sorted(NEAR)), max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: st.sampled_from(NEAR[name]) for name in names})
)
JOBS: Final = (FEW | st.fixed_dictionaries({}, optional=VALUES)).map(without_nulls)


class Ways(NamedTuple):
    """The API of a namespace in which a policy, a default target and limits decide too."""

    api: Api
    client: Client
    numbers: Iterator[int]

    def written(self, job: Any) -> dict[str, list[list[tuple[str, str]]]]:
        """The violations of a job for each way in which it is written. A job that is accepted has none."""
        put, patched, *names = [f"job-{next(self.numbers)}" for _ in range(6)]
        assert self.api.put(patched, {}).status == 201
        entries = [{**job, "name": name} for name in names[:2]]
        bulk = self.api.send("POST", f"{URL}/jobs", {"jobs": entries})
        file = JobsFile(tuple(DeclaredJob(name, job) for name in names[2:]))
        done = list(carry_out(self.client, "ns", plan(self.client, "ns", file)))
        return {
            "PUT": [violations(self.api.put(put, job))],
            "PATCH": [violations(self.api.send("PATCH", f"{URL}/jobs/{patched}", job))],
            "bulk": [named(each.get("problem")) for each in bulk.json["results"]],
            "apply": [
                [] if each.problem is None else [(one.pointer, one.detail) for one in each.problem.errors]
                for each in done
            ],
        }


def violations(answered: Answered) -> list[tuple[str, str]]:
    return named(answered.json) if answered.status >= 400 else []


def named(problem: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if problem is None:
        return []
    assert problem["status"] == 422, problem
    return [(each["pointer"], each["detail"]) for each in problem["errors"]]


@pytest.fixture(scope="module")
def ways() -> Iterator[Ways]:
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.policies.put(policy(key=PolicyKey("ns", "mailer")), None)
    api = Api(world)
    settings = {
        "limits": {"payload": 2_000},
        "defaultTarget": HTTP,
        "allowedTargets": {"hosts": ["consumer.example"]},
    }
    assert api.send("PUT", URL, settings, caller=NS_ADMIN).status == 200
    world.clock.time += NAMESPACE_AGE_MAX_MS
    with serving(api) as server:
        transport = Transport(server.url, Bearer("sh_admin"), sleep=lambda _: None, draw=lambda: 1.0)
        with Client(server.url, transport=transport) as client:
            yield Ways(api, client, count())


@SOME
@given(job=JOBS)
@example(job={"dst": {"gap": "skip"}, "ttl": "2020-01-01T00:00:00Z"})
def test_each_way_to_write_a_job_finds_the_same_violations_in_the_same_order(
    ways: Ways, job: dict[str, Any]
) -> None:
    found = ways.written(job)
    assert {way: [found["PUT"][0]] * len(each) for way, each in found.items()} == found


@pytest.mark.parametrize(
    "job",
    [
        {"target": {**HTTP, "url": "https://elsewhere.example/", "headers": {"a": {"secretRef": "missing"}}}},
        {"target": {**HTTP, "headers": {"a": {"secretRef": "missing"}}}, "data": "x" * 3_000},
        {"target": {"type": "default"}, "policy": "missing", "data": "x" * 3_000},
    ],
)
def test_what_the_namespace_does_not_allow_is_named_in_the_same_order_too(
    ways: Ways, job: dict[str, Any]
) -> None:
    found = ways.written(job)
    assert found["PUT"][0]
    assert {way: [found["PUT"][0]] * len(each) for way, each in found.items()} == found
