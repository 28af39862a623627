"""The encoding of work messages. They travel in a queue of their own, so their versions are their own too."""

import json
from typing import Any, Final

from sweephand.base.errors import PoisonError
from sweephand.base.layouts import NAME, SENTENCE, TRUTH, WHOLE, Field, Layout, list_of
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire import decoded, kind_of
from sweephand.model.work_message import WorkMessage

#: The newest version of a work message that this code reads, and the one that it writes.
WORK_VERSION: Final = 1

_KIND: Final = "work"

_WORK_MESSAGE: Final = Layout(
    WorkMessage,
    Field("namespace", "ns", NAME),
    Field("policy", "policy", NAME),
    Field("not_before", "at", WHOLE),
    Field("clears_mark", "clears", TRUTH, default=False),
    Field("hint", "hint", list_of(WHOLE, 2, 2), None),
    Field("until", "until", WHOLE, None),
    Field("left_by", "left", SENTENCE, None),
    Field("after", "after", SENTENCE, ""),
)


def encode_work(message: WorkMessage | NewerMessage) -> str:
    """The message as compact JSON in ASCII."""
    if isinstance(message, NewerMessage):
        return message.body
    fields = {"v": WORK_VERSION, "kind": _KIND, **_WORK_MESSAGE.write(message)}
    return json.dumps(fields, separators=(",", ":"))


def decode_work(text: str) -> WorkMessage:
    """The work message that the text holds; NewerError and PoisonError as decode() raises them."""
    return decoded(text, _read)


def _read(stored: Any) -> WorkMessage:
    if kind_of(stored, WORK_VERSION) != _KIND:
        raise PoisonError(f"A work message must have the kind {_KIND}.")
    return _WORK_MESSAGE.read(stored)
