"""The applications of docs/receivers.md receive the deliveries of a stack."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import simplejson
import urllib3
from tests.e2e.applications import SERVED, Application, served
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.test_targets import Cloud
from tests.fakes.receivers_page import FRAMEWORKS, text_of

import sweephand_client

INVOICES: Final = {"customers": [7, 8]}

#: How long a busy machine may take.
PATIENCE_S: Final = 90

#: A handler of a function that works for long, as far as a test waits for it.
CONVERTS: Final = """

@receiver.on("convert")
def convert(run):
    with run.beating():
        return {"pages": len(run.data["pages"])}
"""


@pytest.fixture(params=SERVED)
def application(request: pytest.FixtureRequest, namespace: str) -> Iterator[Application]:
    """The application of a framework. The test sets the environment before the first delivery comes."""
    with served(request.param, namespace) as application:
        yield application


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names neither a stack nor secrets."""
    for name in ("URL", "KEY", "SIGNING_SECRET"):
        monkeypatch.delenv(f"SWEEPHAND_{name}", raising=False)
    return monkeypatch


def made(schedule: Schedule, application: Application) -> str:
    """The answer of the application to the job `invoices`."""
    schedule.put("invoices", dueTime="1s", target=application.target, data=INVOICES)
    answer: str = schedule.state_of("invoices", "succeeded")["answer"]
    return answer


def test_an_application_receives_with_the_signing_secret_alone(
    schedule: Schedule, application: Application, environment: pytest.MonkeyPatch
) -> None:
    secrets = schedule.client.signing_secrets(schedule.namespace)
    environment.setenv("SWEEPHAND_SIGNING_SECRET", " ".join(secrets))
    assert made(schedule, application) == '{"made": 2}'
    assert urllib3.request("POST", application.url, body=b"{}").status == 401


def test_an_application_fetches_the_secrets_with_an_admin_key(
    schedule: Schedule, application: Application, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("SWEEPHAND_URL", schedule.client.api_url)
    environment.setenv("SWEEPHAND_KEY", str(schedule.client.api_key))
    assert made(schedule, application) == '{"made": 2}'


def test_an_application_without_a_key_works_long_and_reports_by_callbacks(
    schedule: Schedule, application: Application, environment: pytest.MonkeyPatch
) -> None:
    schedule.client.ask("POST", f"/v1/namespaces/{schedule.namespace}/signing-keys")
    environment.setenv("SWEEPHAND_URL", schedule.client.api_url)
    may_end = threading.Event()
    application.names["converted"] = lambda data, _: len(data) if may_end.wait(PATIENCE_S) else 0
    exec(text_of("ACCEPTED"), application.names)  # noqa: S102 - a page of ours

    fields = {"completion": "async", "heartbeatTimeout": "6s", "data": ["a", "b"]}
    schedule.put("convert", dueTime="1s", target=application.target, **fields)
    first = schedule.state_of("convert", "running")
    eventually(lambda: [schedule.runs("convert")[0]], lambda run: run["heartbeatBy"] > first["heartbeatBy"])
    may_end.set()
    run = schedule.state_of("convert", "succeeded")
    assert (run["result"], run["attempts"]) == ({"pages": 2}, 1)


@pytest.fixture
def cloud(stack: Mapping[str, Any], namespace: str) -> Cloud:
    return Cloud(stack, f"my-{namespace}")


@pytest.fixture
def function(cloud: Cloud, schedule: Schedule) -> str:
    """The ARN of a function: the page's application, and those packages that a receiver imports."""
    page = text_of(FRAMEWORKS["Lambda"]).replace('"billing"', repr(schedule.namespace))
    files = {"consumer.py": (page + CONVERTS).encode()}
    for package in (sweephand_client, simplejson, urllib3):
        home = Path(str(package.__file__)).parent
        files |= {each.relative_to(home.parent).as_posix(): each.read_bytes() for each in home.rglob("*.py")}
    return cloud.function("consumer.handler", files, {"SWEEPHAND_URL": schedule.client.api_url})


def test_the_application_in_a_function_gets_invocations_and_messages(
    schedule: Schedule, cloud: Cloud, function: str, letters: str
) -> None:
    target = {"type": "lambda", "functionArn": function, "invocation": "sync", "timeout": "30s"}
    schedule.put("invoices", dueTime="1s", target=target, data=INVOICES)
    assert schedule.state_of("invoices", "succeeded")["answer"] == '{"made": 2}'

    asked = cloud.client("sqs").get_queue_attributes(QueueUrl=letters, AttributeNames=["QueueArn"])
    cloud.client("lambda").create_event_source_mapping(
        EventSourceArn=asked["Attributes"]["QueueArn"],
        FunctionName=function,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )
    target = {"type": "sqs", "queueUrl": letters}
    schedule.put("convert", dueTime="1s", completion="async", target=target, data={"pages": [1, 2]})
    assert schedule.state_of("convert", "succeeded")["result"] == {"pages": 2}
