"""One module and one registration add a target type."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from tests.fakes import courier
from tests.fakes.doubles import HandClock
from tests.fakes.http_events import Client, document
from tests.fakes.targets import SECURE
from tests.fakes.world import NOON, World

from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType, targets
from sweephand.targets.registry import attempt_ms_max, registered, target_types

COURIER = {"type": "courier", "street": "Main street"}
JOB = {"dueTime": "10s", "target": COURIER, "data": "parcel"}


@pytest.fixture
def stack() -> Iterator[TargetsByType]:
    """The targets of a stack, while couriers are registered."""
    with registered(courier.TYPE):
        yield targets(HandClock(), SqsClients(), SECURE)


@pytest.fixture
def client(stack: TargetsByType) -> Client:
    """The API of a stack whose delivery function delivers to `stack`."""
    return Client(World(targets=stack))


def test_a_trigger_reaches_a_target_of_a_new_type(client: Client) -> None:
    street = courier.new_street()
    assert client.put(job={**JOB, "target": {"type": "courier", "street": street}}).status == 201
    client.world.run_until(NOON + 11_000)
    assert courier.mail(street) == [b'"parcel"']
    (run,) = client.send("GET", "/v1/namespaces/ns/jobs/job/runs").json["items"]
    assert run["state"] == "succeeded"


def test_the_end_of_a_run_reaches_it_too(client: Client) -> None:
    street = courier.new_street()
    assert client.put(job={**JOB, "onComplete": {"type": "courier", "street": street}}).status == 201
    client.world.run_until(NOON + 12_000)
    (notice,) = courier.mail(street)
    assert json.loads(notice)["state"] == "succeeded"


def test_the_adapter_of_a_new_type_is_made_once_from_the_stacks_settings(stack: TargetsByType) -> None:
    adapter = stack.adapter("courier")
    assert isinstance(adapter, courier.Couriers)
    assert adapter.stack.reach == SECURE
    assert stack.adapter("courier") is adapter


@pytest.mark.parametrize(
    ("job", "pointer", "detail"),
    [
        ({**JOB, "target": {"type": "courier"}}, "/target/street", "Give the name of a street."),
        (
            {"dueTime": "10s", "target": COURIER},
            "/target/street",
            "Give data: a courier does not ride for nothing.",
        ),
        (
            {**JOB, "target": {**COURIER, "url": "x"}},
            "/target/url",
            "Leave it out: courier takes type, street, bell.",
        ),
        (
            {**JOB, "data": "x" * 19},
            "/data",
            "21 bytes of compact JSON; for a target of type courier give at most 20 (courierDataBytesMax).",
        ),
        (
            {**JOB, "target": {"type": "couriers"}},
            "/target/type",
            f"Did you mean courier? Give the target's type: {', '.join(target_types())} or courier.",
        ),
    ],
)
def test_a_violation_comes_from_its_rules(client: Client, job: Any, pointer: str, detail: str) -> None:
    refused = client.put(job=job)
    assert refused.status == 422
    assert refused.json["errors"] == [{"pointer": pointer, "detail": detail}]


def test_the_openapi_document_describes_it(client: Client) -> None:
    schema = client.send("GET", "/v1/openapi.json").json["components"]["schemas"]
    described = schema["CourierTarget"]
    assert described["description"] == "A courier: it carries `data` to a street."
    assert list(described["properties"]) == ["type", "street", "bell"]
    assert described["required"] == ["type", "street"]
    for document_name, field in (("JobRequest", "target"), ("JobPatchRequest", "target")):
        assert "courier" in str(schema[document_name]["properties"][field])
    assert "courier" in str(schema["JobRequest"]["properties"]["onComplete"])
    jsonschema.validate(COURIER, described)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "courier"}, described)


def test_the_bounds_of_a_new_type_hold(client: Client) -> None:
    assert attempt_ms_max(COURIER) == 7_000
    assert client.send("GET", "/v1/limits").json["courierDataBytesMax"] == 20


def test_a_type_that_is_no_longer_registered_is_refused() -> None:
    with registered(courier.TYPE):
        assert Client().put(job=JOB).status == 201
        assert "CourierTarget" in document()["components"]["schemas"]
    assert "courier" not in Client().send("GET", "/v1/openapi.json").json["components"]["schemas"]
    assert "courier" not in str(document())
    assert "courierDataBytesMax" not in Client().send("GET", "/v1/limits").json
    refused = Client().put(job=JOB)
    known = "http, sqs, lambda, sns, eventbridge, stepfunctions or default"
    assert refused.json["errors"] == [
        {"pointer": "/target/type", "detail": f"Give the target's type: {known}."}
    ]


def test_a_stored_target_of_an_unknown_type_is_a_failed_attempt_that_names_the_type() -> None:
    with registered(courier.TYPE):
        client = Client(World(targets=targets(HandClock(), SqsClients(), SECURE)))
        client.put(job=JOB | {"retry": {"maxAttempts": 1}})
    client.world.run_until(NOON + 11_000)
    (run,) = client.send("GET", "/v1/namespaces/ns/jobs/job/runs").json["items"]
    assert (run["state"], run["lastFailure"]["reason"]) == (
        "failed",
        f"There is no target type 'courier'. The types are: {', '.join(target_types())}.",
    )
