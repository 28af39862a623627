"""What travels in the flow queue, and how: batons, guards, and news that a limit has changed."""

import json
from typing import Any, Final, Literal, NamedTuple, get_args

from sweephand.base.errors import PoisonError
from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, WHOLE, Field, Layout, choice_of, text_of
from sweephand.base.limits import GATE_KEY_LENGTH_MAX
from sweephand.model.gate import GateName
from sweephand.model.policy_names import PolicyKey
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire import decoded, kind_of

#: A `baton` lets a function serve. A `guard` looks after a gate, and a `wake` takes the place of a guard that
#: was lost. A `change` says that the limit of a policy has changed. A `probe` lets one request leave while
#: the breaker of a policy is open.
Purpose = Literal["baton", "guard", "wake", "change", "probe"]


class GateMessage(NamedTuple):
    """A message about a gate of a policy, or about all of them.

    `guard` is the id of the guard, of the one that a wake-up replaces, or of the probe. The function looks
    first at the line of the gate `hint`. It does not act before `not_before`. A `change` names how many gates
    there were as `gate`. A function that lets entries go on begins behind the sort key `after`. A `change`
    goes on behind that place in the list of keys that wait.
    """

    purpose: Purpose
    namespace: str
    policy: str
    gate: int
    not_before: Instant
    guard: str | None = None
    hint: int | None = None
    after: str | None = None
    key: str | None = None

    @property
    def name(self) -> GateName:
        """The gate that it is about."""
        return GateName(PolicyKey(self.namespace, self.policy), self.gate, self.key)


#: The newest version of such a message that this code reads, and the one that it writes.
GATE_MESSAGE_VERSION: Final = 1

_KIND: Final = "gate"

_LAYOUT: Final = Layout(
    GateMessage,
    Field("purpose", "for", choice_of(*get_args(Purpose))),
    Field("namespace", "ns", NAME),
    Field("policy", "policy", NAME),
    Field("gate", "gate", WHOLE),
    Field("not_before", "at", WHOLE),
    Field("guard", "guard", NAME, None),
    Field("hint", "hint", WHOLE, None),
    Field("after", "after", NAME, None),
    Field("key", "key", text_of(GATE_KEY_LENGTH_MAX), None),
)


def encode_gate_message(message: GateMessage | NewerMessage) -> str:
    """The message as compact JSON in ASCII."""
    if isinstance(message, NewerMessage):
        return message.body
    fields = {"v": GATE_MESSAGE_VERSION, "kind": _KIND, **_LAYOUT.write(message)}
    return json.dumps(fields, separators=(",", ":"))


def decode_gate_message(text: str) -> GateMessage:
    """The message that the text holds; NewerError and PoisonError as decode() raises them."""
    return decoded(text, _read)


def _read(stored: Any) -> GateMessage:
    if kind_of(stored, GATE_MESSAGE_VERSION) != _KIND:
        raise PoisonError(f"A message about a gate must have the kind {_KIND}.")
    return _LAYOUT.read(stored)
