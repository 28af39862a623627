"""The description of an operation of the API: its method and path, its access, its request, its responses.

An operation calls the use cases and ports of Services. A write may depend on preconditions: If-Match and
If-None-Match (RFC 9110, 13.1).
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sweephand.access.authentication import Auth
from sweephand.access.callers import RequestRates
from sweephand.access.named_secrets import SecretAdmin
from sweephand.access.signing_keys import SigningKeys
from sweephand.base.errors import InvalidError, PreconditionError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import table
from sweephand.jobs.bulk import Bulk, BulkWriter
from sweephand.jobs.calendars import CalendarAdmin, CalendarCheck
from sweephand.jobs.change_history import ChangeHistory, PolicyChangeHistory
from sweephand.jobs.eventbridge.groups import ScheduleGroups
from sweephand.jobs.forecast import Forecaster
from sweephand.jobs.namespace_settings import NamespaceAdmin
from sweephand.jobs.on_demand import OnDemand
from sweephand.jobs.pause import Pauser
from sweephand.jobs.policies import PolicyWriter
from sweephand.jobs.policy_reader import PolicyReader
from sweephand.jobs.read import Reader
from sweephand.jobs.resume import Resumer
from sweephand.jobs.settings_cache import JobDefaults
from sweephand.jobs.windows import WindowAdmin
from sweephand.jobs.write import Writer
from sweephand.model.api_key import Caller, Role
from sweephand.model.job import JobKey
from sweephand.model.trace import read_traceparent
from sweephand.ports.access import AdminChangeStore, KeyStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.runs import LineStore, RunStore
from sweephand.ports.wheel import LeaseStore
from sweephand.runs.audit import Auditor
from sweephand.runs.batch_reads import BatchReader
from sweephand.runs.bulk_runs import BulkRuns
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.delivery_stats import StatsReader
from sweephand.runs.explain.explainer import Explainer
from sweephand.runs.flagged_list import FlaggedList
from sweephand.runs.health import HealthReader
from sweephand.runs.overview import Overview
from sweephand.runs.rebuild import Rebuilder
from sweephand.runs.redrive import Redriver
from sweephand.targets.reach import Reach


@dataclass(frozen=True, slots=True)
class Services:
    """One of each use case and port.

    `reach` says which resources the targets of jobs may reach, and `auth` how callers prove who they are.
    """

    writer: Writer
    bulk_writer: BulkWriter
    pauser: Pauser
    resumer: Resumer
    bulk: Bulk
    changes: ChangeHistory
    on_demand: OnDemand
    reader: Reader
    forecaster: Forecaster
    runs: RunStore
    flagged: FlaggedList
    health: HealthReader
    explainer: Explainer
    stats: StatsReader
    batches: BatchReader
    lines: LineStore
    redriver: Redriver
    bulk_runs: BulkRuns
    overview: Overview
    rebuilder: Rebuilder
    auditor: Auditor
    callbacks: Callbacks
    policy_writer: PolicyWriter
    policy_reader: PolicyReader
    policy_changes: PolicyChangeHistory
    calendars: CalendarAdmin
    calendar_check: CalendarCheck
    namespaces: NamespaceAdmin
    windows: WindowAdmin
    schedule_groups: ScheduleGroups
    defaults: JobDefaults
    keys: KeyStore
    admin_changes: AdminChangeStore
    rates: RequestRates
    signing: SigningKeys
    secrets: SecretAdmin
    leases: LeaseStore
    clock: Clock
    ids: Ids
    reach: Reach
    auth: Auth


Query = TypeVar("Query", bound=BaseModel)
Body = TypeVar("Body")

#: A call of an `any` operation needs any key, and a call of an `open` one needs none. A call of a `callback`
#: operation needs the role `write` or the token of a run. The operation itself checks that token.
Access: TypeAlias = Role | Literal["any", "open", "callback"]


class NoQuery(BaseModel):
    """The query model of an operation that takes no query parameters."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Request(Generic[Query, Body]):
    """A valid request whose caller may call the operation.

    `path` holds the parameters of the path. The names in `headers` are in lower case. `function_arn` is the
    ARN of the API function; empty where nobody says it.
    """

    caller: Caller
    path: Mapping[str, str]
    query: Query
    body: Body
    headers: Mapping[str, str]
    requested_at: Instant
    function_arn: str = ""

    @property
    def namespace(self) -> str:
        """The namespace in the path."""
        return self.path["namespace"]

    @property
    def key(self) -> JobKey:
        """The job in the path."""
        return JobKey(self.path["namespace"], self.path["name"])

    @property
    def traceparent(self) -> str | None:
        """The trace context of the request; None if it has none that the standard accepts."""
        return read_traceparent(self.headers.get("traceparent"))


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a request. Its body is a JSON value, or absent.

    With a content type of text, it is that text, or its compressed bytes.
    """

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Accepts:
    """The body that an operation takes.

    `model` describes the body in the OpenAPI document. The operation gets it, unless `read` makes another
    value of the parsed JSON object, the services and the instant of the request. `read` raises InvalidError
    with all violations of the body. `types` are the content types that the operation accepts: by default
    application/json and each type that ends in `+json`. If the caller leaves out a body that is not
    `required`, it is an object without fields. `limit` is the name of the limit of the body's bytes in
    /v1/limits.
    """

    model: type[BaseModel]
    examples: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Mapping[str, Any], Services, Instant], Any] | None = None
    types: tuple[str, ...] | None = None
    required: bool = True
    limit: str = "smallBodyBytesMax"


@dataclass(frozen=True, slots=True)
class Returns:
    """A successful response: its meaning, its model, and the meaning of each header by name.

    A model of None means that the response has no body.
    """

    meaning: str
    model: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


#: Runs an operation for a valid request.
Run: TypeAlias = Callable[[Services, Request[Any, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method on a path. Both the route and the OpenAPI document are made from it.

    The parameters of the path are in braces. The function `run` has the name of the operation, in snake case.
    Its docstring is the operation's summary and description. There, the name of a limit in braces stands for
    its number. `about` comes before the description: it says what several operations have in common.
    """

    run: Run
    method: str
    path: str
    tag: str
    access: Access
    returns: Mapping[int, Returns]
    about: str = ""
    query: type[BaseModel] = NoQuery
    accepts: Accepts | None = None
    #: The meaning of each header that the operation takes. The API refuses a precondition that is not there.
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
    #: Makes the answer of an error, if it is not a problem document.
    refuses: Callable[[Exception], Reply] | None = None

    @property
    def name(self) -> str:
        """The `operationId` in the OpenAPI document."""
        return to_camel(self.run.__name__)

    @property
    def summary(self) -> str:
        """What the operation does, in a few words."""
        return self._texts[0].removesuffix(".")

    @property
    def description(self) -> str:
        """The sentences about the operation. Empty if the summary says everything."""
        sentences = " ".join(self._texts[1].split()).format_map(table())
        return f"{self.about} {sentences}".strip()

    @property
    def _texts(self) -> tuple[str, str]:
        summary, _, sentences = (self.run.__doc__ or "").partition("\n")
        return summary, sentences


_TAG: Final = r'(?:W/)?"[\x21\x23-\x7e\x80-\U0010ffff]*"'
_TAGS: Final = re.compile(rf"\s*{_TAG}\s*(?:,\s*{_TAG}\s*)*")
_FIND: Final = re.compile(_TAG)

_IF_MATCH_RULE: Final = (
    'Give the ETag of an answer unchanged, with its double quotes: "rev". Or give * for any revision.'
)
_IF_NONE_MATCH_RULE: Final = (
    "Give *: the call then writes only if there is nothing to replace. Give revisions in If-Match."
)


#: The headers by which a caller makes a write depend on what is stored.
_PRECONDITIONS: Final = ("If-Match", "If-None-Match")


def precondition_violations(taken: Collection[str], headers: Mapping[str, str]) -> list[Violation]:
    """A violation for each precondition of a write that the operation does not take.

    `taken` are the names of the headers that it takes. The names in `headers` are in lower case. If the API
    ignored a precondition, it would make a write that the caller wanted to prevent.
    """
    known = [name for name in _PRECONDITIONS if name in taken]
    instead = f"it takes {' and '.join(known)}" if known else "it takes no precondition"
    return [
        Violation(f"/{name}", f"This call does not take {name}: {instead}. Leave it out.")
        for name in _PRECONDITIONS
        if name.lower() in headers and name not in taken
    ]


class RevisionHeaders(NamedTuple):
    """How operations describe the headers that name a revision."""

    etag: dict[str, str]
    if_match: dict[str, str]
    if_none_match: dict[str, str]


def revision_headers(noun: str) -> RevisionHeaders:
    """The headers of operations on a `noun`, such as job."""
    rule = f"the call writes only if the {noun} has this revision. `*`: only if the {noun} exists."
    return RevisionHeaders(
        {"ETag": f"The revision of the {noun}, in double quotes."},
        {"If-Match": f"An ETag: {rule}"},
        {"If-None-Match": f"`*`: the call writes the {noun} only if it does not exist."},
    )


def etag(rev: str) -> str:
    """The entity tag of a revision."""
    return f'"{rev}"'


def parse_if_match(headers: Mapping[str, str]) -> tuple[str, ...] | None:
    """The revisions in an If-Match header. None without the header, and `*` for any revision.

    What is stored must have one of these revisions. RFC 9110 compares strongly for If-Match, so the result
    leaves out weak tags. It leaves out a `*` in quotes too: that names a revision, and no revision has this
    name. Raises PreconditionError if all tags are weak, and InvalidError if the header is not a list of tags.
    """
    if_match = headers.get("if-match")
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return ("*",)
    if not _TAGS.fullmatch(if_match):
        raise InvalidError([Violation("/If-Match", _IF_MATCH_RULE)])
    strong = tuple(tag[1:-1] for tag in _FIND.findall(if_match) if not tag.startswith("W/"))
    if not strong:
        raise PreconditionError(
            "A weak entity tag (W/) matches no revision. Give the tag as the ETag header showed it."
        )
    return tuple(tag for tag in strong if tag != "*")


def requires_absence(headers: Mapping[str, str]) -> bool:
    """Whether an If-None-Match header asks for a write only if there is nothing to replace.

    Raises InvalidError if the header is not `*`.
    """
    if_none_match = headers.get("if-none-match")
    if if_none_match is None:
        return False
    if if_none_match.strip() != "*":
        raise InvalidError([Violation("/If-None-Match", _IF_NONE_MATCH_RULE)])
    return True
