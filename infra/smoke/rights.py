"""Checks that use each right of each function's role, so that a missing right is seen."""

import json

from infra.local.client import Client
from infra.smoke.checks import Suite, expect
from infra.smoke.stage import Stage, eventually

RIGHTS = Suite()

_LARGE = {"text": "x" * 3_000}
_OK, _NO_CONTENT, _NOT_FOUND = 200, 204, 404


@RIGHTS.add("Health answers 200 once tick has run.")
def health(stage: Stage) -> str:
    """The API reads tick's heartbeat."""
    return str(eventually(lambda: stage.answered("/v1/health"), "a health of 200", 180))


@RIGHTS.add("A key made by the API opens its own namespace only, and can be revoked.")
def key_creation(stage: Stage) -> str:
    """The API writes, reads and deletes keys."""
    asked = {"namespace": "smoke-keys", "role": "read", "expiresIn": "1h"}
    made = stage.client.ask("POST", "/v1/keys", asked)
    reader = Client(stage.client.api_url, made["key"])
    own = reader.call("GET", "/v1/namespaces/smoke-keys/jobs").status
    other = reader.call("GET", "/v1/namespaces/smoke-others/jobs").status
    gone = stage.client.call("DELETE", f"/v1/keys/{made['id']}").status
    seen = f"own {own}, other's {other}, revoked {gone}"
    expect((own, other, gone) == (_OK, _NOT_FOUND, _NO_CONTENT), seen)
    return seen


@RIGHTS.add("A job reaches a standard queue with its data and its names.")
def queue_target(stage: Stage) -> str:
    """The delivery function's right to the queues whose names begin with sweephand-."""
    queue = stage.queues.make("standard")
    stage.put("queue", dueTime="1s", target=queue.target, data=[1, 2])
    message = queue.one()
    expect((message.body, message.names.get("job")) == ("[1,2]", "job"), f"{message.body} {message.names}")
    return message.lateness


@RIGHTS.add("A job reaches a FIFO queue, in the group that it names, with its id to deduplicate by.")
def fifo_target(stage: Stage) -> str:
    """Attributes that a FIFO queue needs and a standard queue refuses."""
    queue = stage.queues.make("ordered", is_fifo=True)
    stage.put("fifo", dueTime="1s", target={**queue.target, "messageGroupId": "g"})
    message = queue.one()
    seen = (message.attributes.get("MessageGroupId"), message.attributes.get("MessageDeduplicationId"))
    expect(seen == ("g", message.names["id"]), f"group and deduplication id are {seen}")
    return "group g"


@RIGHTS.add("A job reaches an HTTPS endpoint in the internet: the API's own health, or --consumer.")
def http_target(stage: Stage) -> str:
    """TLS, certificates and the guard of addresses, from the network in which Lambda runs."""
    url = stage.consumer or f"{stage.client.api_url}/v1/health"
    method = "POST" if stage.consumer else "GET"
    path = stage.put("http", dueTime="1s", target={"type": "http", "url": url, "method": method})
    run = stage.run_of(path, "succeeded", "failed", "retrying")
    expect(run["state"] == "succeeded", f"{method} {url}: {run['state']}, {run['reason']}")
    return f"{method} {url} answered {run['responseCode']}, {run['latenessMs']} ms late"


@RIGHTS.add("Data of more than 2 KB arrives equal, and can be replaced and deleted.")
def large_payload(stage: Stage) -> str:
    """The API writes and tags an object in S3, and the delivery function reads it."""
    queue = stage.queues.make("large")
    path = stage.put("large", dueTime="24h", target=queue.target, data={"text": "y" * 5_000})
    stage.put("large", dueTime="1s", target=queue.target, data=_LARGE)
    message = queue.one()
    expect(json.loads(message.body) == _LARGE, f"{len(message.body)} characters arrived")
    stage.client.ask("GET", path)
    stage.client.ask("POST", f"{path}/trigger", {"data": _LARGE})
    expect(json.loads(queue.one().body) == _LARGE, "data given by hand arrived changed")
    status = stage.client.call("DELETE", path).status
    expect(status == _NO_CONTENT, f"DELETE was answered {status}")
    return f"{len(message.body)} characters"


@RIGHTS.add("A job that is paused is not delivered, and is after it is resumed; a deleted one never is.")
def pause_resume_delete(stage: Stage) -> str:
    """The API writes, reads and deletes jobs and their changes."""
    queue = stage.queues.make("paused")
    for name in ("paused", "deleted"):
        stage.put("pause", name, dueTime="3s", target=queue.target)
    stage.client.ask("POST", stage.path("pause", "paused", "pause"), {"reason": "smoke"})
    expect(stage.client.call("DELETE", stage.path("pause", "deleted")).status == _NO_CONTENT, "not deleted")
    early = queue.take(1, 8)
    expect(not early, f"{[each.names['job'] for each in early]} came all the same")
    stage.client.ask("POST", stage.path("pause", "paused", "resume"), {"catchup": "latest"})
    came = queue.one().names["job"]
    expect(came == "paused", f"{came} came")
    changes = stage.client.ask("GET", stage.path("pause", "paused", "changes"))["items"]
    return f"changes: {', '.join(each['what'] for each in changes)}"
