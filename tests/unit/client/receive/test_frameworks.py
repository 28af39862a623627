"""Each framework's application receives the deliveries of a stack, through its own requests and answers."""

import asyncio
from typing import Any

import pytest
from django.urls import path
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from starlette.routing import Route
from tests.fakes.django_project import application

import sweephand_client.receive.django as of_django
import sweephand_client.receive.flask as of_flask
import sweephand_client.receive.starlette as of_starlette
from sweephand_client.receive import ACCEPTED, FinalError, Receiver, RetryAfter, Run
from sweephand_engine.testing import Stack


def fastapi_app(receiver: Receiver) -> Any:
    app = FastAPI()
    app.add_route("/sweephand", of_starlette.endpoint(receiver), methods=["POST"])
    return app


def starlette_app(receiver: Receiver) -> Any:
    return Starlette(routes=[Route("/sweephand", of_starlette.endpoint(receiver), methods=["POST"])])


def flask_app(receiver: Receiver) -> Any:
    app = Flask(__name__)
    app.add_url_rule("/sweephand", view_func=of_flask.view(receiver), methods=["POST"])
    return app


def django_app(receiver: Receiver) -> Any:
    return application([path("sweephand", of_django.view(receiver))])


@pytest.fixture(params=[fastapi_app, starlette_app, flask_app, django_app])
def receiver(request: pytest.FixtureRequest, stack: Stack) -> Receiver:
    receiver = Receiver()
    receiver.use(stack.client)
    stack.deliver_to(request.param(receiver))
    return receiver


def put(stack: Stack, job: str, **fields: Any) -> None:
    stack.put_job(job, target={"type": "http", "url": "https://app.test/sweephand"}, dueTime="1s", **fields)


def test_a_delivery_reaches_its_handler(stack: Stack, receiver: Receiver) -> None:
    seen: list[Any] = []

    @receiver.on("report")
    def report(run: Run) -> dict[str, int]:
        seen.append((run.job, run.attempt, run.data))
        return {"rows": 7}

    put(stack, "report", data={"day": "é"})
    stack.deliver_twice()
    stack.travel("5s")
    assert seen == [("report", 1, {"day": "é"})]
    assert stack.runs("report")[0].state == "succeeded"


def test_a_coroutine_function_is_a_handler(stack: Stack, receiver: Receiver) -> None:
    seen: list[str] = []

    @receiver.on("report")
    async def report(run: Run) -> None:
        await asyncio.sleep(0)
        seen.append(run.job)

    put(stack, "report")
    stack.travel("5s")
    assert seen == ["report"]
    assert stack.deliveries[-1].status == 204


def test_a_callback_is_sent_while_a_request_is_answered(stack: Stack, receiver: Receiver) -> None:
    @receiver.on("convert")
    def convert(run: Run) -> object:
        run.heartbeat()
        return ACCEPTED

    @receiver.on("import")
    def import_(run: Run) -> None:
        run.complete({"rows": 2})

    put(stack, "convert", completion="async")
    put(stack, "import", completion="async")
    stack.travel("5s")
    assert stack.runs("convert")[0].state == "running"
    assert stack.runs("import")[0].answer["result"] == {"rows": 2}
    assert {each.status for each in stack.deliveries} == {202}


def test_errors_become_answers(stack: Stack, receiver: Receiver) -> None:
    errors = {
        "later": RetryAfter(60),
        "final": FinalError("No such customer."),
        "broken": OSError("disk full"),
    }

    @receiver.on()
    def handle(run: Run) -> None:
        raise errors[run.job]

    for job in errors:
        put(stack, job)
    stack.travel("1s")
    assert {each.job: each.status for each in stack.deliveries} == {"later": 503, "final": 422, "broken": 500}
    assert stack.runs("broken")[0].answer["answer"] == "OSError: disk full"


def test_a_request_that_is_not_signed_is_refused(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: pytest.fail("no handler is called"))
    receiver.use(stack.client)
    receiver._given_secrets = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    put(stack, "report")
    stack.travel("1s")
    assert stack.deliveries[-1].status == 401
    assert (
        stack.runs("report")[0].answer["answer"]
        == "No known secret of the namespace has signed this request."
    )
