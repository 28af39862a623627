"""The operations that redrive or cancel the runs of a namespace that a filter selects."""

from functools import partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from sweephand.base import limits
from sweephand.base.names import PREFIX_MEANING, PREFIX_PATTERN
from sweephand.runs.bulk_runs import BulkRunsResult
from sweephand.runs.flagged_list import ListedState, RunFilter
from sweephand.web.http import cursor
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.routes.bulk import CountResponse, LabelText
from sweephand.web.routes.runs import REASON_MEANING, check_span
from sweephand.web.schemas.formats import CURSOR_MEANING, CursorText, Moment, position
from sweephand.web.schemas.shapes import RequestBody, needs_one_of

_RULE: Final = "Select the runs: give a prefix, labels, since, until or a reason."


class RunSelection(RequestBody):
    """Selects the runs of a bulk call. One of the fields that select is required."""

    model_config = ConfigDict(
        json_schema_extra=needs_one_of(
            prefix=[None, ""], labels=[None, {}], since=[None], until=[None], reason=[None, ""]
        )
    )

    prefix: str | None = Field(
        None, pattern=PREFIX_PATTERN, max_length=limits.NAME_LENGTH_MAX, description=PREFIX_MEANING
    )
    labels: dict[LabelText, LabelText] | None = Field(
        None,
        max_length=limits.LABELS_MAX,
        description="The labels that the jobs of the runs must have now: names, each with a text.",
    )
    since: Moment | None = Field(
        None, description="Only runs due at this instant or later (RFC 3339 with an offset)."
    )
    until: Moment | None = Field(None, description="Only runs due before this instant.")
    reason: str | None = Field(None, max_length=limits.REASON_LENGTH_MAX, description=REASON_MEANING)
    dry_run: bool = Field(False, description="Change nothing, and count what the call would change.")

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        times = (self.since, self.until)
        if not (self.prefix or self.labels or self.reason or any(each is not None for each in times)):
            raise ValueError(_RULE)
        return self


class RedriveRunsRequest(RunSelection):
    """Selects the failed runs to redrive."""

    cursor: Annotated[CursorText, position("redrive")] | None = Field(None, description=CURSOR_MEANING)


class CancelRunsRequest(RunSelection):
    """Selects the runs to cancel."""

    state: Literal["retrying", "running"] | None = Field(None, description="Only runs in this state.")
    cursor: Annotated[CursorText, position("cancel")] | None = Field(None, description=CURSOR_MEANING)


_ABOUT: Final = (
    "Goes through the runs of all jobs that failed, were skipped or are retried, newest due time first. One "
    f"call looks at up to {limits.BULK_EXAMINED_MAX} of them. Call again with the nextCursor of the answer, "
    "until an answer has none."
)
_LAST_HOUR: Final = {"since": "2026-11-21T12:00:00Z", "until": "2026-11-21T13:00:00Z"}


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/redrive",
    tag="Runs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        RedriveRunsRequest,
        {
            "of one team": {"labels": {"team": "ops"}},
            "of an hour, counted first": {**_LAST_HOUR, "reason": "503", "dryRun": True},
        },
    ),
    returns={200: Returns("The number of runs that were redriven", CountResponse)},
)
def redrive_runs(services: Services, request: Request[NoQuery, RedriveRunsRequest]) -> Reply:
    """Redrive failed runs in bulk.

    A run of a deleted job is left alone.
    """
    wanted, after = _filter_of(request)
    done = services.bulk_runs.redrive(wanted, after, is_dry=request.body.dry_run)
    return _reply("redrive", done)


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/cancel",
    tag="Runs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        CancelRunsRequest,
        {"what is retried for one team": {"labels": {"team": "ops"}, "state": "retrying"}},
    ),
    returns={200: Returns("The number of runs that were cancelled", CountResponse)},
    problems=(503,),
)
def cancel_runs(services: Services, request: Request[NoQuery, CancelRunsRequest]) -> Reply:
    """Cancel runs in bulk.

    Cancels runs that are retried, or on which a consumer works for longer than a heartbeat time-out.
    """
    wanted, after = _filter_of(request, request.body.state)
    who = request.caller.key_id
    done = services.bulk_runs.cancel(wanted, after, who=who, is_dry=request.body.dry_run)
    return _reply("cancel", done)


def _filter_of(request: Request[NoQuery, Any], state: ListedState | None = None) -> tuple[RunFilter, str]:
    """The runs that the call selects, and the position behind which it goes on."""
    body: RunSelection = request.body
    check_span(body.since, body.until)
    wanted = RunFilter(
        request.namespace,
        state,
        body.since or 0,
        body.labels or {},
        until=body.until,
        prefix=body.prefix or "",
        reason=body.reason or "",
    )
    return wanted, request.body.cursor or ""


def _reply(kind: str, done: BulkRunsResult) -> Reply:
    response: CountResponse = {"count": done.count, **cursor.following(kind, done.reached)}
    return Reply(200, response)
