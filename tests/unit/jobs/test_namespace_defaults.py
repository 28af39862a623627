"""Jobs that leave their target or retry to the settings of their namespace."""

from typing import Any

import pytest
from tests.fakes.faults import failing
from tests.fakes.http_events import NS_ADMIN, READER, STRANGER, WRITER, Answered, Client
from tests.fakes.world import NOON, World

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS

URL = "/v1/namespaces/ns"
BASE = {"type": "http", "url": "https://actors.example/v1", "headers": {"X-Key": "k"}}
QUEUE = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-q"}
SOON = {"dueTime": "10s"}


def client(**settings: Any) -> Client:
    """The API of a namespace with these settings, known to every process."""
    world = World()
    world.limits_namespaces = True
    to = Client(world)
    if settings:
        assert put(to, **settings).status == 200
    return to


def put(to: Client, *, caller: Any = NS_ADMIN, **settings: Any) -> Answered:
    answered = to.send("PUT", URL, {"limits": {}, **settings}, caller=caller)
    to.world.clock.time += NAMESPACE_AGE_MAX_MS
    return answered


def sent(to: Client) -> list[Any]:
    """The targets to which triggers were delivered."""
    to.world.run_until(to.world.clock.time + 20_000)
    return [each.spec for each in to.world.consumers.attempts]


def test_settings_show_the_defaults_and_a_reader_sees_no_header_values() -> None:
    to = client(defaultTarget=BASE, defaultRetry={"maxAttempts": 3})
    shown = to.send("GET", URL, caller=WRITER).json
    assert (shown["defaultTarget"], shown["defaultRetry"]) == (BASE, {"maxAttempts": 3})
    assert to.send("GET", URL, caller=READER).json["defaultTarget"]["headers"] == {"X-Key": "(hidden)"}
    assert "defaultTarget" not in put(to).json


def test_a_job_without_a_target_is_delivered_to_the_default() -> None:
    to = client(defaultTarget=BASE)
    written = to.put(job=SOON)
    assert (written.status, written.json["target"]) == (201, {"type": "default"})
    assert sent(to) == [BASE]


def test_a_change_of_the_default_reaches_jobs_that_are_stored() -> None:
    to = client(defaultTarget=BASE)
    to.put(job={"dueTime": "1h", "target": {"type": "default", "path": "/reminders/7"}})
    put(to, defaultTarget={**BASE, "url": "https://moved.example"})
    to.world.run_until(NOON + 4_000_000)
    assert [each["url"] for each in sent(to)] == ["https://moved.example/reminders/7"]


@pytest.mark.parametrize("job", [SOON, {**SOON, "target": {"type": "default", "path": "/x"}}])
def test_without_a_default_the_job_is_refused(job: Any) -> None:
    refused = client().put(job=job)
    assert (refused.status, refused.pointers) == (422, ["/target"])
    assert "has no defaultTarget" in refused.json["errors"][0]["detail"]


def test_a_default_that_was_just_written_is_found() -> None:
    to = client()
    assert to.put(job=SOON).status == 422
    to.send("PUT", URL, {"limits": {}, "defaultTarget": BASE})
    assert to.put(job=SOON).status == 201


@pytest.mark.parametrize(
    ("default", "job", "pointer", "detail"),
    [
        (QUEUE, {"target": {"type": "default", "path": "/x"}}, "/target/path", "only one of type http"),
        ({**BASE, "method": "GET"}, {"data": 1}, "/target", "GET sends no body"),
        (BASE, {"target": {"type": "default", "path": "/" + "x" * 2_025}}, "/target", "2048"),
        (QUEUE, {"onComplete": {"type": "default", "path": "/x"}}, "/onComplete/path", "of type sqs"),
    ],
)
def test_a_job_that_does_not_fit_the_default_is_refused(
    default: Any, job: Any, pointer: str, detail: str
) -> None:
    to = client(defaultTarget=default)
    for refused in (
        to.put(job={**SOON, **job}),
        to.send("POST", f"{URL}/jobs", {"jobs": [{"name": each, **SOON, **job} for each in ("a", "b")]}),
    ):
        problem = refused.json if refused.status == 422 else refused.json["results"][0]["problem"]
        assert [each["pointer"] for each in problem["errors"]] == [pointer]
        assert detail in problem["errors"][0]["detail"]


def test_data_on_demand_is_checked_with_the_default() -> None:
    to = client(defaultTarget={**BASE, "method": "DELETE"})
    assert to.put(job={}).status == 201
    refused = to.send("POST", f"{URL}/jobs/job/trigger", {"data": 1})
    assert (refused.status, refused.pointers) == (422, ["/data"])


def test_a_default_that_was_removed_fails_the_run_at_once_and_a_redrive_uses_a_new_one() -> None:
    to = client(defaultTarget=BASE)
    to.put(job=SOON)
    put(to)
    assert sent(to) == []
    (run,) = to.send("GET", f"{URL}/jobs/job/runs").json["items"]
    assert (run["state"], run["attempts"]) == ("failed", 1)
    assert "has no defaultTarget in its settings" in run["lastFailure"]["reason"]
    put(to, defaultTarget=BASE)
    assert to.send("POST", f"{URL}/jobs/job/runs/{run['id']}/redrive").status == 202
    assert sent(to) == [BASE]


def test_the_end_of_a_run_is_told_to_the_default() -> None:
    to = client(defaultTarget=BASE)
    end = {"type": "default", "path": "/ended"}
    to.put(job={**SOON, "target": {"type": "http", "url": "https://b.example/"}, "onComplete": end})
    assert [each["url"] for each in sent(to)] == ["https://b.example/", "https://actors.example/v1/ended"]


def test_a_notification_without_a_default_becomes_a_dead_letter() -> None:
    to = client(defaultTarget=BASE)
    end = {"type": "default", "path": "/ended"}
    to.put(job={**SOON, "target": {"type": "http", "url": "https://b.example/"}, "onComplete": end})
    put(to)
    assert len(sent(to)) == 1
    ((letter, _),) = to.world.queue.buried
    assert "has no defaultTarget" in letter.reason


def test_a_trigger_waits_while_the_settings_cannot_be_read() -> None:
    to = client(defaultTarget=BASE)
    to.put(job=SOON)
    to.world.clock.time += 10_000
    failing(to.world, "namespaces.with_windows")
    (handled,) = to.world.deliver(to.world.queue.take())
    assert handled.outcome is not None
    assert handled.outcome.name == "fault"
    to.world.announce = lambda _: None
    assert sent(to) == [BASE]


def test_a_job_without_retry_gets_that_of_its_namespace_and_keeps_it() -> None:
    to = client(defaultTarget=BASE, defaultRetry={"maxAttempts": 3, "maxAge": "1h"})
    first = to.put(job=SOON)
    assert first.json["retry"] == {"maxAttempts": 3, "maxAge": "1h"}
    assert to.put(job=SOON).json["rev"] == first.json["rev"]
    put(to, defaultTarget=BASE, defaultRetry={"maxAttempts": 4})
    assert to.get().json["retry"] == {"maxAttempts": 3, "maxAge": "1h"}
    patched = to.send("PATCH", f"{URL}/jobs/job", {"description": "x"})
    assert patched.json["retry"] == {"maxAttempts": 3, "maxAge": "1h"}
    assert to.send("PATCH", f"{URL}/jobs/job", {"retry": None}).json["retry"] == {"maxAttempts": 4}


def test_a_job_with_retry_keeps_its_own_and_bulk_writes_get_the_default() -> None:
    to = client(defaultTarget=BASE, defaultRetry={"maxAttempts": 3})
    assert to.put(job={**SOON, "retry": {"maxAge": "2h"}}).json["retry"] == {"maxAge": "2h"}
    jobs = [{"name": "a", **SOON}, {"name": "b", **SOON, "retry": {}}]
    to.send("POST", f"{URL}/jobs", {"jobs": jobs})
    assert to.get("a").json["retry"] == {"maxAttempts": 3}
    assert to.get("b").json["retry"] == {}


def test_a_patch_that_leaves_the_target_alone_does_not_need_the_default() -> None:
    to = client(defaultTarget=BASE)
    to.put(job=SOON)
    put(to)
    assert to.send("PATCH", f"{URL}/jobs/job", {"description": "x"}).status == 200
    assert to.send("PATCH", f"{URL}/jobs/job", {"data": 1}).pointers == ["/target"]


def test_namespaces_are_listed_by_the_rights_of_the_key() -> None:
    to = client(defaultTarget=BASE)
    to.put(job=SOON)
    to.send("PUT", "/v1/namespaces/later/jobs/a", {**SOON, "target": BASE})
    to.send("POST", "/v1/keys", {"namespace": "keyed", "role": "read"})
    to.send("POST", "/v1/keys", {"namespace": "*", "role": "read"})
    pages = [to.send("GET", "/v1/namespaces?limit=2").json]
    pages.append(to.send("GET", f"/v1/namespaces?limit=2&cursor={pages[0]['nextCursor']}").json)
    assert [[each["namespace"] for each in page["items"]] for page in pages] == [["keyed", "later"], ["ns"]]
    assert "nextCursor" not in pages[1]
    for caller, own in ((READER, "ns"), (STRANGER, "elsewhere")):
        assert to.send("GET", "/v1/namespaces", caller=caller).json == {"items": [{"namespace": own}]}
    assert to.send("GET", "/v1/namespaces?cursor=x").status == 422
