"""Policies end to end, in one process: limits for each key, and policies with a backlog beside others.

The consumer counts the requests that are open at once.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from infra.bench.consumer import Consumer, Request
from infra.bench.flow import most_open
from infra.local.client import write_jobs
from infra.local.dev import Dev, running

from sweephand.base.instants import SECOND_MS, rfc3339

#: So many tenants have so many jobs each, of which so many requests may be open.
TENANTS, JOBS, LIMIT = 40, 10, 2

#: Policies with a backlog: more than there are threads for lines. A request takes `WORK_S`, so that those of
#: one key or policy overlap on a busy machine too.
BUSY, BACKLOG, WORK_S = 10, 20, 0.5

#: The first trigger of another policy waits for no longer than this, and one without a policy is no later
#: than this.
OTHER_POLICY_MS, NO_POLICY_MS = 15 * SECOND_MS, 5 * SECOND_MS

#: How long a busy machine may take for what an idle one does in seconds.
PATIENCE_S = 120


def put_policy(dev: Dev, name: str, limits: Mapping[str, Any]) -> None:
    dev.client.ask("PUT", f"/v1/namespaces/demo/policies/{name}", limits)


def wait_for(consumer: Consumer, count: int) -> Sequence[Request]:
    """The requests, once so many have come and been answered."""
    deadline = time.monotonic() + PATIENCE_S
    while sum(each.until_ns is not None for each in consumer.requests()) < count:
        assert time.monotonic() < deadline, f"{len(consumer.requests())} of {count} came"
        time.sleep(0.05)
    return consumer.requests()


def due_in(seconds: float) -> int:
    return round((time.time() + seconds) * SECOND_MS)


def test_no_key_has_more_requests_open_than_its_limit_and_each_job_comes_once() -> None:
    with Consumer(WORK_S) as consumer, running() as dev:
        put_policy(dev, "tenants", {"maxConcurrent": LIMIT, "by": "label:tenant"})
        due_at = due_in(3)
        jobs = [
            {
                "name": f"{tenant}-{number}",
                "dueTime": rfc3339(due_at),
                "policy": "tenants",
                "labels": {"tenant": str(tenant)},
                "target": {"type": "http", "url": consumer.url},
            }
            for tenant in range(TENANTS)
            for number in range(JOBS)
        ]
        write_jobs(dev.client, "demo", jobs)
        came = wait_for(consumer, len(jobs))
        assert dev.client.ask("GET", "/v1/namespaces/demo/policies/tenants")["state"] == "active"
    by_tenant: dict[str, list[Request]] = defaultdict(list)
    for each in came:
        by_tenant[each.arrival().job.partition("-")[0]].append(each)
    assert max(most_open(some) for some in by_tenant.values()) <= LIMIT
    assert Counter(each.arrival().job for each in came) == Counter(each["name"] for each in jobs)


def test_policies_with_a_backlog_starve_no_other_one() -> None:
    with Consumer(WORK_S) as slow, Consumer() as quick, running() as dev:
        for number in range(BUSY):
            put_policy(dev, f"busy-{number}", {"maxConcurrent": 2})
        put_policy(dev, "other", {"maxConcurrent": 2})
        due_at = due_in(4)
        backlog = [
            {
                "name": f"{policy}-{number}",
                "dueTime": rfc3339(due_at),
                "policy": f"busy-{policy}",
                "target": {"type": "http", "url": slow.url},
            }
            for policy in range(BUSY)
            for number in range(BACKLOG)
        ]
        others_at = due_at + 2 * SECOND_MS
        others = [
            {"name": name, "dueTime": rfc3339(others_at), "target": {"type": "http", "url": quick.url}}
            | under
            for name, under in (("with-policy", {"policy": "other"}), ("without", {}))
        ]
        write_jobs(dev.client, "demo", [*backlog, *others])
        late_ms = {each.arrival().job: each.arrival().arrived_at - others_at for each in wait_for(quick, 2)}
        came = len(slow.requests())
        assert came < len(backlog), "the backlog is over, so it could starve nobody"
        requests = wait_for(slow, len(backlog))
    assert late_ms["with-policy"] <= OTHER_POLICY_MS
    assert late_ms["without"] <= NO_POLICY_MS
    by_policy: dict[str, list[Request]] = defaultdict(list)
    for each in requests:
        by_policy[each.arrival().job.partition("-")[0]].append(each)
    assert len(by_policy) == BUSY
    assert max(most_open(some) for some in by_policy.values()) <= 2
    assert len(requests) == len(backlog)
