"""Entries of a gate's line (model/gate_line.py), and messages about gates (model/gate_message.py)."""

import json

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, large_payload, trigger_message

from sweephand.base.errors import NewerError, PoisonError
from sweephand.model.definition import Payload
from sweephand.model.gate import GateName
from sweephand.model.gate_line import (
    ENTRY_BYTES_MAX,
    ENTRY_TRIGGERS_MAX,
    Entry,
    LineTop,
    entries_of,
)
from sweephand.model.gate_message import (
    GATE_MESSAGE_VERSION,
    GateMessage,
    decode_gate_message,
    encode_gate_message,
)
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire import encode


def entry() -> Entry:
    [made] = entries_of([trigger_message()], "normal", "source")
    return made


def test_triggers_are_packed_in_the_order_of_their_times_and_each_pack_stands_at_its_first() -> None:
    messages = [trigger_message(NOON + each) for each in range(2 * ENTRY_TRIGGERS_MAX + 1)]
    entries = entries_of(reversed(messages), "high", "source")
    assert [len(each.messages) for each in entries] == [ENTRY_TRIGGERS_MAX, ENTRY_TRIGGERS_MAX, 1]
    assert [message for each in entries for message in each.messages] == messages
    assert [each.at for each in entries] == [each.messages[0].not_before for each in entries]
    assert [each.sort_key for each in entries] == sorted(each.sort_key for each in entries)
    assert [len(each.messages) for each in entries_of(messages[:7], "high", "source", 3)] == [3, 3, 1]


def test_an_entry_stays_within_what_an_item_may_hold() -> None:
    data = Payload.of('"' + "x" * 30_000 + '"')
    entries = entries_of([trigger_message(NOON + n, payload=data) for n in range(9)], "normal", "source")
    assert [len(each.messages) for each in entries] == [3, 3, 3]
    for each in entries:
        assert sum(len(encode(message)) for message in each.messages) <= ENTRY_BYTES_MAX


def test_a_call_that_is_repeated_writes_the_same_entries_and_another_one_others() -> None:
    messages = [trigger_message(NOON + each) for each in range(30)]
    again = entries_of(reversed(messages), "normal", "source")
    assert entries_of(messages, "normal", "source") == again
    names = {each.name for each in again}
    names |= {each.name for each in entries_of(messages, "normal", "other source")}
    names |= {each.name for each in entries_of(messages[1:], "normal", "source")}
    names |= {each.name for each in entries_of([messages[0]._replace(attempt=2)], "normal", "source")}
    assert len(names) == 7


def test_high_entries_stand_before_others_whatever_their_times() -> None:
    early, late = (entry()._replace(at=at) for at in (NOON, NOON + 10**9))
    order = [
        early._replace(priority="high"),
        late._replace(priority="high"),
        early,
        late,
        early._replace(priority="low"),
    ]
    assert [each.sort_key for each in order] == sorted(each.sort_key for each in order)


def test_an_entry_can_be_leased_unless_a_function_has_it_whose_time_is_not_over() -> None:
    free, leased = entry(), entry()._replace(owner="function", until=NOON)
    assert (free.is_takeable(NOON), free.is_abandoned(NOON + 1)) == (True, False)
    assert (leased.is_takeable(NOON), leased.is_abandoned(NOON)) == (False, False)
    assert (leased.is_takeable(NOON + 1), leased.is_abandoned(NOON + 1)) == (True, True)
    assert LineTop([leased, free]).takeable(NOON) == [free]


@pytest.mark.parametrize("crashes", [(0, 0), (1, 0), (0, 2)])
def test_an_entry_has_the_most_crashes_of_its_triggers(crashes: tuple[int, ...]) -> None:
    made = entry()._replace(messages=tuple(trigger_message(crashes=each) for each in crashes))
    assert made.crashes == max(crashes)


def test_an_entry_names_the_payloads_outside_of_jobs() -> None:
    large = large_payload()._replace(text=None)
    messages = [
        trigger_message(payload=large),
        trigger_message(NOON + 1, payload=Payload.of("1")),
        trigger_message(NOON + 2),
    ]
    [made] = entries_of(messages, "normal", "source")
    assert made.payloads == [(messages[0].trigger.uid, large.ref)]


@pytest.mark.parametrize(
    ("top", "is_empty"),
    [
        (LineTop(()), True),
        (LineTop((), has_more=True), False),
        (LineTop((), has_newer=True), False),
        (LineTop([entry()._replace(owner="function", until=NOON)]), False),
    ],
)
def test_a_line_is_empty_only_if_nothing_at_all_stands_there(top: LineTop, *, is_empty: bool) -> None:
    assert top.is_empty is is_empty


MESSAGE = GateMessage("baton", "default", "mailer", 3, NOON)


@pytest.mark.parametrize(
    "message",
    [
        MESSAGE,
        MESSAGE._replace(hint=0),
        MESSAGE._replace(purpose="guard", guard="guard000000000001"),
        MESSAGE._replace(purpose="wake", guard="guard000000000001", gate=9_999),
        MESSAGE._replace(purpose="change", namespace=EVERY_CHARACTER, policy=EVERY_CHARACTER),
        MESSAGE._replace(key="label:tenant:"),
        MESSAGE._replace(key="label:" + 128 * "n" + ":" + 128 * "\ud800"),
        MESSAGE._replace(purpose="change", after="00001795262400000.place"),
    ],
)
def test_a_message_reads_back_as_it_was_written(message: GateMessage) -> None:
    assert decode_gate_message(encode_gate_message(message)) == message
    assert message.name == GateName(PolicyKey(message.namespace, message.policy), message.gate, message.key)


def test_a_message_with_defaults_alone_says_nothing_of_them() -> None:
    assert json.loads(encode_gate_message(MESSAGE)).keys() == {
        "v", "kind", "for", "ns", "policy", "gate", "at",
    }  # fmt: skip


def test_a_message_of_a_newer_version_is_told_from_poison_and_sent_again_as_it_is() -> None:
    newer = json.dumps({"v": GATE_MESSAGE_VERSION + 1, "kind": "other"})
    with pytest.raises(NewerError):
        decode_gate_message(newer)
    assert encode_gate_message(NewerMessage(newer)) == newer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"v":1}',
        '{"v":0,"kind":"gate"}',
        '{"v":1,"kind":"trigger"}',
        '{"v":1,"kind":"gate","for":"baton","ns":1,"policy":"mailer","gate":0,"at":1}',
        '{"v":1,"kind":"gate","for":"other","ns":"default","policy":"mailer","gate":0,"at":1}',
        '{"v":1,"kind":"gate","for":"baton","ns":"default","policy":"mailer","gate":-1,"at":1}',
        '{"v":1,"kind":"gate","for":"baton","ns":"default","policy":"mailer","gate":"0","at":1}',
        '{"v":1,"kind":"gate","for":"guard","ns":"default","policy":"mailer","gate":0,"at":1,"guard":7}',
        '{"v":1,"kind":"gate","for":"baton","ns":"default","policy":"mailer","gate":0,"at":1,"hint":"x"}',
    ],
)
def test_any_other_text_is_poison(text: str) -> None:
    with pytest.raises(PoisonError):
        decode_gate_message(text)
