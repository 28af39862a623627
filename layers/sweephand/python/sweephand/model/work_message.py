"""What travels in the queue of work messages, and how: the order to look after the line of a policy."""

import json
from typing import Any, Final, NamedTuple

from sweephand.base.errors import PoisonError
from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, SENTENCE, TRUTH, WHOLE, Field, Layout, list_of
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire import decoded, kind_of


class WorkMessage(NamedTuple):
    """The order to look after the line of a policy. It names no trigger, and any worker can handle it.

    If it `clears_mark`, it is the message for the next token of the policy's rate. The worker
    first looks at its `hint`, which is the rank of a priority and a partition: there is a new entry.
    A worker that calls others to help it needs nobody after `until`.

    `left_by` is the name of a job that no longer names the policy, or "" for any such job. If the policy is
    missing, the worker takes the triggers of such jobs out of its line. The worker begins with the entry
    behind the sort key `after` in the partition of the hint.
    """

    namespace: str
    policy: str
    not_before: Instant
    clears_mark: bool = False
    hint: tuple[int, int] | None = None
    until: Instant | None = None
    left_by: str | None = None
    after: str = ""


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
