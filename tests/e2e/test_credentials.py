"""No key, token or secret is found in what the deployed stack stores, logs, sends or answers."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_hex
from typing import Any, Final

from infra.local.client import Client
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.test_delivery import queue_reader
from tests.e2e.test_secrets import HOLDERS, Kept
from tests.fakes.receiver import Answer, Receiver

#: The headers that the consumer repeats in its answers.
REPEATED: Final = ("sweephand-run-token", "authorization", "x-first")


class Repeater(Receiver):
    """A consumer that repeats headers in its answer. It fails, or accepts work, by the path."""

    def take(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, arrived_at: int
    ) -> Answer:
        answer = super().take(method, path, headers, body, arrived_at)
        repeated = json.dumps({name: headers[name] for name in REPEATED if name in headers})
        return replace(answer, status=202 if path == "/async" else 422, body=repeated.encode())


@dataclass(frozen=True)
class Keys:
    """A key of each role for one namespace."""

    client: Client
    namespace: str
    texts: Mapping[str, str]

    @classmethod
    def made(cls, client: Client, namespace: str) -> "Keys":
        roles = ("read", "write", "admin")
        made = {each: {"namespace": namespace, "role": each} for each in roles}
        return cls(
            client,
            namespace,
            {role: client.ask("POST", "/v1/keys", body)["key"] for role, body in made.items()},
        )

    @contextmanager
    def holder(self, role: str) -> Iterator[Client]:
        with Client(self.client.api_url, self.texts[role]) as holder:
            yield holder


def items_without_tokens(stack: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The items of the tables but those that hold secrets. A run's item holds its token in one attribute."""
    dynamodb = Kept(stack).client("dynamodb")
    for table in stack["tables"].values():
        for page in dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            for item in page["Items"]:
                if not item["pk"]["S"].startswith(HOLDERS):
                    is_run = item["pk"]["S"].startswith("runs#")
                    shown = {name: each for name, each in item.items() if not (is_run and name == "token")}
                    yield f"{table} {item['pk']['S']} {item['sk']['S']}", str(shown)


def reads(reader: Client, schedule: Schedule, jobs: list[str]) -> dict[str, str]:
    """What the role `read` is answered about a namespace."""
    root = f"/v1/namespaces/{schedule.namespace}"
    of_job = ("", "/runs", "/changes", "/occurrences", "/batches")
    paths = [root, f"{root}/jobs", f"{root}/policies", f"{root}/signing-keys", "/v1/me", "/v1/namespaces"]
    paths += [f"{root}/jobs/{name}{each}" for name in jobs for each in of_job]
    paths += [f"{root}/jobs/{name}/runs/{schedule.runs(name)[0]['id']}" for name in jobs]
    refused = [f"{root}/secrets", f"{root}/signing-secrets", "/v1/keys"]
    return {each: json.dumps(reader.call("GET", each).body) for each in (*paths, *refused)}


def test_no_credential_is_found_in_a_store_a_log_a_dead_letter_or_an_answer(
    stack: Mapping[str, Any], client: Client, schedule: Schedule, letters: str
) -> None:
    seed = token_hex(16)
    keys = Keys.made(client, schedule.namespace)
    signing = client.signing_secrets(schedule.namespace)
    secret_path = f"/v1/namespaces/{schedule.namespace}/secrets/token"
    client.ask("PUT", secret_path, {"value": f"Bearer value{seed}"})
    refused = client.call("PUT", secret_path, {"value": f"invalid{seed}\n"})
    with Client(client.api_url, f"sh_unknown_wrong{seed}") as stranger:
        assert stranger.call("GET", "/v1/me").status == 403
    with Repeater() as consumer, keys.holder("write") as writer:
        for name, completion in (("async", "async"), ("failing", "sync")):
            job = {
                "dueTime": "1s",
                "completion": completion,
                "target": {
                    "type": "http",
                    "url": consumer.url(f"/{name}"),
                    "headers": {"authorization": {"secretRef": "token"}, "x-last": f"plain{seed}"},
                },
                "data": {"of": f"data{seed}"},
                "deadLetterQueue": letters,
            }
            writer.ask("PUT", schedule.path(name), job)
        failed = schedule.state_of("failing", "failed")
        running = schedule.state_of("async", "running")
        letter = eventually(queue_reader(stack, letters), lambda _: True)
        (accepted,) = consumer.deliveries("/async")
        token = accepted.headers["sweephand-run-token"]
        assert accepted.headers["authorization"] == f"Bearer value{seed}"
        of_consumer, run_path = schedule.consumer_of(accepted)
        with of_consumer:
            of_consumer.ask("POST", f"{run_path}/heartbeat")
    assert json.loads(failed["answer"]) == {"authorization": "[secret]"}
    assert json.loads(running["answer"]) == {"sweephand-run-token": "[secret]", "authorization": "[secret]"}

    kept = Kept(stack)
    logged = dict(kept.lines())
    with keys.holder("read") as reader:
        shown = reads(reader, schedule, ["async", "failing"])
    stored = dict(items_without_tokens(stack))
    found = stored | dict(kept.payloads()) | logged | shown
    found |= {"dead letter": str(letter), "refusal": json.dumps(refused.body)}
    hidden = [*keys.texts.values(), stack["apiKey"], *signing, token]
    parts = [*(each.rpartition("_")[2] for each in hidden)]
    parts += [f"value{seed}", f"invalid{seed}", f"wrong{seed}"]
    assert all(len(each) > 20 for each in parts)
    assert [place for place, text in found.items() if any(part in text for part in parts)] == []
    assert [place for place, text in logged.items() if f"data{seed}" in text or f"plain{seed}" in text] == []
    assert [place for place, text in shown.items() if f"plain{seed}" in text] == []

    # What was looked for was looked for in the right places.
    for function in ("/api ", "/authorizer ", "/deliver "):
        assert any(function in place for place in logged), function
    assert any(f"data{seed}" in text for text in shown.values())
    assert schedule.namespace in found["dead letter"]
    assert any(f"plain{seed}" in text for text in stored.values())
    for key in keys.texts.values():
        digest = sha256(key.rpartition("_")[2].encode()).hexdigest()
        assert any(digest in text for text in stored.values())
