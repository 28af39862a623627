"""The encoding of messages about gates (model/gate_message.py)."""

import json

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON

from sweephand.base.errors import NewerError, PoisonError
from sweephand.model.gate import GateName
from sweephand.model.gate_message import (
    GATE_MESSAGE_VERSION,
    GateMessage,
    decode_gate_message,
    encode_gate_message,
)
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import NewerMessage

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
