"""The encoding of work messages (model/work_message.py)."""

import json

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON

from sweephand.base.errors import NewerError, PoisonError
from sweephand.model.work_message import WORK_VERSION, WorkMessage, decode_work, encode_work

MESSAGE = WorkMessage("default", "mailer", NOON)


@pytest.mark.parametrize(
    "message",
    [
        MESSAGE,
        MESSAGE._replace(clears_mark=True),
        MESSAGE._replace(hint=(2, 17)),
        MESSAGE._replace(until=NOON + 1),
        MESSAGE._replace(left_by=""),
        MESSAGE._replace(left_by=EVERY_CHARACTER, hint=(0, 1), after="00001700000000#abc"),
        MESSAGE._replace(namespace=EVERY_CHARACTER, policy=EVERY_CHARACTER),
    ],
)
def test_a_work_message_reads_back_as_it_was_written(message: WorkMessage) -> None:
    assert decode_work(encode_work(message)) == message


def test_a_message_with_defaults_alone_says_nothing_of_them() -> None:
    assert json.loads(encode_work(MESSAGE)).keys() == {"v", "kind", "ns", "policy", "at"}


def test_a_message_of_a_newer_version_is_told_from_poison() -> None:
    newer = json.dumps({**json.loads(encode_work(MESSAGE)), "v": WORK_VERSION + 1, "kind": "other"})
    with pytest.raises(NewerError):
        decode_work(newer)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"v":1}',
        '{"v":0,"kind":"work"}',
        '{"v":1,"kind":"trigger"}',
        '{"v":1,"kind":"work","ns":1}',
        '{"v":1,"kind":"work","ns":"default","policy":"mailer","at":1,"hint":[1]}',
        '{"v":1,"kind":"work","ns":"default","policy":"mailer","at":1,"until":"soon"}',
        '{"v":1,"kind":"work","ns":"default","policy":"mailer","at":1,"left":true}',
        '{"v":1,"kind":"work","ns":"default","policy":"mailer","at":1,"left":"","after":1}',
    ],
)
def test_any_other_text_is_poison(text: str) -> None:
    with pytest.raises(PoisonError):
        decode_work(text)
