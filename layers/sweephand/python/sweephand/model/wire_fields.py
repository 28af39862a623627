"""How the fields of a message are read: each has to be there, of its type and of a size that can be."""

import json
from collections.abc import Mapping
from typing import Any, Final, get_args

from sweephand.base.errors import PoisonError
from sweephand.base.instants import INSTANT_MAX
from sweephand.base.limits import RESULT_BYTES_MAX
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand, DemandKind
from sweephand.model.trigger import Failure, Redrive, Trigger

#: Names, uids and revisions are far shorter; what is longer cannot be a key in a store.
_TEXT_LENGTH_MAX: Final = 256

#: A reason of a caller's is bounded by the API, one of ours by what it quotes.
_SENTENCE_LENGTH_MAX: Final = 4_096


class Fields:
    """An object out of JSON; PoisonError for a field that is not what it has to be."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise PoisonError("A message is a JSON object.")
        self._fields: Mapping[str, Any] = value

    def text(self, name: str) -> str:
        """A name: not empty, and short."""
        value = self._fields.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= _TEXT_LENGTH_MAX:
            raise PoisonError(f"`{name}` in a message is a short text.")
        return value

    def number(self, name: str) -> int:
        """A whole number from 0 to the last instant."""
        return _whole(self._fields.get(name), name)

    def number_or_none(self, name: str) -> int | None:
        """The same, or None where it is null or left out."""
        return None if self._fields.get(name) is None else self.number(name)

    def pair(self, name: str) -> tuple[int, int]:
        """Two such numbers."""
        value = self._fields.get(name)
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair has two
            raise PoisonError(f"`{name}` in a message is a pair of numbers.")
        return _whole(value[0], name), _whole(value[1], name)

    def sentence(self, name: str) -> str:
        """What went wrong, for people; it may be empty."""
        value = self._fields.get(name)
        if not isinstance(value, str) or len(value) > _SENTENCE_LENGTH_MAX:
            raise PoisonError(f"`{name}` in a message is a sentence.")
        return value

    def sentence_or_none(self, name: str) -> str | None:
        """The same, or None where it is null or left out."""
        return None if self._fields.get(name) is None else self.sentence(name)

    def truth(self, name: str) -> bool:
        """True or false."""
        value = self._fields.get(name)
        if not isinstance(value, bool):
            raise PoisonError(f"`{name}` in a message is true or false.")
        return value

    def is_set(self, name: str) -> bool:
        """True, or left out."""
        return name in self._fields and self.truth(name)

    def redrive(self) -> Redrive | None:
        """The redrive of a trigger, or None."""
        if self._fields.get("redrive") is None:
            return None
        value = self._fields["redrive"]
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - as it was written
            raise PoisonError("`redrive` in a message is a pair.")
        started_at = None if value[1] is None else _whole(value[1], "redrive")
        return Redrive(_whole(value[0], "redrive"), started_at)

    def failure(self) -> Failure | None:
        """The latest failure of a trigger, or None."""
        value = self._fields.get("failed")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 4:  # noqa: PLR2004 - as it was written
            raise PoisonError("`failed` in a message is an attempt, its reason, status and finality.")
        part = Fields(dict(zip(("attempt", "reason", "code", "final"), value, strict=True)))
        return Failure(
            part.number("attempt"), part.sentence("reason"), part.number_or_none("code"), part.truth("final")
        )

    def json_or_none(self, name: str) -> str | None:
        """A short JSON text, or None where it is null or left out."""
        value = self._fields.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > RESULT_BYTES_MAX):
            raise PoisonError(f"`{name}` in a message is a short JSON text.")
        if value is not None:
            json.loads(value)
        return value

    def demand(self) -> Demand | None:
        """Who asked for a trigger, or None."""
        value = self._fields.get("demand")
        if value is None:
            return None
        kinds = get_args(DemandKind)
        if not isinstance(value, list) or len(value) not in {2, 3} or value[0] not in kinds:
            raise PoisonError("`demand` in a message is a kind and a token, and the link of one in a chain.")
        token = Fields({"demand": value[1]}).text("demand")
        return Demand(value[0], token, *(_whole(each, "demand") for each in value[2:]))

    def payload(self) -> Payload | None:
        """The data of a trigger's own, or None."""
        value = self._fields.get("data")
        if value is None:
            return None
        if isinstance(value, str):
            payload = Payload.of(value)
            if not payload.is_inline:
                raise PoisonError("`data` in a message is short, or says where it is kept.")
            return payload
        kept = Fields(value)
        return Payload(kept.text("digest"), kept.number("size"), None, kept.text("ref"))

    def key(self) -> JobKey:
        """The job that the message is of."""
        return JobKey(self.text("ns"), self.text("job"))

    def trigger(self) -> Trigger:
        """The trigger that the message is of."""
        return Trigger(
            key=self.key(),
            uid=self.text("uid"),
            rev=self.text("rev"),
            due_at=self.number("due"),
            sequence=self.number("seq"),
            armed_at=self.number("armed"),
            index=self.number("index"),
            demand=self.demand(),
        )

    def item(self, name: str) -> Mapping[str, Any]:
        """An object."""
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise PoisonError(f"`{name}` in a message is an object.")
        return value


def _whole(value: Any, name: str) -> int:
    # JSON's true and 1.0 equal 1 in Python; neither was ever written for it.
    if type(value) is not int or not 0 <= value <= INSTANT_MAX:
        raise PoisonError(f"`{name}` in a message is a number from 0 to the last instant.")
    return value
