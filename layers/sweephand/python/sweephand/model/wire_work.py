"""The encoding of work messages. They travel in a queue of their own, so their versions are their own too."""

import json
from typing import Final

from sweephand.base.errors import NewerError, PoisonError
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire_fields import Fields
from sweephand.model.work_message import WorkMessage

#: The newest version of a work message that this code reads, and the one that it writes.
WORK_VERSION: Final = 1

_KIND: Final = "work"
_POISON_EXCERPT_MAX: Final = 80


def encode_work(message: WorkMessage | NewerMessage) -> str:
    """The message as compact JSON in ASCII."""
    if isinstance(message, NewerMessage):
        return message.body
    fields = {
        "v": WORK_VERSION,
        "kind": _KIND,
        "ns": message.namespace,
        "policy": message.policy,
        "at": message.not_before,
    }
    if message.clears_mark:
        fields["clears"] = True
    if message.hint is not None:
        fields["hint"] = message.hint
    if message.until is not None:
        fields["until"] = message.until
    if message.left_by is not None:
        fields["left"] = message.left_by
    if message.after:
        fields["after"] = message.after
    return json.dumps(fields, separators=(",", ":"))


def decode_work(text: str) -> WorkMessage:
    """The work message that the text holds; NewerError and PoisonError as decode() raises them."""
    try:
        return _read(Fields(json.loads(text)))
    except (PoisonError, NewerError):
        raise
    except Exception as error:
        shown = text[:_POISON_EXCERPT_MAX]
        raise PoisonError(f"Not a work message of Sweephand ({type(error).__name__}): {shown!r}") from error


def _read(fields: Fields) -> WorkMessage:
    version, kind = fields.number("v"), fields.text("kind")
    if version > WORK_VERSION:
        raise NewerError(f"This work message has version {version}, and this code reads {WORK_VERSION}.")
    if version < 1 or kind != _KIND:
        shown = kind[:_POISON_EXCERPT_MAX]
        raise PoisonError(f"There is no work message of version {version} and kind {shown!r}.")
    hint = None if fields.numbers_or_none("hint", 2) is None else fields.pair("hint")
    return WorkMessage(
        fields.text("ns"),
        fields.text("policy"),
        fields.number("at"),
        fields.is_set("clears"),
        hint,
        fields.number_or_none("until"),
        fields.sentence_or_none("left"),
        fields.sentence_or_none("after") or "",
    )
