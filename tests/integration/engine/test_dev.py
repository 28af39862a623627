"""`sweephand dev` in this process: the API, the deliveries and the inbox, over real HTTP on loopback."""

import json
import socket
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3
from infra.local.client import Client, RefusedError

from sweephand_engine.dev import Development
from sweephand_engine.journal import FileJournal, Journal
from sweephand_engine.server import Server

JOBS = "/v1/namespaces/demo/jobs"


@contextmanager
def serving(journal: Journal | None = None, *, allow_outbound: bool = False) -> Iterator[Development]:
    server = Server(0)
    development = Development(server, journal or Journal(), allow_outbound=allow_outbound)
    development.serve()
    try:
        yield development
    finally:
        development.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Development]:
    """A stack for the tests that disturb no other."""
    with serving() as development:
        yield development


@pytest.fixture
def dev(shared: Development) -> Development:
    """The same, with an inbox without anything unread."""
    shared.site.inbox.inbox.next(0)
    return shared


@pytest.fixture
def client(dev: Development) -> Iterator[Client]:
    with Client(dev.server.url, dev.key) as client:
        yield client


def put(client: Client, name: str, target: dict[str, Any], **more: Any) -> Any:
    return client.ask("PUT", f"{JOBS}/{name}", {"dueTime": "0s", "target": target, **more})


def states(client: Client, name: str) -> list[str]:
    """The states of the runs of a job. Its first run is stored after the consumer has answered."""
    return [each["state"] for each in client.ask("GET", f"{JOBS}/{name}/runs")["items"]]


def to_inbox(dev: Development, path: str = "") -> dict[str, Any]:
    return {"type": "http", "url": f"{dev.server.url}/inbox{path}"}


def inbox(dev: Development, path: str = "/next", **headers: str) -> str:
    """A page of the inbox."""
    return get(dev, f"/inbox{path}", **headers).data.decode()


def get(dev: Development, path: str, **headers: str) -> urllib3.BaseHTTPResponse:
    return urllib3.request("GET", f"{dev.server.url}{path}", headers=headers, redirect=False, timeout=60)


def test_a_job_is_delivered_to_the_inbox_signed(dev: Development, client: Client) -> None:
    put(client, "hello", to_inbox(dev, "/hello"), data={"hello": "world"})

    head, line = inbox(dev).splitlines()

    assert head.split() == ["arrived", "late", "attempt", "job", "to"]
    assert line.endswith(' 1    hello                        /inbox/hello  {"hello":"world"}'), line
    assert line in inbox(dev, "")


def test_a_delivery_that_a_secret_of_its_target_has_signed_is_shown_with_its_names(
    dev: Development, client: Client
) -> None:
    value = "whsec_" + b64encode(bytes(range(32))).decode()
    client.ask("PUT", "/v1/namespaces/demo/secrets/own", {"value": value})
    put(client, "hello", {**to_inbox(dev, "/own"), "signingSecret": {"secretRef": "own"}})
    assert inbox(dev).endswith(" hello                        /inbox/own  null\n")


def test_the_run_of_a_delivery_has_succeeded(dev: Development, client: Client) -> None:
    put(client, "seen", to_inbox(dev))
    inbox(dev)

    within(lambda: states(client, "seen") == ["succeeded"])


@pytest.mark.parametrize("namespace", ["demo", "unknown", "n" * 5_000, "not a name"])
def test_a_request_that_nobody_signed_is_shown_as_such(dev: Development, namespace: str) -> None:
    headers = {"sweephand-namespace": namespace, "sweephand-due": "no time", "sweephand-batch-index": "x"}
    urllib3.request("POST", f"{dev.server.url}/inbox/by-hand", body=b"x", headers=headers)
    assert "/inbox/by-hand   WRONG SIGNATURE  x" in inbox(dev)
    assert namespace == "demo" or dev.engine.stores.secrets.get(namespace[:100]) is None


@pytest.mark.parametrize(
    ("target", "expected", "field"),
    [
        (
            {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"},
            "sqs SendMessage",
            "MessageBody",
        ),
        (
            {"type": "lambda", "functionArn": "arn:aws:lambda:eu-west-1:123456789012:function:orders"},
            "lambda Invoke",
            "Payload",
        ),
        (
            {"type": "sns", "topicArn": "arn:aws:sns:eu-west-1:123456789012:orders"},
            "sns Publish",
            "Message",
        ),
        (
            {"type": "eventbridge", "busArn": "arn:aws:events:eu-west-1:123456789012:event-bus/orders"},
            "events PutEvents",
            "Entries",
        ),
        (
            {
                "type": "stepfunctions",
                "stateMachineArn": "arn:aws:states:eu-west-1:123456789012:stateMachine:orders",
            },
            "stepfunctions StartExecution",
            "input",
        ),
    ],
    ids=["sqs", "lambda", "sns", "eventbridge", "stepfunctions"],
)
def test_what_aws_would_have_got_arrives_in_the_inbox(
    dev: Development, client: Client, target: dict[str, Any], expected: str, field: str
) -> None:
    put(client, f"to-{target['type']}", target, data={"order": 7})

    line = inbox(dev).splitlines()[1]

    assert f" 1    to-{target['type']} " in line
    _, _, shown = line.partition(f"{expected}  ")
    assert "order" in json.dumps(json.loads(shown)[field])
    within(lambda: states(client, f"to-{target['type']}") == ["succeeded"])


def test_an_address_of_another_machine_is_refused_with_what_to_do(client: Client) -> None:
    with pytest.raises(RefusedError, match="not this machine: only `sweephand dev --allow-outbound`"):
        put(client, "outside", {"type": "http", "url": "http://8.8.8.8/"})


def test_an_address_of_another_machine_is_accepted_if_that_is_allowed() -> None:
    with serving(allow_outbound=True) as dev, Client(dev.server.url, dev.key) as client:
        url = "http://198.18.0.1/"
        job = {"dueTime": "1h", "target": {"type": "http", "url": url}}
        refused = client.call("PUT", f"{JOBS}/private", job)
        accepted = client.call(
            "PUT", f"{JOBS}/outside", job | {"target": {"type": "http", "url": "http://8.8.8.8/"}}
        )
    assert (refused.status, accepted.status) == (422, 201)


def test_a_policy_lets_one_through_after_the_other(dev: Development, client: Client) -> None:
    client.ask("PUT", "/v1/namespaces/demo/policies/single", {"maxConcurrent": 1})
    names = {f"limited-{number}" for number in range(5)}
    for name in names:
        put(client, name, to_inbox(dev, f"/{name}"), policy="single")

    within(lambda: names <= {each.names.get("job") for each in dev.site.inbox.inbox.arrivals()})


def test_the_stack_is_healthy_from_the_beginning(dev: Development) -> None:
    assert get(dev, "/v1/health").status == 200


def test_a_request_without_a_good_key_is_refused_as_api_gateway_refuses_it(dev: Development) -> None:
    without, wrong = get(dev, "/v1/limits"), get(dev, "/v1/limits", authorization="Bearer sh_admin_wrong")
    assert (without.status, without.json()) == (401, {"message": "Unauthorized"})
    assert (wrong.status, wrong.json()) == (403, {"message": "Forbidden"})


def test_the_console_and_the_page_of_the_api_are_shown(dev: Development) -> None:
    home = get(dev, "/")
    assert (home.status, home.headers["location"]) == (302, "/console")
    assert "<html" in get(dev, "/console").data.decode()
    assert get(dev, "/docs").status == 200


def test_the_page_that_signs_a_browser_in_is_shown_once(dev: Development) -> None:
    path = dev.site.opened_at
    first, second = get(dev, path), get(dev, path)
    assert (first.status, first.headers["cache-control"]) == (200, "no-store")
    assert dev.key in first.data.decode()
    assert second.status == 404
    assert dev.key not in second.data.decode()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_gets_no_answer(dev: Development, headers: dict[str, str]) -> None:
    assert [get(dev, path, **headers).status for path in ("/inbox", "/console", "/v1/health")] == [403] * 3


def test_a_body_without_a_length_or_of_too_many_bytes_is_refused(dev: Development) -> None:
    url = f"{dev.server.url}{JOBS}/big"
    chunked = urllib3.request("PUT", url, body=iter([b"{}"]))
    long = urllib3.request("PUT", url, body=b"", headers={"content-length": "99999999"})
    assert (chunked.status, long.status) == (411, 413)


def test_a_request_that_breaks_off_within_its_body_has_no_effect(dev: Development, client: Client) -> None:
    client.ask("PUT", f"{JOBS}/asked", {"target": to_inbox(dev)})
    head = f"POST {JOBS}/asked/trigger HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {dev.key}\r\n"
    with socket.create_connection(("127.0.0.1", dev.server.server_address[1])) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert states(client, "asked") == []


def test_a_second_start_finds_the_jobs_the_key_and_what_waits(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "store", pytest.fail)
    first = Development(Server(0), journal, allow_outbound=False)
    headers = {"authorization": f"Bearer {first.key}", "content-type": "application/json"}
    jobs = {"nightly": {"schedule": "0 3 * * *"}, "soon": {"dueTime": "0s"}}
    for name, when in jobs.items():
        body = json.dumps({**when, "target": {"type": "sns", "topicArn": TOPIC}}).encode()
        # The threads that deliver were not started.
        assert first.site.gateway.answer("PUT", f"{JOBS}/{name}", headers, body).status == 201
    first.server.server_close()
    journal.close()

    with (
        serving(FileJournal(tmp_path / "store", pytest.fail)) as dev,
        Client(dev.server.url, first.key) as client,
    ):
        assert client.ask("GET", f"{JOBS}/nightly")["schedule"] == "0 3 * * *"
        assert "soon" in inbox(dev)


def test_once_the_disk_is_full_no_request_succeeds_any_more_and_the_answer_says_why(tmp_path: Path) -> None:
    told: list[str] = []
    journal = FileJournal(tmp_path / "store", told.append)
    job = {"schedule": "0 3 * * *", "target": {"type": "sns", "topicArn": TOPIC}}
    with serving(journal) as dev, Client(dev.server.url, dev.key) as client:
        client.ask("PUT", f"{JOBS}/before", job)
        # SQLite refuses a page more than this with the error of a full disk.
        journal._database.execute("PRAGMA max_page_count = 1")
        names = (f"job-{number}" for number in range(1_000))
        name, refused = next(
            (name, answer)
            for name in names
            if (answer := client.call("PUT", f"{JOBS}/{name}", job)).status != 201
        )
        # The job is in the memory, and so a repetition would find it unchanged.
        later = [client.call("PUT", f"{JOBS}/{name}", job), client.call("GET", f"{JOBS}/before")]

    assert [each.status for each in (refused, *later)] == [503] * 3
    assert "its disk is full: free some space" in told[0]
    assert {each.body["detail"] for each in (refused, *later)} == {told[0]}


TOPIC = "arn:aws:sns:eu-west-1:123456789012:orders"


def within(holds: Callable[[], bool]) -> None:
    """Wait until it holds. Fails after half a minute."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it does not hold"
        time.sleep(0.01)
