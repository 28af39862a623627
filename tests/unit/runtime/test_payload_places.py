"""Where the functions of a stack keep data over 2 KB, by its parameters."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.functions import forget_the_environment

import sweephand
from sweephand.runtime.aws_ports import AwsPorts
from sweephand.storage.payload_table import DynamoPayloads, PayloadsInPlaces
from sweephand.storage.payloads import S3Payloads


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in {
        "PAYLOAD_BUCKET": "bucket",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    forget_the_environment()
    yield
    forget_the_environment()


def test_payloads_lie_in_the_bucket_if_no_parameter_names_a_table() -> None:
    ports = AwsPorts()
    assert [type(each) for each in ports.payload_places] == [S3Payloads]
    assert ports.payloads is ports.payload_places[0]


@pytest.mark.parametrize(
    ("table", "former", "kinds"),
    [
        ("mine", "", [DynamoPayloads, S3Payloads]),
        ("", "mine", [S3Payloads, DynamoPayloads]),
        ("new", "old", [DynamoPayloads, S3Payloads, DynamoPayloads]),
        ("same", "same", [DynamoPayloads, S3Payloads]),
    ],
)
def test_payloads_are_written_to_the_table_if_there_is_one_and_read_from_all_places(
    monkeypatch: pytest.MonkeyPatch, table: str, former: str, kinds: list[type]
) -> None:
    monkeypatch.setenv("PAYLOAD_TABLE", table)
    monkeypatch.setenv("FORMER_PAYLOAD_TABLE", former)
    ports = AwsPorts()
    assert [type(each) for each in ports.payload_places] == kinds
    assert isinstance(ports.payloads, PayloadsInPlaces)


def test_functions_that_fire_triggers_start_without_what_only_a_payload_table_needs() -> None:
    code = (
        "import sys, sweephand.runtime.delivery, sweephand.runtime.wheel, sweephand.runtime.flow\n"
        "print([each for each in sys.modules if each.startswith('sweephand.storage.payload_')])"
    )
    done = subprocess.run(  # noqa: S603 (the code is above)
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(Path(sweephand.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
