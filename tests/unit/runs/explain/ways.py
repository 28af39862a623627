"""Ways in which a job fires or does not, each brought about by the use cases of a stack in memory."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import MINUTE_MS, Instant, from_datetime
from sweephand.jobs.policies import PolicyWriter
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.attempt import Answer
from sweephand.model.policy import PolicyKey
from sweephand.model.timer import Heartbeat
from sweephand.runs.explain.facts import Explanation, Verdict

BUSY: Final = Answer(succeeded=False, code=503, text="busy")
GONE: Final = Answer(succeeded=False, code=410, is_final=True)
WRONG: Final = Answer(succeeded=False, code=400, is_final=True)
ACCEPTED: Final = Answer(succeeded=True, code=202)
DUE: Final = NOON + MINUTE_MS
MAILER: Final = PolicyKey("ns", "mailer")
HEARTBEAT: Final = Heartbeat(NOON, None, 0)

#: The clock changes of the zone in 2027: 02:00 to 03:00 on 28 March, 03:00 to 02:00 on 31 October.
PARIS: Final = "Europe/Paris"


class Way(NamedTuple):
    """What brings a way about and returns the instant in question; its verdict, and words of its summary."""

    bring_about: Callable[[World], Instant]
    verdict: Verdict
    words: str


WAYS: Final[dict[str, Way]] = {}


def way(verdict: Verdict, words: str) -> Callable[[Callable[[World], Instant]], Callable[[World], Instant]]:
    """Enter a function into the table under its name."""

    def entered(bring_about: Callable[[World], Instant]) -> Callable[[World], Instant]:
        WAYS[bring_about.__name__] = Way(bring_about, verdict, words)
        return bring_about

    return entered


def explained(world: World, at: Instant | None, name: str = "job") -> Explanation:
    """What the API says of the instant."""
    return world.api().explainer.explain(key_of(name), at, world.clock.time)[0]


def instant(text: str) -> Instant:
    """The instant of an RFC 3339 text."""
    return from_datetime(datetime.fromisoformat(text))


def with_policy(world: World, limits: PolicyLimits) -> PolicyWriter:
    """The writer of policies, after it has written the policy `mailer`."""
    world.flow_functions_max = 2
    writer = world.api().policy_writer
    writer.put(MAILER, limits, who="test", requested_at=world.clock.time)
    return writer


def minutely(world: World, **written: Any) -> None:
    world.put(schedule="0 * * * * *", **written)
