"""Jobs as a stack stores them, and their play."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile
from sweephand_client.tasks.steps import Lines
from sweephand_engine.rehearsal.admission import admit_file
from sweephand_engine.rehearsal.consumer import Consumer
from sweephand_engine.rehearsal.play import Play
from sweephand_engine.rehearsal.timeline import WORK_MAX, Timeline
from sweephand_engine.times import instant_of

BEGIN: Final = instant_of("2026-10-12T00:00:00Z")
DAY: Final = 86_400_000

#: It takes no time and never fails.
IDEAL: Final = Consumer(p50_ms=0, p99_ms=0, fail=0)


def jobs_of(fields: Mapping[str, Mapping[str, Any]]) -> tuple[Any, ...]:
    """The jobs of these names and fields."""
    target = {"type": "http", "url": "https://example.com/"}
    declared: Any = [DeclaredJob(name, {"target": target, **each}) for name, each in fields.items()]  # type: ignore[typeddict-item]
    file = JobsFile(tuple(declared))
    return admit_file(file, BEGIN, "ns", None, Lines("", file)).jobs


def played(
    fields: Mapping[str, Mapping[str, Any]],
    *consumers: Consumer,
    days: float = 1,
    outage: tuple[int, int] | None = None,
    work_max: int = WORK_MAX,
) -> Play:
    """The play of some days. Consumers are ideal unless there are some."""
    play = Play(
        jobs_of(fields),
        {},
        [*consumers, IDEAL],
        timeline=Timeline(BEGIN, BEGIN + round(days * DAY), work_max),
        outage=outage,
    )
    play.run()
    return play
