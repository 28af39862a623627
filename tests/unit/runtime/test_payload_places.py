"""Where the functions of a stack keep data over 2 KB, by its parameters."""

from collections.abc import Iterator

import pytest
from tests.fakes.functions import forget_the_environment

from sweephand.runtime.payloads import payload_places, payloads_in
from sweephand.storage.payloads import DynamoPayloads, PayloadsInPlaces, S3Payloads


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
    places = payload_places()
    assert [type(each) for each in places] == [S3Payloads]
    assert payloads_in(places) is places[0]


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
    places = payload_places()
    assert [type(each) for each in places] == kinds
    assert isinstance(payloads_in(places), PayloadsInPlaces)
