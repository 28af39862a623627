"""The page that shows the API. Node runs the page's script, and the API runs the page's examples."""

import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.curl import read_curl
from tests.fakes.http_events import JOB, Client, document
from tests.fakes.world import World

from sweephand.access.authentication import Auth
from sweephand.model.timer import Heartbeat
from sweephand.web.http.operation import Operation
from sweephand.web.operations import OPERATIONS
from sweephand.web.routes import console as assets

_READER = Path(__file__).with_name("page.cjs")
SEARCHES = ["heartbeatTimeout", "Complete RUN", "neither here nor there", ""]
PARTS = ["#Jobs", "#putJob", "#Runs", "#getRun", "#main", "#nothing", ""]
TAGS = {each.tag for each in OPERATIONS}


@cache
def shown(auth: Auth = Auth(), href: str = "https://example.com/docs") -> Any:  # noqa: B008 - never changes
    """What a reader of the page at this address sees of the description."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node, which runs the page's script, is not installed")
    script = files("sweephand.web").joinpath("docs.js").read_text("utf-8")
    given = {"script": script, "searches": SEARCHES, "parts": PARTS}
    done = subprocess.run(  # noqa: S603 - our own page and description
        [node, _READER],
        input=json.dumps({**given, "api": document(auth), "href": href}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kinds(operation: str) -> dict[str, str]:
    """The kind of each parameter and field that the page shows of an operation, those of its body first."""
    rows = [row for row in shown()["rows"][operation] if row]
    return {row[0].split(" ")[0].removesuffix("required"): row[1] for row in reversed(rows)}


def test_the_page_shows_the_openapi_document() -> None:
    assert shown()["alerts"] == []


def test_every_operation_has_an_article_on_the_page_and_a_link_to_it() -> None:
    names = {each.name for each in OPERATIONS}
    assert set(shown()["articles"]) == names
    assert {f"#{name}" for name in names | TAGS} < set(shown()["links"])


def test_the_page_lists_the_forms_of_a_field_that_has_several() -> None:
    fields = kinds("putJob")
    assert fields["schedule"] == "text or object or list of time"
    assert fields["schedule.hour"] == "text or whole number"
    assert fields["target"] == "object"
    assert fields["target.url"] == "text"
    assert fields["retry.maxAttempts"] == "whole number"


def test_a_search_for_a_field_shows_that_field_alone_wherever_it_is() -> None:
    found = shown()["searched"]["heartbeatTimeout"]

    assert found["said"] == f"{len(found['shown'])} calls, {sum(map(len, found['shown'].values()))} fields"
    assert set(found["shown"]) >= {"putJob", "patchJob", "getJob", "listJobs"}
    assert "deleteJob" not in found["shown"]
    assert {name for fields in found["shown"].values() for name in fields} == {
        "heartbeatTimeout",
        "items[].heartbeatTimeout",
    }


def test_a_search_for_a_call_shows_all_of_it() -> None:
    found = shown()["searched"]["Complete RUN"]["shown"]

    rows = [row[0] for row in shown()["rows"]["completeRun"] if row]
    assert found["completeRun"] == rows
    assert "putJob" not in found or found["putJob"] != [row[0] for row in shown()["rows"]["putJob"] if row]


def test_a_search_without_a_match_shows_no_call_and_says_so() -> None:
    found = shown()["searched"]["neither here nor there"]

    assert found == {"said": "No call and no field matches.", "shown": {}, "links": 1}


def test_clearing_the_search_shows_the_page_again_from_which_it_began() -> None:
    found = shown()["searched"][""]

    assert found == {"said": "", "shown": {}, "links": len(OPERATIONS) + len(TAGS) + 1}


def test_the_page_shows_what_the_api_is_about_until_a_resource_is_chosen() -> None:
    for part in ("", "#main", "#nothing"):
        assert shown()["opened"][part] == {
            "shown": [],
            "about": True,
            "scrolledTo": None,
            "unfolded": [],
        }, part


def test_a_resource_has_a_page_and_each_of_its_calls_a_place_on_it() -> None:
    runs = [each.name for each in OPERATIONS if each.tag == "Runs"]
    for part, place in (("#Runs", None), ("#getRun", "getRun")):
        found = shown()["opened"][part]
        assert sorted(found["shown"]) == sorted(runs)
        assert (found["about"], found["scrolledTo"]) == (False, place)


def test_a_body_of_many_fields_is_folded_until_its_call_is_opened() -> None:
    fields = [row for row in shown()["rows"]["putJob"] if row and row[0].startswith("schedule")]
    assert fields
    assert shown()["opened"]["#Jobs"]["unfolded"] == []
    (unfolded,) = shown()["opened"]["#putJob"]["unfolded"]
    assert unfolded.startswith("Body: ")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_each_example_of_a_call_is_one_that_the_api_takes(operation: Operation) -> None:
    examples = shown()["examples"][operation.name]
    assert len(examples) == max(1, len(operation.accepts.examples) if operation.accepts else 1)
    for example in examples:
        world = World()
        world.flow_functions_max = 5
        world.counts_deliveries = True
        client = Client(world)
        client.send("PUT", "/v1/namespaces/demo/policies/mailer", {"maxConcurrent": 3})
        client.send("PUT", "/v1/namespaces/demo/calendars/fr", {})
        client.send("PUT", "/v1/namespaces/demo/secrets/api-token", {"value": "x"})
        client.send("PUT", "/v1/namespaces/demo/windows/nightly", {"schedule": "@daily", "duration": "1h"})
        client.send("POST", "/v1/namespaces/demo/signing-keys")
        for method in ("GET", "POST"):
            client.send(method, "/v1/namespaces/demo/signing-secrets")
        client.world.leases.beat(Heartbeat(client.world.clock.now()))
        client.send("PUT", "/v1/namespaces/demo/jobs/hello", JOB)
        run_id = client.send("POST", "/v1/namespaces/demo/jobs/hello/trigger").json["id"]
        variables = {"KEY": "sh_x", "RUN_TOKEN": "shr_x", "RUN": run_id, "KEY_ID": "x", "BATCH": "1"}
        variables["ASSET"] = assets.names()["app.js"]
        asked = read_curl(example, variables)

        answer = client.send(asked.method, asked.url, text=asked.body, headers=asked.headers)

        # A run that has just been asked for has no record yet, and there is no such key or batch.
        may_lack = {404, 409} if {"{runId}", "{id}", "{batchId}"} & set(operation.path.split("/")) else set()
        assert answer.status < 400 or answer.status in may_lack, answer


def test_an_example_carries_the_token_that_its_call_takes() -> None:
    for operation in OPERATIONS:
        for example in shown()["examples"][operation.name]:
            assert ("Bearer $RUN_TOKEN" in example) == (operation.access == "callback"), operation.name
            with_key = operation.access not in ("callback", "open")
            assert ("Bearer $KEY" in example) == with_key, operation.name


@pytest.mark.parametrize(
    ("auth", "href", "proof"),
    [
        (Auth("jwt", "ns", "role"), "https://example.com/docs", '-H "Authorization: Bearer $TOKEN"'),
        (
            Auth("iam"),
            "https://abc.execute-api.eu-west-1.amazonaws.com/docs",
            '--aws-sigv4 "aws:amz:eu-west-1:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"',
        ),
        (Auth("iam"), "https://example.com/docs", '--aws-sigv4 "aws:amz:$AWS_REGION:execute-api"'),
    ],
)
def test_an_example_proves_its_caller_as_the_mode_of_the_stack_asks(
    auth: Auth, href: str, proof: str
) -> None:
    page = shown(auth, href)
    assert page["alerts"] == []
    for operation in OPERATIONS:
        for example in page["examples"][operation.name]:
            assert ("Bearer $RUN_TOKEN" in example) == (operation.access == "callback"), operation.name
            assert (proof in example) == (operation.access not in ("callback", "open")), operation.name
            assert '$KEY"' not in example
