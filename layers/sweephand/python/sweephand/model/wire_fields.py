"""How the fields of a message are read: each field must be there, with its type and within its size."""

import json
from collections.abc import Mapping
from typing import Any, Final, get_args

from sweephand.base.errors import PoisonError
from sweephand.base.instants import INSTANT_MAX
from sweephand.base.limits import REDRIVES_KEPT, RESULT_BYTES_MAX
from sweephand.model.batch_end import BatchEnd, Counts
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PRIORITIES, PRIORITY_DEFAULT, PermitName, Priority
from sweephand.model.run_id import Demand, DemandKind
from sweephand.model.trigger import BatchPlace, Failure, Passage, PassageLevel, Redrive, Trigger
from sweephand.model.watch import Alert
from sweephand.model.wire_parts import batch_from_json

#: Names, uids and revisions are far shorter. A store has no key that is longer.
_TEXT_LENGTH_MAX: Final = 256

#: The API limits the length of a caller's reason. Sweephand's own reasons quote texts of limited length.
_SENTENCE_LENGTH_MAX: Final = 4_096


class Fields:
    """The fields of a JSON object. Each method raises PoisonError if its field is not valid."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise PoisonError("A message is a JSON object.")
        self._fields: Mapping[str, Any] = value

    def text(self, name: str) -> str:
        """A short text that is not empty."""
        value = self._fields.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= _TEXT_LENGTH_MAX:
            raise PoisonError(f"`{name}` in a message is a short text.")
        return value

    def number(self, name: str) -> int:
        """A whole number from 0 to INSTANT_MAX."""
        return _whole(self._fields.get(name), name)

    def number_or_none(self, name: str) -> int | None:
        """A number as number() reads it, or None if the field is null or absent."""
        return None if self._fields.get(name) is None else self.number(name)

    def pair(self, name: str) -> tuple[int, int]:
        """Two numbers as number() reads them."""
        value = self._fields.get(name)
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair has two
            raise PoisonError(f"`{name}` in a message is a pair of numbers.")
        return _whole(value[0], name), _whole(value[1], name)

    def numbers_or_none(self, name: str, *counts: int) -> tuple[int, ...] | None:
        """As many numbers as one of `counts`, read as by number(); None if the field is null or absent."""
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) not in counts:
            raise PoisonError(f"`{name}` in a message is a list of {counts[0]} numbers.")
        return tuple(_whole(each, name) for each in value)

    def batch(self) -> BatchPlace | None:
        """The place of a trigger in its batch, or None if it is not part of one."""
        place = self.numbers_or_none("batch", 3, 4)
        return batch_from_json(place)

    def batch_end(self) -> BatchEnd | None:
        """The end of a batch, or None if the message is about one run."""
        said = self.numbers_or_none("batchEnd", 5)
        return None if said is None else BatchEnd(said[0], Counts(*said[1:4]), bool(said[4]))

    def alert(self) -> Alert | None:
        """What an alert says, or None if the message is about an end."""
        said = self.numbers_or_none("alert", 4)
        return None if said is None else Alert(*said)

    def permit(self) -> PermitName | None:
        """The permit of an attempt, or None if it has none."""
        value = self._fields.get("permit")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 3:  # noqa: PLR2004 - as it was written
            raise PoisonError("`permit` in a message has a policy, the number of a holder, and an id.")
        part = Fields(dict(zip(("policy", "slot", "id"), value, strict=True)))
        return PermitName(part.text("policy"), part.number("slot"), part.text("id"))

    def rows(self, name: str, *columns: str) -> list["Fields"]:
        """The rows of a table. A row is a list of one value for each column; the last may be absent."""
        value = self._fields.get(name)
        if not isinstance(value, list) or not value:
            raise PoisonError(f"`{name}` in a message is a list of rows.")
        if any(not isinstance(row, list) or len(row) > len(columns) for row in value):
            raise PoisonError(f"`{name}` in a message has rows of {', '.join(columns)}.")
        return [Fields(dict(zip(columns, row, strict=False))) for row in value]

    def sentence(self, name: str) -> str:
        """A sentence for people, such as the reason of a failure; it may be empty."""
        value = self._fields.get(name)
        if not isinstance(value, str) or len(value) > _SENTENCE_LENGTH_MAX:
            raise PoisonError(f"`{name}` in a message is a sentence.")
        return value

    def sentence_or_none(self, name: str) -> str | None:
        """A sentence as sentence() reads it, or None if the field is null or absent."""
        return None if self._fields.get(name) is None else self.sentence(name)

    def truth(self, name: str) -> bool:
        """A boolean."""
        value = self._fields.get(name)
        if not isinstance(value, bool):
            raise PoisonError(f"`{name}` in a message is true or false.")
        return value

    def is_set(self, name: str) -> bool:
        """Whether a boolean is true; an absent field is false."""
        return name in self._fields and self.truth(name)

    def redrive(self) -> Redrive | None:
        """The redrive of a trigger, or None if it has none."""
        if self._fields.get("redrive") is None:
            return None
        value = self._fields["redrive"]
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - as it was written
            raise PoisonError("`redrive` in a message is a pair.")
        started_at = None if value[1] is None else _whole(value[1], "redrive")
        return Redrive(_whole(value[0], "redrive"), started_at, self._ends())

    def _ends(self) -> tuple[int, ...] | None:
        """The attempts that ended earlier rounds; None if they are not known."""
        value = self._fields.get("ends")
        if value is None:
            return None
        if not isinstance(value, list) or not 0 < len(value) <= REDRIVES_KEPT:
            raise PoisonError(f"`ends` in a message is a list of 1 to {REDRIVES_KEPT} numbers.")
        return tuple(_whole(each, "ends") for each in value)

    def failure(self) -> Failure | None:
        """The latest failure of a trigger, or None if it has none."""
        value = self._fields.get("failed")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 4:  # noqa: PLR2004 - as it was written
            raise PoisonError("`failed` in a message has attempt, reason, status and finality.")
        part = Fields(dict(zip(("attempt", "reason", "code", "final"), value, strict=True)))
        return Failure(
            part.number("attempt"), part.sentence("reason"), part.number_or_none("code"), part.truth("final")
        )

    def priority(self) -> Priority:
        """The priority that names the lane of a message; the usual one if the field is absent."""
        value = self._fields.get("lane", PRIORITY_DEFAULT)
        if value not in PRIORITIES:
            raise PoisonError("`lane` in a message is high, normal or low.")
        lane: Priority = value
        return lane

    def passage(self) -> Passage | None:
        """How far a trigger has come through the valve, or None if it has not come to one."""
        value = self._fields.get("valve")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 4 or value[0] not in get_args(PassageLevel):  # noqa: PLR2004 - as it was written
            raise PoisonError("`valve` in a message has a level, a slot, a limit and an epoch.")
        return Passage(value[0], *(_whole(each, "valve") for each in value[1:]))

    def json_or_none(self, name: str) -> str | None:
        """A short JSON text, or None if the field is null or absent."""
        value = self._fields.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > RESULT_BYTES_MAX):
            raise PoisonError(f"`{name}` in a message is a short JSON text.")
        if value is not None:
            json.loads(value)
        return value

    def demand(self) -> Demand | None:
        """The demand of a trigger, or None if a schedule made it."""
        value = self._fields.get("demand")
        if value is None:
            return None
        kinds = get_args(DemandKind)
        if not isinstance(value, list) or len(value) not in {2, 3} or value[0] not in kinds:
            raise PoisonError("`demand` in a message is a kind, a token, and for a chained trigger its link.")
        token = Fields({"demand": value[1]}).text("demand")
        return Demand(value[0], token, *(_whole(each, "demand") for each in value[2:]))

    def payload(self) -> Payload | None:
        """The data that was given with a trigger on demand, or None."""
        value = self._fields.get("data")
        if value is None:
            return None
        if isinstance(value, str):
            payload = Payload.of(value)
            if not payload.is_inline:
                raise PoisonError("`data` in a message is short, or names the place where it is stored.")
            return payload
        kept = Fields(value)
        return Payload(
            kept.text("digest"), kept.number("size"), None, kept.text("ref"), kept.number_or_none("until")
        )

    def key(self) -> JobKey:
        """The key of the message's job."""
        return JobKey(self.text("ns"), self.text("job"))

    def trigger(self) -> Trigger:
        """The message's trigger."""
        return Trigger(
            key=self.key(),
            uid=self.text("uid"),
            rev=self.text("rev"),
            due_at=self.number("due"),
            sequence=self.number("seq"),
            armed_at=self.number("armed"),
            index=self.number("index"),
            demand=self.demand(),
            batch=self.batch(),
        )

    def item(self, name: str) -> Mapping[str, Any]:
        """An object that another room reads."""
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise PoisonError(f"`{name}` in a message is an object.")
        return value


def _whole(value: Any, name: str) -> int:
    # In Python, JSON's true and 1.0 equal 1. Sweephand never writes a number as either.
    if type(value) is not int or not 0 <= value <= INSTANT_MAX:
        raise PoisonError(f"`{name}` in a message is a number from 0 to the last instant.")
    return value
