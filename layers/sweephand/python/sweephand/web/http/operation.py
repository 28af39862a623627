"""What an operation of the API is: a method on a path, its access, its request and its answers."""

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

#: `any` needs any key, and `open` needs none. `report` needs the role `write`, or the token of a run. The
#: operation itself checks that token.
Access: TypeAlias = Role | Literal["any", "open", "callback"]


class NoQuery(BaseModel):
    """An operation that takes no query parameters."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Request(Generic[Query, Body]):
    """A request that is admitted and valid.

    `path` holds the parameters of the path. The names in `headers` are in lower case.
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
    """The answer to a request: a JSON value, a text of another content type, or no body."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Body]):
    """The value of a JSON body, or what is wrong with it. With violations, `value` means nothing."""

    value: Body | None
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Accepts(Generic[Body]):
    """The body that an operation takes.

    `model` describes it in the OpenAPI document. `read` is called with the parsed JSON object, the services
    and the instant of the request. `types` are the content types that are accepted, by default every type of
    JSON. If a body that is not `required` is left out, `read` gets an object without fields.
    """

    model: type[BaseModel]
    read: Callable[[Mapping[str, Any], Services, Instant], Parsed[Body]]
    examples: Mapping[str, Any] = field(default_factory=dict)
    types: tuple[str, ...] | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Returns:
    """A successful answer: its meaning, its model (None: no body) and its headers by name and meaning."""

    meaning: str
    model: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    example: Any = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Query, Body]):
    """A method on a path, whose parameters are in braces. Routes and OpenAPI are both made from it."""

    method: str
    path: str
    name: str
    tag: str
    access: Access
    summary: str
    run: Callable[[Services, Request[Query, Body]], Reply]
    returns: Mapping[int, Returns]
    description: str = ""
    query: type[Query] = NoQuery  # type: ignore[assignment]  # the default of a type variable needs 3.13
    accepts: Accepts[Body] | None = None
    #: The request headers that it takes. A precondition in any other header is refused.
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
