"""What every PayloadStore promises (ports.py)."""

import pytest
from tests.fakes.memory import MemoryPayloads

from sweephand.limits import DATA_BYTES_MAX
from sweephand.ports import PayloadStore

UID, REF = "uid0000000000001", "0123456789abcdef-token"


@pytest.fixture(params=["memory", "moto"])
def payloads(request: pytest.FixtureRequest) -> PayloadStore:
    if request.param == "memory":
        return MemoryPayloads()
    on_s3: PayloadStore = request.getfixturevalue("aws_payloads")
    return on_s3


def test_a_payload_that_was_never_kept_is_not_there(payloads: PayloadStore) -> None:
    assert payloads.get(UID, REF) is None


@pytest.mark.parametrize(
    "text", ["{}", '{"text": "ü\U0001f600\\ud800 \\n"}', '"' + "x" * DATA_BYTES_MAX + '"']
)
def test_a_payload_reads_back_to_the_byte(payloads: PayloadStore, text: str) -> None:
    payloads.put(UID, REF, text)
    assert payloads.get(UID, REF) == text
    assert payloads.get(UID, REF + "x") is None
    assert payloads.get(UID + "x", REF) is None


def test_keeping_a_payload_again_is_harmless(payloads: PayloadStore) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.put(UID, REF, "[1]")
    assert payloads.get(UID, REF) == "[1]"


def test_a_discarded_payload_can_still_be_read(payloads: PayloadStore) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"


def test_discarding_again_or_what_is_not_there_is_harmless(payloads: PayloadStore) -> None:
    payloads.discard(UID, REF)
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"
    assert payloads.get(UID, REF + "x") is None
