"""What an operation of the API is: one method on one path, who may ask it, what it takes and gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from sweephand.base.errors import Violation
from sweephand.base.instants import Instant
from sweephand.model.api_key import Caller, Role
from sweephand.model.job import JobKey
from sweephand.web.services import Services

Query = TypeVar("Query", bound=BaseModel)
Body = TypeVar("Body")

#: `any` is whoever has a key, `open` whoever asks; `report` is whoever may write, and whoever sends a run's
#: token, which the operation itself looks at.
Access: TypeAlias = Role | Literal["any", "open", "report"]


class NoQuery(BaseModel):
    """No query parameter at all."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Request(Generic[Query, Body]):
    """A request that has been let in and whose every field has been found valid.

    `path` holds the path's parameters. `headers` are by lower-case name.
    """

    caller: Caller
    path: Mapping[str, str]
    query: Query
    body: Body
    headers: Mapping[str, str]
    requested_at: Instant

    @property
    def namespace(self) -> str:
        """The namespace in the path."""
        return self.path["namespace"]

    @property
    def key(self) -> JobKey:
        """The job in the path."""
        return JobKey(self.path["namespace"], self.path["name"])


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered: a JSON value, or text of another content type, or nothing."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Taken(Generic[Body]):
    """What a JSON body was read as, or what is wrong with it."""

    value: Body | None
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Accepts(Generic[Body]):
    """The body of an operation: its model for the reader of the API, and how a document is read.

    `read` is given the parsed JSON object, the services and the instant of the request. `types` are the
    content types that are taken, where they are not those of JSON in general. A body that is not `required`
    may be left out: it is then an object without fields.
    """

    model: type[BaseModel]
    read: Callable[[Mapping[str, Any], Services, Instant], Taken[Body]]
    examples: Mapping[str, Any] = field(default_factory=dict)
    types: tuple[str, ...] | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Gives:
    """A successful answer: its meaning, its model (None: no body) and its headers by name and meaning."""

    meaning: str
    model: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    example: Any = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Query, Body]):
    """One method on one path (parameters in braces), told so that routes and OpenAPI both follow from it."""

    method: str
    path: str
    name: str
    tag: str
    access: Access
    summary: str
    run: Callable[[Services, Request[Query, Body]], Reply]
    gives: Mapping[int, Gives]
    description: str = ""
    query: type[Query] = NoQuery  # type: ignore[assignment]  # the default of a type variable needs 3.13
    accepts: Accepts[Body] | None = None
    #: The request headers that it takes; a precondition that it does not take is refused.
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
