"""What an admin did to keys, secrets and settings: the values of the trail, which never hold a secret."""

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from sweephand.base.instants import Instant

if TYPE_CHECKING:
    from sweephand.model.change import FieldChange

#: What was changed: an API key, a secret that jobs name, what signs deliveries, or a namespace's settings.
AdminSubject = Literal["key", "secret", "signing-secret", "signing-key", "settings"]

AdminVerb = Literal["created", "replaced", "rotated", "revoked", "deleted"]


#: The last instant whose position has the length of all others, in the year 5138.
_INSTANT_MAX: Final = 10**14 - 1


class AdminChange(NamedTuple):
    """One change, by the caller `who`: the id of a key, `jwt:` and a subject, or `operator`.

    `name` is the id of the key or the name of the secret; it is empty for what a namespace has once.
    `version` gives two changes at one instant different positions. `fields` are as those of a job's change.
    """

    at: Instant
    who: str
    what: AdminVerb
    subject: AdminSubject
    namespace: str
    name: str
    version: str
    fields: "tuple[FieldChange, ...]" = ()
    reason: str | None = None

    @property
    def position(self) -> str:
        """The position of the change in the trail, sortable as text."""
        return f"{self.at:014d}#{self.version}"


def position_at(instant: Instant) -> str:
    """The position that lies behind every change from before an instant, and before every other one."""
    return f"{min(max(instant, 0), _INSTANT_MAX):014d}"
