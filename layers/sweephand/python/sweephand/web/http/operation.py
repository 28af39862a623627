"""The description of an operation of the API: its method and path, its access, its request, its responses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sweephand.base.instants import Instant
from sweephand.base.limits import table
from sweephand.model.api_key import Caller, Role
from sweephand.model.job import JobKey
from sweephand.web.services import Services

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
    #: The meaning of each precondition header that the operation takes. The API refuses any other
    #: precondition.
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[int, ...] = ()

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
