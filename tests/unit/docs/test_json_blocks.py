"""Each block of JSON of the documentation is what the API takes, or what Sweephand sends."""

import json
import re
from typing import Any, Final

import jsonschema
import pytest
from tests.fakes.curl import read_curl
from tests.fakes.http_events import TARGET, Client, document
from tests.fakes.world import World
from tests.unit.docs.blocks import Block, all_blocks, blocks
from tests.unit.docs.test_examples import VARIABLES

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.model.job import JobKey
from sweephand.model.run_id import BatchEnd, Counts
from sweephand.model.trigger import NotifyMessage, Trigger
from sweephand.model.watch import Alert
from sweephand.runs.notification import body_of

BLOCKS: Final = all_blocks("json")

#: What an admin of the example stack lets jobs reach.
LISTED: Final = {
    "TargetFunctionArns": ("*",),
    "TargetTopicArns": ("*",),
    "TargetBusArns": ("*",),
    "TargetStateMachineArns": ("*",),
    "TargetRoleArns": ("*",),
}

#: The answers of the API, by a field that no other block has, and their names in the OpenAPI document.
ANSWERS: Final = {
    "bucketSeconds": "ForecastResponse",
    "estimatedEndAt": "BatchResponse",
    "stepSeconds": "StatsResponse",
    "verdict": "ExplainResponse",
}

#: Answers that the page shows right after the request.
EXACT: Final = ("occurrences",)

NOTIFICATION: Final = NotifyMessage(
    trigger=Trigger(JobKey("demo", "job"), "uid", "rev", 1_795_262_400_000, 1, 0),
    state="failed",
    attempts=3,
    started_at=1,
    ended_at=2,
    response_code=503,
    reason="because",
    not_before=2,
)
#: What Sweephand sends to `onComplete` and `onAlert`, by a field that no other block has.
SENT: Final = {
    "triggerId": NOTIFICATION,
    "batchId": NOTIFICATION._replace(batch_end=BatchEnd(3, Counts(1, 1, 1), overran=True)),
    "alertId": NOTIFICATION._replace(alert=Alert(0, 1, 1, 1)),
}


def kind_of(value: dict[str, Any]) -> str:
    """What a block shows."""
    for kind, fields in (("answer", ANSWERS), ("exact", EXACT), ("sent", SENT)):
        if set(fields) & set(value):
            return kind
    if "Effect" in value or "Statement" in value:
        return "policy of IAM"
    if str(value.get("type", "")).startswith("urn:"):
        return "problem"
    return "target" if "type" in value else "job"


def of_kind(kind: str) -> list[Any]:
    """The blocks of a kind, as the parameters of a test."""
    return [
        pytest.param(each, json.loads(each.text), id=each.place)
        for each in BLOCKS
        if kind_of(json.loads(each.text)) == kind
    ]


def shape(value: Any) -> Any:
    """The names and the types of the fields of a value."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    return type(value)


@pytest.fixture
def client() -> Client:
    """An API that permits all that the pages show."""
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    client = Client(world, listed=LISTED)
    settings = {"limits": {}, "defaultTarget": {"type": "http", "url": "https://app.example.com"}}
    assert client.send("PUT", "/v1/namespaces/ns", settings).status == 200
    # Every process knows the settings of a namespace after this time.
    world.clock.time += NAMESPACE_AGE_MAX_MS
    assert client.send("PUT", "/v1/namespaces/ns/policies/mailer", {"maxConcurrent": 5}).status == 201
    return client


@pytest.mark.parametrize(("block", "job"), of_kind("job"))
def test_the_api_accepts_the_job_of_a_page(client: Client, block: Block, job: dict[str, Any]) -> None:
    chained = job.get("onComplete", {})
    answer = client.put("job", {"target": TARGET, **job})
    assert answer.status == 201, (block.place, answer)
    assert chained.items() <= client.get().json.get("onComplete", {}).items()


@pytest.mark.parametrize(("block", "target"), of_kind("target"))
def test_the_api_accepts_the_target_of_a_page(client: Client, block: Block, target: dict[str, Any]) -> None:
    answer = client.put("job", {"schedule": "@daily", "target": target})
    assert answer.status == 201, (block.place, answer)


@pytest.mark.parametrize(("block", "shown"), of_kind("exact"))
def test_the_api_answers_what_a_page_shows_below_its_request(
    client: Client, block: Block, shown: dict[str, Any]
) -> None:
    *_, request = (
        each for each in blocks(block.page, "sh") if each.number < block.number and "curl " in each.text
    )
    asked = read_curl(request.text.strip(), VARIABLES)
    answer = client.send(asked.method, asked.url, text=asked.body, headers=asked.headers)
    assert json.loads(answer.text or "") == shown


@pytest.mark.parametrize(("block", "shown"), of_kind("answer"))
def test_an_answer_of_a_page_is_one_of_the_api(block: Block, shown: dict[str, Any]) -> None:
    schemas = document()["components"]["schemas"]
    (name,) = (name for field, name in ANSWERS.items() if field in shown)
    jsonschema.Draft202012Validator(
        {**schemas[name], "additionalProperties": False, "components": {"schemas": schemas}}
    ).validate(shown)
    assert schemas[name]["required"], block.place


@pytest.mark.parametrize(("block", "shown"), of_kind("problem"))
def test_the_api_answers_the_problem_of_a_page(client: Client, block: Block, shown: dict[str, Any]) -> None:
    answer = client.put("job", {"schedule": "61 * * * *", "target": TARGET}).json
    # Each problem also names the request.
    assert {name: answer[name] for name in shown} == shown, block.place


@pytest.mark.parametrize(("block", "shown"), of_kind("sent"))
def test_what_a_page_shows_as_sent_has_the_fields_of_what_is_sent(
    block: Block, shown: dict[str, Any]
) -> None:
    (message,) = (message for field, message in SENT.items() if field in shown)
    sent = json.loads(body_of(message))
    assert list(shown) == list(sent), block.place
    if "lastRun" in shown:
        shown["lastRun"]["reason"] = "because"
    assert shape(shown) == shape(sent)


@pytest.mark.parametrize(("block", "statement"), of_kind("policy of IAM"))
def test_a_policy_of_a_page_names_actions_of_aws(block: Block, statement: dict[str, Any]) -> None:
    for each in statement.get("Statement", [statement]):
        assert each["Effect"] == "Allow", block.place
        actions = each["Action"] if isinstance(each["Action"], list) else [each["Action"]]
        assert all(re.fullmatch(r"[a-z0-9-]+:[A-Z]\w+\*?", action) for action in actions)
        assert {"Resource", "Principal"} & set(each)


def test_every_kind_of_block_is_there() -> None:
    kinds = {kind_of(json.loads(each.text)) for each in BLOCKS}
    assert kinds == {"job", "target", "exact", "answer", "problem", "sent", "policy of IAM"}
