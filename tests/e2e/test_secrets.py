"""Secrets reach consumers through the deployed template, and nothing but their own items has their values."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from secrets import token_bytes
from typing import Any, Final

import urllib3
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from infra.local.client import Client
from infra.local.deploy import session
from standardwebhooks.webhooks import Webhook
from tests.e2e.logs import lines
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.test_delivery import queue_reader
from tests.fakes.receiver import Answer, Delivery, Receiver


@dataclass(frozen=True)
class Values:
    """Values made from a seed, which no other test or earlier run has left anywhere."""

    seed: bytes

    @property
    def token(self) -> str:
        return f"Bearer sk_{self.seed.hex()}"

    @property
    def hmac(self) -> str:
        return "whsec_" + b64encode(self.seed[::-1]).decode()

    @property
    def private(self) -> str:
        """An ed25519 key, made by another library than the stack's."""
        return "whsk_" + b64encode(self.seed + self.public).decode()

    @property
    def public(self) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()

    @property
    def parts(self) -> tuple[str, ...]:
        """What must be found nowhere."""
        return tuple(each.partition("_")[2] for each in (self.token, self.hmac, self.private))


#: The items that hold values: secrets that jobs name, and the namespaces' own.
HOLDERS: Final = ("named-secrets#", "secrets#")


def put_secret(schedule: Schedule, name: str, value: str) -> None:
    schedule.client.ask("PUT", f"/v1/namespaces/{schedule.namespace}/secrets/{name}", {"value": value})


def verify(public: bytes, delivery: Delivery, signature: str) -> None:
    """Raises InvalidSignature unless the signature of the delivery is by the key."""
    scheme, _, text = signature.partition(",")
    content = f"{delivery.headers['webhook-id']}.{delivery.headers['webhook-timestamp']}.".encode()
    Ed25519PublicKey.from_public_bytes(public).verify(b64decode(text), content + delivery.body)
    assert scheme == "v1a"


@dataclass(frozen=True)
class Kept:
    """All that a stack stores and logs, each text with its place."""

    stack: Mapping[str, Any]

    def client(self, service: str) -> Any:
        make: Any = session().client
        return make(service, endpoint_url=self.stack["awsEndpointUrl"])

    def items(self) -> Iterator[tuple[str, str]]:
        """The items of both tables, but those that hold values."""
        pages = self.client("dynamodb").get_paginator("scan")
        for table in self.stack["tables"].values():
            for page in pages.paginate(TableName=table, ConsistentRead=True):
                for item in page["Items"]:
                    if not item["pk"]["S"].startswith(HOLDERS):
                        yield f"{table} {item['pk']['S']} {item['sk']['S']}", str(item)

    def payloads(self) -> Iterator[tuple[str, str]]:
        s3 = self.client("s3")
        for bucket in s3.list_buckets()["Buckets"]:
            for entry in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", ()):
                if entry["Size"] < 1_000_000:  # not the code of the functions
                    body = s3.get_object(Bucket=bucket["Name"], Key=entry["Key"])["Body"].read()
                    yield f"{bucket['Name']} {entry['Key']}", body.decode(errors="replace")

    def lines(self) -> Iterator[tuple[str, str]]:
        """The lines of every log."""
        for number, line in enumerate(lines(self.stack)):
            yield f"{line.group} {number}", line.text


def test_a_secret_is_sent_and_is_found_nowhere_though_the_consumer_repeats_it_and_the_run_fails(
    stack: Mapping[str, Any], schedule: Schedule, receiver: Receiver, letters: str
) -> None:
    values = Values(token_bytes(32))
    for name, value in (("token", values.token), ("hmac", values.hmac), ("key", values.private)):
        put_secret(schedule, name, value)
    for path, own in (("/failing", values.private), ("/end", values.hmac)):
        repeated = json.dumps({"refused": values.token, "own": own}).encode()
        receiver.answer(path, *[Answer(500, body=repeated)] * 20)
    schedule.put(
        "failing",
        dueTime="2s",
        target={
            "type": "http",
            "url": receiver.url("/failing"),
            "headers": {"authorization": {"secretRef": "token"}},
            "signingSecret": {"secretRef": "key"},
        },
        onComplete={
            "type": "http",
            "url": receiver.url("/end"),
            "headers": {"x-token": {"secretRef": "token"}},
            "signingSecret": {"secretRef": "hmac"},
        },
        data={"padding": "x" * 3_000},
        retry={"maxAttempts": 2, "initialDelay": "0s"},
        deadLetterQueue=letters,
    )
    put_secret(schedule, "hmac", Values(token_bytes(32)).hmac)  # the former value signs too
    run = schedule.state_of("failing", "failed")
    (first, _) = receiver.deliveries("/failing")
    assert first.headers["authorization"] == values.token
    verify(values.public, first, first.headers["webhook-signature"])
    (end, *_) = receiver.wait("/end", 1, within_s=90)
    assert end.headers["x-token"] == values.token
    Webhook(values.hmac).verify(end.body, dict(end.headers))
    assert run["answer"] == json.dumps({"refused": "[secret]", "own": "[secret]"})
    letter = eventually(queue_reader(stack, letters), lambda _: True)
    schedule.put("failing", dueTime="1h", target={"type": "http", "url": receiver.url("/other")})

    kept = Kept(stack)
    found = dict(chain(kept.items(), kept.payloads(), kept.lines()))
    assert any("[secret]" in text for text in found.values()), "no answer of the consumer was looked through"
    assert any("/deliver " in place for place in found), "no log was looked through"
    assert any("x" * 3_000 in text for text in found.values()), "no payload was looked through"
    found["dead letter"] = str(letter)
    for path in ("jobs/failing", "jobs", "jobs/failing/runs", "jobs/failing/changes", "secrets", ""):
        url = f"/v1/namespaces/{schedule.namespace}/{path}".rstrip("/")
        found[url] = json.dumps(schedule.client.ask("GET", url))
    assert [place for place, text in found.items() if any(part in text for part in values.parts)] == []


def test_a_missing_secret_fails_the_run_which_names_it_until_it_is_created_again(
    schedule: Schedule, receiver: Receiver
) -> None:
    put_secret(schedule, "token", "t-0123")
    target = {"type": "http", "url": receiver.url("/m"), "headers": {"x-token": {"secretRef": "token"}}}
    schedule.put("missing", dueTime="2s", target=target)
    schedule.client.call("DELETE", f"/v1/namespaces/{schedule.namespace}/secrets/token")
    run = schedule.state_of("missing", "failed")
    assert f"There is no secret token in namespace {schedule.namespace}" in run["reason"]
    put_secret(schedule, "token", "t-0123")
    schedule.client.ask("POST", f"{schedule.path('missing')}/runs/{run['id']}/redrive")
    (delivery,) = receiver.wait("/m", 1, within_s=90)
    assert delivery.headers["x-token"] == "t-0123"


def test_public_keys_need_no_api_key_and_verify_what_the_namespace_signs(
    client: Client, schedule: Schedule, receiver: Receiver
) -> None:
    path = f"/v1/namespaces/{schedule.namespace}/signing-keys"
    for _ in range(2):
        client.ask("POST", path)
    shown = urllib3.request("GET", f"{client.api_url}{path}", timeout=30, retries=False)
    keys = [b64decode(each["key"].removeprefix("whpk_")) for each in shown.json()["items"]]
    schedule.put("signed", dueTime="2s", target={"type": "http", "url": receiver.url("/signed")})
    (delivery,) = receiver.wait("/signed", 1, within_s=90)
    assert delivery.is_signed  # by HMAC
    newer, older = delivery.headers["webhook-signature"].split(" ")[1:]
    verify(keys[0], delivery, newer)
    verify(keys[1], delivery, older)
    assert client.call("POST", path, headers={"authorization": "Bearer sh_no_key"}).status in (401, 403)
