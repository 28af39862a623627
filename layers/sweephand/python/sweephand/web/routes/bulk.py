"""The operations that pause, resume and delete the jobs that a filter selects, and that write many jobs."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base import limits
from sweephand.base.errors import InvalidError, SweephandError, UnavailableError, Violation
from sweephand.base.instants import Instant
from sweephand.base.names import NAME_RULE, PREFIX_MEANING, PREFIX_PATTERN, is_name, shortened
from sweephand.jobs.bulk import BulkResult, JobToWrite, Written
from sweephand.jobs.read import Filter
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.web.http import cursor, json_text, problems
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.http.problems import ProblemResponse
from sweephand.web.routes.jobs import EXAMPLES, TRACEPARENT
from sweephand.web.routes.pause import JobPauseRequest, ResumeRequest
from sweephand.web.schemas.formats import (
    CURSOR_MEANING,
    Cursor,
    CursorText,
    Labels,
    NextCursor,
    Prefix,
    QueryParameters,
    Reason,
    about,
    labels_of,
    position,
)
from sweephand.web.schemas.job_requests import Precondition, read_definition
from sweephand.web.schemas.shapes import RequestBody, check, needs_one_of, read_as

SELECTION_RULE: Final = "Select the jobs: give a prefix, or labels."

LabelText = Annotated[str, Field(max_length=limits.LABEL_LENGTH_MAX)]


class FilterRequest(RequestBody):
    """Selects the jobs of a bulk call. A prefix or labels are required."""

    model_config = ConfigDict(json_schema_extra=needs_one_of(prefix=[None, ""], labels=[None, {}]))

    prefix: str | None = Field(
        None,
        pattern=PREFIX_PATTERN,
        max_length=limits.NAME_LENGTH_MAX,
        description=PREFIX_MEANING,
    )
    labels: dict[LabelText, LabelText] | None = Field(
        None,
        max_length=limits.LABELS_MAX,
        description="The labels that the jobs must have: names, each with a text.",
    )

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        if not self.prefix and not self.labels:
            raise ValueError(SELECTION_RULE)
        return self


class BulkPauseRequest(FilterRequest, JobPauseRequest):
    """Selects the jobs to pause, and says why and until when."""

    cursor: Annotated[CursorText, position("pause")] | None = Field(None, description=CURSOR_MEANING)


class BulkResumeRequest(FilterRequest, ResumeRequest):
    """Selects the jobs to resume, and says which missed triggers fire."""

    cursor: Annotated[CursorText, position("resume")] | None = Field(None, description=CURSOR_MEANING)


class BulkWriteResult(TypedDict):
    """The result of one job of a bulk write: `rev` if the job was written, else `problem`."""

    name: Annotated[
        Any,
        about(
            "The name as the caller gave it. Of a text that is far too long it is the beginning, "
            "and of another long value null."
        ),
    ]
    status: Annotated[int, about("The status that a PUT of this job would have had.")]
    outcome: NotRequired[
        Annotated[
            Literal["created", "replaced", "unchanged"],
            about("What became of the job, unless it was refused."),
        ]
    ]
    rev: NotRequired[Annotated[str, about("The revision, if the job was written.")]]
    problem: NotRequired[Annotated[ProblemResponse, about("The problem, if the job was refused.")]]


class BulkWriteResponse(TypedDict):
    """The result of each job, in the order of the request."""

    results: Annotated[list[BulkWriteResult], about("One result for each job, in the order of the request.")]


class CountResponse(TypedDict):
    """The result of a bulk call. It has a `nextCursor` if there may be more jobs or runs."""

    count: Annotated[
        int, about("How many jobs or runs this call changed, or with `dryRun` would have changed.")
    ]
    nextCursor: NotRequired[NextCursor]


class DeleteQuery(QueryParameters):
    """Selects the jobs to delete. A prefix or a label is required."""

    prefix: Prefix = ""
    label: Labels = Field([])
    cursor: Annotated[Cursor, position("delete")] = ""


#: The API validates each entry by itself. The result of an entry that is not a job is a problem.
_ANY_ENTRY: dict[str, Any] = {
    "anyOf": [
        {"$ref": "#/components/schemas/NamedJobRequest"},
        {"$ref": "#/components/schemas/BulkJobRequest"},
        {},
    ]
}


class BulkWriteRequest(RequestBody):
    """The jobs of a bulk write."""

    jobs: list[Annotated[Any, WithJsonSchema(_ANY_ENTRY)]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name. No name may occur twice.",
    )
    dry_run: bool = Field(
        False,
        description="Write nothing, and answer what the call would. Only the namespace's limit of jobs is "
        "not looked at.",
    )
    reason: Reason = None


_ABOUT: Final = (
    "Selects the jobs whose names begin with the prefix and that have the labels. A prefix or labels are "
    f"required. One call looks at up to {limits.BULK_EXAMINED_MAX} jobs. Call again with the nextCursor of "
    "the answer, until an answer has none."
)

#: The length at which a result cuts a name that cannot be accepted.
_SHOWN_LENGTH_MAX: Final = 2 * limits.NAME_LENGTH_MAX
#: The fields of an entry that say on which condition it is written.
_CONDITIONS: Final = ("ifMatch", "ifNoneMatch")

_NO_TIME: Final = "The other jobs of this request took too long, so this job was not written. Send it again."


def _read_jobs(document: Mapping[str, Any], _: Services, __: Instant) -> BulkWriteRequest:
    """The body with each number of its jobs as the caller wrote it."""
    return read_as(BulkWriteRequest, document)


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/pause",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        BulkPauseRequest,
        {"of one team": {"labels": {"team": "ops"}, "reason": "The database moves tonight."}},
    ),
    returns={200: Returns("The number of jobs that were paused", CountResponse)},
)
def pause_jobs(services: Services, request: Request[NoQuery, BulkPauseRequest]) -> Reply:
    """Pause jobs in bulk.

    A job that is already paused gets the `until` of this call, or none if the call has none. If that is what
    it has, it does not change and does not count.
    """
    done = services.bulk.pause(
        _filter_of(request),
        reason=request.body.reason,
        who=request.caller.key_id,
        end=request.body.end(request.requested_at),
    )
    return _count_reply("pause", done)


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/resume",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        BulkResumeRequest,
        {"of one team": {"labels": {"team": "ops"}}},
    ),
    returns={200: Returns("The number of jobs that were resumed", CountResponse)},
)
def resume_jobs(services: Services, request: Request[NoQuery, BulkResumeRequest]) -> Reply:
    """Resume jobs in bulk.

    A job that is not paused does not change and does not count.
    """
    done = services.bulk.resume(_filter_of(request), mode=request.body.catchup, who=request.caller.key_id)
    return _count_reply("resume", done)


@partial(
    Operation,
    method="DELETE",
    path="/v1/namespaces/{namespace}/jobs",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    query=DeleteQuery,
    returns={200: Returns("The number of jobs that were deleted", CountResponse)},
)
def delete_jobs(services: Services, request: Request[DeleteQuery, None]) -> Reply:
    """Delete jobs in bulk."""
    query = request.query
    if not query.prefix and not query.label:
        raise InvalidError([Violation("", SELECTION_RULE)])
    filters = Filter(request.namespace, query.prefix, labels_of(query.label), query.cursor)
    return _count_reply("delete", services.bulk.delete(filters, who=request.caller.key_id))


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/jobs",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        BulkWriteRequest,
        {"one job": {"jobs": [{"name": "hello", **EXAMPLES["in five seconds"]}]}},
        _read_jobs,
        limit="bodyBytesMax",
    ),
    headers=TRACEPARENT,
    returns={200: Returns("The result of each job, in the order of the request", BulkWriteResponse)},
)
def put_jobs(services: Services, request: Request[NoQuery, BulkWriteRequest]) -> Reply:
    """Create or replace jobs in bulk.

    Writes up to {jobsPerBulkMax} jobs. The API validates and writes each job as a PUT does. A refused job
    does not stop the others. The JSON pointers in a problem are relative to its job. `ifMatch` and
    `ifNoneMatch` of a job do what these headers do in a PUT. If they do not hold, its status is 412.
    """
    seen: set[str] = set()
    entries = [_parse_or_refuse(services, request, document, seen) for document in request.body.jobs]
    # Each name occurs once, as BulkWriter asks.
    jobs = [each for each in entries if isinstance(each, JobToWrite)]
    write = services.bulk_writer.check if request.body.dry_run else services.bulk_writer.put
    written = iter(write(jobs, caller=request.caller.key_id, requested_at=request.requested_at))
    results = [
        _result(each, next(written), is_dry=request.body.dry_run) if isinstance(each, JobToWrite) else each
        for each in entries
    ]
    response: BulkWriteResponse = {"results": results}
    return Reply(200, response)


def _filter_of(request: Request[NoQuery, Any]) -> Filter:
    filters: BulkPauseRequest | BulkResumeRequest = request.body
    return Filter(request.namespace, filters.prefix or "", filters.labels, filters.cursor or "")


def _count_reply(kind: str, done: BulkResult) -> Reply:
    response: CountResponse = {"count": done.count, **cursor.following(kind, done.reached)}
    return Reply(200, response)


def _parse_or_refuse(
    services: Services, request: Request[NoQuery, BulkWriteRequest], document: Any, seen: set[str]
) -> JobToWrite | BulkWriteResult:
    try:
        name, definition, condition = _parse_entry(services, document, seen, request.requested_at)
    except SweephandError as error:
        return _refusal(document.get("name") if isinstance(document, Mapping) else None, error)
    return JobToWrite(
        JobKey(request.namespace, name),
        definition,
        request.traceparent,
        request.body.reason,
        if_match=None if condition.if_match is None else (condition.if_match,),
        if_absent=condition.if_none_match is not None,
    )


def _parse_entry(
    services: Services, document: Any, seen: set[str], requested_at: Instant
) -> tuple[str, Definition, Precondition]:
    """The parts of one entry of the list. `seen` are the names of the entries before it.

    Adds the name to `seen`. Raises InvalidError with JSON pointers into the entry.
    """
    if not isinstance(document, Mapping):
        raise InvalidError([Violation("", "Give an object: a job with its name.")])
    name = document.get("name")
    violations: list[Violation] = []
    if not isinstance(name, str) or not is_name(name):
        violations.append(Violation("/name", NAME_RULE))
    elif name in seen:
        detail = "An earlier job of this request has this name. Give each name once."
        violations.append(Violation("/name", detail))
    given = {field: document[field] for field in _CONDITIONS if field in document}
    condition, wrong = check(Precondition, given)
    violations += wrong
    fields = {name: value for name, value in document.items() if name not in ("name", *_CONDITIONS)}
    try:
        definition = read_definition(fields, services, requested_at)
    except InvalidError as error:
        raise InvalidError([*violations, *error.violations]) from None
    if violations:
        raise InvalidError(violations)
    assert isinstance(name, str), "is_name has accepted it"
    assert condition is not None, "it has no violation"
    seen.add(name)
    return name, definition, condition


def _result(job: JobToWrite, written: Written, *, is_dry: bool) -> BulkWriteResult:
    if isinstance(written, UnavailableError):
        return _refusal(job.key.name, UnavailableError(_NO_TIME))
    if isinstance(written, SweephandError):
        return _refusal(job.key.name, written)
    status = 201 if written.outcome == "created" else 200
    result: BulkWriteResult = {"name": job.key.name, "status": status, "outcome": written.outcome}
    return result if is_dry else {**result, "rev": written.job.rev}


def _refusal(name: Any, error: SweephandError) -> BulkWriteResult:
    problem = problems.problem_of(error)
    return {"name": _shown(name), "status": problem["status"], "problem": problem}


def _shown(name: Any) -> Any:
    """The name as the caller gave it. Of a text that is far too long the beginning, of another value null."""
    if isinstance(name, str):
        return shortened(name, _SHOWN_LENGTH_MAX)
    return name if len(json_text.write(name)) <= _SHOWN_LENGTH_MAX else None
