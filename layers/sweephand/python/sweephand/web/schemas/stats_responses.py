"""The responses that show what deliveries counted."""

from typing import Annotated, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import Instant, rfc3339
from sweephand.model.stats import Stats
from sweephand.web.schemas.run_responses import NextCursor, Time

_BOUND: Final = "It is the bound of a class of lateness, and at most five thirds of the bound below."


class LatenessClassResponse(TypedDict):
    """The first attempts of one class of lateness."""

    atMostMs: Annotated[
        int,
        Field(
            description="They began at most so many milliseconds late, and above 10 ms later than three "
            "fifths of it."
        ),
    ]
    attempts: Annotated[int, Field(description="How many first attempts there were.")]


class StatsStepResponse(TypedDict):
    """What was counted in one step."""

    at: Annotated[Time, Field(description="The first instant of the step.")]
    succeeded: Annotated[int, Field(description="Attempts that the consumer accepted for good.")]
    running: Annotated[
        int,
        Field(
            description="Attempts that an asynchronous consumer accepted. What it reports later is not "
            "counted."
        ),
    ]
    retrying: Annotated[int, Field(description="Attempts that failed, after which another one is made.")]
    failed: Annotated[int, Field(description="Runs that an attempt or a deadline ended as failed.")]
    skipped: Annotated[int, Field(description="Triggers that were skipped for another run of their job.")]
    faults: Annotated[
        int, Field(description="Messages that Sweephand itself failed to handle. The log says why.")
    ]
    p50Ms: Annotated[
        int | None,
        Field(
            description="Half of the first attempts began at most so many milliseconds late. "
            f"{_BOUND} Null if no lateness was counted."
        ),
    ]
    p99Ms: Annotated[int | None, Field(description=f"The same for 99 of a hundred first attempts. {_BOUND}")]
    maxMs: Annotated[int | None, Field(description=f"The same for all of them. {_BOUND}")]
    lateness: Annotated[
        list[LatenessClassResponse],
        Field(
            description="The first attempts by class of lateness, the least late first. Triggers that had "
            "to wait for a policy, a limit, a pause or their turn are not in it."
        ),
    ]


# A class cannot have a field `from`.
StatsResponse = TypedDict(
    "StatsResponse",
    {
        "from": Annotated[Time, Field(description="The first instant of the first step.")],
        "to": Annotated[Time, Field(description="The end of the last step, which it does not include.")],
        "stepSeconds": Annotated[
            int, Field(description="The length of a step. The last one may be shorter.")
        ],
        "steps": Annotated[
            list[StatsStepResponse],
            Field(description="The steps, earliest first, without those in which nothing was counted."),
        ],
        "nextCursor": NotRequired[NextCursor],
    },
)
StatsResponse.__doc__ = """What deliveries counted. It has a `nextCursor` if later steps were not read."""


def stats_step_response(at: Instant, stats: Stats) -> StatsStepResponse:
    """What was counted in the step that begins at that instant."""
    outcomes = stats.outcomes
    return {
        "at": rfc3339(at),
        "succeeded": outcomes["succeeded"],
        "running": outcomes["running"],
        "retrying": outcomes["retrying"],
        "failed": outcomes["failed"],
        "skipped": outcomes["skipped"],
        "faults": outcomes["faults"],
        "p50Ms": stats.lateness_at_most(50),
        "p99Ms": stats.lateness_at_most(99),
        "maxMs": stats.lateness_at_most(100),
        "lateness": [
            {"atMostMs": bound, "attempts": count} for bound, count in sorted(stats.lateness.items())
        ],
    }
