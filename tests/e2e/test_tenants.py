"""Through the deployed gateway and authorizer, a key of one namespace learns nothing of another one.

tests/unit/web/tenants asks many more requests, on stores in memory.
"""

import time
from dataclasses import replace
from typing import Any, Final

from infra.local.client import Client
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually
from tests.e2e.test_credentials import Keys
from tests.unit.web.tenants.calls import Call, Names, calls

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant, rfc3339

CLOSED: Final = [each for each in calls() if each.access != "open"]

#: The parts of names by which `calls` tells the jobs of a tenant apart.
JOBS: Final = ("steady", "worker", "failing", "batched")


def filled(scene: Scene) -> Names:
    """Things in the namespace of the scene, and their names."""
    schedule, root = scene.schedule, f"/v1/namespaces/{scene.schedule.namespace}"
    schedule.put("job", dueTime="1s", target=scene.target("job"), labels={"team": "ops"})
    run = schedule.state_of("job", "succeeded")["id"]
    schedule.put("batched", dueTime="1s", batch={"count": 2}, target=scene.target("batched"))
    batches = f"{schedule.path('batched')}/batches"
    eventually(lambda: schedule.client.ask("GET", batches)["items"], lambda each: each["endedAt"] is not None)
    schedule.client.ask("PUT", f"{root}/secrets/token", {"value": "a-secret-value"})
    schedule.client.ask("PUT", f"{root}/calendars/fr", {})
    key = schedule.client.ask("POST", "/v1/keys", {"namespace": schedule.namespace, "role": "read"})
    return Names(
        namespace=schedule.namespace,
        jobs=dict.fromkeys(JOBS, "job") | {"batched": "batched"},
        runs=dict.fromkeys(JOBS, run),
        calendar="fr",
        policy="mailer",
        secret="token",
        window="freeze",
        batch=run.partition("-")[0],
        key_id=key["id"],
    )


def now() -> Instant:
    return time.time_ns() // 1_000_000


def answer(holder: Client, call: Call, names: Names) -> tuple[int, Any]:
    response = holder.call(call.method, call.url(names), call.body(names))
    return response.status, response.body


def test_every_call_about_another_namespace_is_answered_as_if_it_did_not_exist(
    client: Client, namespace: str
) -> None:
    with Scene.of(client, f"{namespace}-theirs") as scene:
        theirs = filled(scene)
        missing = dict.fromkeys(JOBS, "missing")
        absent = replace(
            theirs,
            jobs=missing,
            calendar="missing",
            policy="missing",
            secret="missing",
            window="missing",
            key_id="missing",
        )
        nobodys = replace(theirs, namespace=f"{namespace}-nobodys")
        # Without a span, a forecast is of the day that begins now, and stats are of the last hour. An
        # explanation is of the latest due time.
        spans = {
            "forecast": f"from={rfc3339(now())}&to={rfc3339(now() + DAY_MS)}",
            "explainJob": "at=2026-01-01T00:00:00Z",
            "stats": f"from={rfc3339(now() - 2 * HOUR_MS)}&to={rfc3339(now() - HOUR_MS)}",
        }
        paths = {
            each: each.url(theirs, spans.get(each.name, ""))
            for each in CLOSED
            if each.method == "GET" and each.names_namespace
        }
        before = {each: client.call("GET", paths[each]).body for each in paths}
        assert before
        own = Keys.made(client, namespace)
        for role in own.texts:
            with own.holder(role) as holder:
                # The authorizer's answer for this key may be cached from here on, for every path.
                assert holder.call("GET", f"/v1/namespaces/{namespace}/jobs").status == 200
                for call in CLOSED:
                    there = answer(holder, call, theirs)
                    if call.names_namespace:
                        assert there[0] == 404, call
                    if call.names_namespace or "{id}" in call.path:
                        assert answer(holder, call, absent) == there, call
                    if call.names_namespace:
                        assert answer(holder, call, nobodys) == there, call
                    assert "a-secret-value" not in str(there)
                    assert f"{namespace}-theirs" not in str(there), call
        after = {each: client.call("GET", paths[each]).body for each in paths}
        assert after == before
