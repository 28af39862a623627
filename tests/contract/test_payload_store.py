"""What every PayloadStore promises (ports.py)."""

import pytest
from tests.fakes.memory import MemoryPayloads

from sweephand.base.limits import DATA_BYTES_MAX
from sweephand.ports import PayloadStore, StoredPayload

UID, REF = "uid0000000000001", "0123456789abcdef-token"


@pytest.fixture(params=["memory", "moto"])
def payloads(request: pytest.FixtureRequest) -> PayloadStore:
    if request.param == "memory":
        return MemoryPayloads()
    on_s3: PayloadStore = request.getfixturevalue("aws_payloads")
    return on_s3


def test_a_payload_that_was_never_kept_is_not_found(payloads: PayloadStore) -> None:
    assert payloads.get(UID, REF) is None


@pytest.mark.parametrize(
    "text", ["{}", '{"text": "ü\U0001f600\\ud800 \\n"}', '"' + "x" * DATA_BYTES_MAX + '"']
)
def test_a_payload_reads_back_to_the_byte(payloads: PayloadStore, text: str) -> None:
    payloads.put(UID, REF, text)
    assert payloads.get(UID, REF) == text
    assert payloads.get(UID, REF + "x") is None
    assert payloads.get(UID + "x", REF) is None


def test_a_repeated_write_of_a_payload_succeeds(payloads: PayloadStore) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.put(UID, REF, "[1]")
    assert payloads.get(UID, REF) == "[1]"


def test_a_discarded_payload_can_still_be_read(payloads: PayloadStore) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"


def test_discarding_a_payload_twice_or_a_missing_payload_succeeds(payloads: PayloadStore) -> None:
    payloads.discard(UID, REF)
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"
    assert payloads.get(UID, REF + "x") is None


def test_the_store_says_that_a_payload_is_discarded(payloads: PayloadStore) -> None:
    payloads.put(UID, REF, "[1]")
    assert not payloads.is_discarded(UID, REF)
    payloads.discard(UID, REF)
    assert payloads.is_discarded(UID, REF)
    assert not payloads.is_discarded(UID, REF + "x")
    payloads.put(UID, REF, "[1]")
    assert not payloads.is_discarded(UID, REF)


def test_payloads_are_listed_page_by_page(payloads: PayloadStore) -> None:
    refs = [f"{number}-token/ns/job:{number}+=@~" for number in range(5)]
    for ref in refs:
        payloads.put(UID, ref, "[1]")
    payloads.discard(UID, refs[1])
    found: list[StoredPayload] = []
    after = ""
    for _ in range(3):
        page = payloads.page(after, 2)
        found += page.items
        after = page.next or ""
    assert [(each.uid, each.ref) for each in found] == [(UID, ref) for ref in refs]
    assert not after
    assert payloads.page(f"{UID}/9", 2).items == ()
