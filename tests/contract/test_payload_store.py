"""What every PayloadPlace promises (ports/)."""

from typing import TYPE_CHECKING

import pytest
from tests.fakes.memory import MemoryPayloads

from sweephand.base.limits import DATA_BYTES_MAX
from sweephand.model.definition import StoredPayload
from sweephand.ports.jobs import PayloadPlace
from sweephand.storage.payloads import DynamoPayloads

if TYPE_CHECKING:
    from tests.fakes.engines import Dynamo

UID, REF = "uid0000000000001", "0123456789abcdef-token"


TABLE_ON_LOCAL = pytest.param("table_on_dynamodb_local", marks=pytest.mark.dynamodb_local)


@pytest.fixture(params=["memory", "s3_on_moto", "table_on_wire", "table_on_moto", TABLE_ON_LOCAL])
def payloads(request: pytest.FixtureRequest) -> PayloadPlace:
    if request.param == "memory":
        return MemoryPayloads()
    if request.param == "s3_on_moto":
        on_s3: PayloadPlace = request.getfixturevalue("aws_payloads")
        return on_s3
    made: Dynamo = request.getfixturevalue(request.param.removeprefix("table_"))
    return DynamoPayloads(made.table(made.jobs_table), "bucket", lambda: 0, "PayloadTable")


def test_a_payload_that_was_never_kept_is_not_found(payloads: PayloadPlace) -> None:
    assert payloads.get(UID, REF) is None


@pytest.mark.parametrize(
    "text", ["{}", '{"text": "ü\U0001f600\\ud800 \\n"}', '"' + "x" * DATA_BYTES_MAX + '"']
)
def test_a_payload_reads_back_to_the_byte(payloads: PayloadPlace, text: str) -> None:
    payloads.put(UID, REF, text)
    assert payloads.get(UID, REF) == text
    assert payloads.get(UID, REF + "x") is None
    assert payloads.get(UID + "x", REF) is None


def test_a_repeated_write_of_a_payload_succeeds(payloads: PayloadPlace) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.put(UID, REF, "[1]")
    assert payloads.get(UID, REF) == "[1]"


def test_a_discarded_payload_can_still_be_read(payloads: PayloadPlace) -> None:
    payloads.put(UID, REF, "[1]")
    payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"


def test_discarding_a_payload_twice_or_a_missing_payload_succeeds(payloads: PayloadPlace) -> None:
    assert not payloads.discard(UID, REF)
    payloads.put(UID, REF, "[1]")
    assert payloads.discard(UID, REF)
    assert payloads.discard(UID, REF)
    assert payloads.get(UID, REF) == "[1]"
    assert payloads.get(UID, REF + "x") is None


def test_a_discarded_payload_can_be_renewed_and_no_other_is_changed(payloads: PayloadPlace) -> None:
    assert not payloads.renew(UID, REF)
    payloads.put(UID, REF, "[1]")
    assert not payloads.renew(UID, REF)
    assert not payloads.is_discarded(UID, REF)
    payloads.discard(UID, REF)
    payloads.renew(UID, REF)
    assert payloads.is_discarded(UID, REF)
    assert payloads.get(UID, REF) == "[1]"
    assert [each.ref for each in payloads.page("", 10).items] == [REF]


def test_an_object_that_is_written_again_while_it_is_renewed_does_not_expire(
    aws_payloads: PayloadPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws_payloads.put(UID, REF, "[1]")
    with monkeypatch.context() as before_the_write:
        before_the_write.setattr(aws_payloads, "is_discarded", lambda *_: True)
        assert aws_payloads.renew(UID, REF)
    assert not aws_payloads.is_discarded(UID, REF)
    assert aws_payloads.get(UID, REF) == "[1]"


def test_the_store_says_that_a_payload_is_discarded(payloads: PayloadPlace) -> None:
    payloads.put(UID, REF, "[1]")
    assert not payloads.is_discarded(UID, REF)
    payloads.discard(UID, REF)
    assert payloads.is_discarded(UID, REF)
    assert not payloads.is_discarded(UID, REF + "x")
    payloads.put(UID, REF, "[1]")
    assert not payloads.is_discarded(UID, REF)


def test_payloads_are_listed_page_by_page(payloads: PayloadPlace) -> None:
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


def test_payloads_of_many_jobs_are_listed_once_each_in_the_order_of_their_uids(
    payloads: PayloadPlace,
) -> None:
    uids = [f"{first}id000000000000{number}" for first in "09azmu" for number in range(3)]
    for uid in uids:
        payloads.put(uid, REF, "[1]")
    found: list[str] = []
    page = payloads.page("", 4)
    while page.next is not None:
        assert len(page.items) <= 4
        found += [each.uid for each in page.items]
        page = payloads.page(page.next, 4)
    found += [each.uid for each in page.items]
    assert found == sorted(uids)
    assert [each.uid for each in payloads.page("m", 100).items] == [uid for uid in sorted(uids) if uid > "m"]
