"""boto3's client of EventBridge Scheduler for a stack: where its calls go, and what proves the caller."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from infra.local.places import SOURCES

from sweephand_client import eventbridge
from sweephand_client.http.errors import InputError
from sweephand_client.profiles import Stack

URL = "https://abc.execute-api.eu-west-1.amazonaws.com"


class _Raw:
    def stream(self, *_: object, **__: object) -> Any:
        yield b'{"Schedules": []}'


def sent(stack: Stack | None, **options: Any) -> Any:
    """The request of a call."""
    return request_of(eventbridge.client(stack, **options))


def request_of(client: Any) -> Any:
    """The request of a call by this client."""
    requests: list[Any] = []

    def keep(request: Any, **_: Any) -> AWSResponse:
        requests.append(request)
        raw: Any = _Raw()
        return AWSResponse(request.url, 200, HTTPHeaders(), raw)

    client.meta.events.register("before-send.scheduler", keep)
    assert client.list_schedules()["Schedules"] == []
    (request,) = requests
    return request


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def test_a_key_goes_along_as_to_the_jobs_api() -> None:
    request = sent(Stack(URL, "the test", key="sh_a_b"))
    assert request.url == f"{URL}/v1/scheduler/schedules"
    assert text(request.headers["Authorization"]) == "Bearer sh_a_b"


def test_the_stack_of_the_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEPHAND_URL", "http://127.0.0.1:4780")
    monkeypatch.setenv("SWEEPHAND_KEY", "sh_c_d")
    request = sent(None)
    assert request.url == "http://127.0.0.1:4780/v1/scheduler/schedules"
    assert text(request.headers["Authorization"]) == "Bearer sh_c_d"


def test_with_iam_the_signature_is_the_one_that_api_gateway_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, name.lower())
    # boto3 keeps the credentials of its first client.
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    headers = sent(Stack(URL, "the test", auth="iam")).headers
    assert "/eu-west-1/execute-api/aws4_request" in text(headers["Authorization"])
    assert text(headers["X-Amz-Security-Token"]) == "aws_session_token"
    headers = sent(Stack("https://jobs.example", "the test", auth="iam", region="eu-north-1")).headers
    assert "/eu-north-1/execute-api/aws4_request" in text(headers["Authorization"])


def test_with_iam_an_address_without_a_region_is_refused() -> None:
    with pytest.raises(InputError, match="does not name its region"):
        eventbridge.client(Stack("https://jobs.example", "the test", auth="iam"))


def test_options_go_to_boto3() -> None:
    stack = Stack(URL, "the test", key="k")
    client = eventbridge.client(stack, region_name="eu-west-3", config=Config(read_timeout=7))
    assert (client.meta.region_name, client.meta.config.read_timeout) == ("eu-west-3", 7)
    assert text(sent(stack, config=Config(read_timeout=7)).headers["Authorization"]) == "Bearer k"


def test_the_model_for_the_command_line_of_aws_has_its_calls_signed_for_api_gateway(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "sweephand_client.eventbridge"]
    where = os.environ | {"PYTHONPATH": SOURCES}
    printed = subprocess.run(command, env=where, check=True, capture_output=True, text=True).stdout  # noqa: S603 - this interpreter
    # `aws configure add-model` keeps a model in such a folder.
    folder = tmp_path / "sweephand" / "2021-06-30"
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text(printed, encoding="utf-8")
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    make: Any = boto3.session.Session().client
    client = make("sweephand", region_name="eu-west-1", endpoint_url=f"{URL}/v1/scheduler")
    request = request_of(client)
    assert request.url == f"{URL}/v1/scheduler/schedules"
    assert "/eu-west-1/execute-api/aws4_request" in text(request.headers["Authorization"])
