"""A consumer that reads CloudEvents receives triggers, and verifies them as any other delivery."""

from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import Webhook
from tests.fakes import webhooks
from tests.fakes.consumer import LINKED, ORIGIN, SECRET, Consumer, Request, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.world import NOON

from sweephand.base.instants import to_datetime
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Attempt
from sweephand.model.job import JobKey
from sweephand.model.run_id import BatchEnd, Counts
from sweephand.model.trigger import NotifyMessage
from sweephand.runs.notification import body_of

FORMATS = ["cloudevents", "cloudevents-binary"]

END = NotifyMessage(attempt_of({}).trigger, "succeeded", 1, NOON, NOON, 200, None, NOON)


def delivered(attempt: Attempt) -> Request:
    """The request that a consumer receives for that attempt, with its own URL in place of the attempt's."""
    with Consumer() as consumer:
        spec = {**consumer.spec(), **attempt.spec}
        assert HttpTargets(HandClock(), allow_insecure=True).deliver(attempt._replace(spec=spec)).succeeded
        (request,) = consumer.requests
    return request


def event_of(request: Request) -> Any:
    """The event as the SDK of CloudEvents reads it."""
    return from_http_event(HTTPMessage(headers=request.headers, body=request.body))


@pytest.mark.parametrize("form", FORMATS)
def test_the_sdk_reads_the_trigger_and_its_data(form: str) -> None:
    request = delivered(attempt_of({"format": form}, '{"task":"ü","n":[1]}'.encode()))
    event = event_of(request)
    assert event.get_attributes() == {
        "specversion": "1.0",
        "id": "uuuuuuuuuuuuuuuu-1795262400250-3",
        "source": "/sweephand/team",
        "type": "sweephand.trigger",
        "subject": "nightly",
        "time": datetime(2026, 11, 21, 12, 0, 0, 250_000, UTC),
        "datacontenttype": "application/json",
        "sweephandrun": "1795262400250-3",
        "sweephandattempt": "2",
    }
    assert event.get_data() == {"task": "ü", "n": [1]}
    assert request.headers["sweephand-job"] == "nightly"


@pytest.mark.parametrize("form", FORMATS)
def test_an_event_has_the_extension_of_distributed_tracing(form: str) -> None:
    request = delivered(attempt_of({"format": form})._replace(origin=ORIGIN))
    assert webhooks.check_received(request.headers, request.body) == "trigger"
    attributes = event_of(request).get_attributes()
    assert attributes["traceparent"] == request.headers["traceparent"] == LINKED["traceparent"]
    assert attributes["sweephandtraceorigin"] == LINKED["traceOrigin"]


@pytest.mark.parametrize("form", FORMATS)
def test_the_signature_covers_the_body_as_it_is_sent(form: str) -> None:
    attempt = attempt_of({"format": form})
    request = delivered(attempt)
    signature = Webhook(SECRET).sign(attempt.id, to_datetime(attempt.sent_at), request.body.decode())
    assert request.headers["webhook-signature"] == signature


def test_a_structured_event_keeps_the_numbers_of_the_data() -> None:
    request = delivered(attempt_of({"format": "cloudevents"}, b'{"n":1.10,"big":123456789012345678901}'))
    assert request.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert request.body.endswith(b',"data":{"n":1.10,"big":123456789012345678901}}')


def test_a_binary_event_has_the_data_as_its_body() -> None:
    request = delivered(attempt_of({"format": "cloudevents-binary"}, b"[1.10]"))
    assert (request.body, request.headers["content-type"]) == (b"[1.10]", "application/json")


@pytest.mark.parametrize("form", FORMATS)
def test_the_end_of_a_run_is_an_event_of_its_own(form: str) -> None:
    event = event_of(delivered(attempt_of({"format": form}, body_of(END))._replace(ended_after=2)))
    assert event.get_type() == "sweephand.end"
    assert event.get_id() == "uuuuuuuuuuuuuuuu-1795262400250-3-end-2"


@pytest.mark.parametrize("form", FORMATS)
def test_the_end_of_a_batch_names_the_batch_instead_of_a_run(form: str) -> None:
    body = body_of(END._replace(batch_end=BatchEnd(1, Counts(1), overran=False)))
    made = attempt_of({"format": form}, body)._replace(ended_after=1, ends_batch=True)
    event = event_of(delivered(made))
    assert event.get_type() == "sweephand.batch-end"
    assert event.get_id() == "uuuuuuuuuuuuuuuu-1795262400250-batch-end"
    assert event.get_attributes()["sweephandbatch"] == "1795262400250"
    assert "sweephandrun" not in event.get_attributes()


@pytest.mark.parametrize("form", FORMATS)
def test_every_name_of_a_job_is_a_valid_source_and_subject(form: str) -> None:
    attempt = attempt_of({"format": form})
    key = JobKey("A.z_~:@+=-0", "a~b:@+=")
    event = event_of(delivered(attempt._replace(trigger=attempt.trigger._replace(key=key))))
    assert (event.get_source(), event.get_subject()) == ("/sweephand/A.z_~:@+=-0", "a~b:@+=")
