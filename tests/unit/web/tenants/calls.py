"""Every call of the API, read from the OpenAPI document, with a request that is right for a tenant's things.

A test that asks for `calls()` has a row for each operation of the document. A new operation gets its row by
itself. Its example may not suffice for a request that is accepted. Then `test_roles.py` fails until the
operation has an entry in one of the tables below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.http_events import document

from sweephand.web.routes.console import names as names_of_assets

#: The job that a call is about, if it is not the job `steady`.
_JOBS: Final[Mapping[str, str]] = {
    "getRun": "worker",
    "heartbeatRun": "worker",
    "completeRun": "worker",
    "failRun": "worker",
    "cancelRun": "worker",
    "redriveRun": "failing",
    "listBatches": "batched",
    "getBatch": "batched",
}

#: The query without which a call is refused. OpenAPI cannot say that one of two parameters is required.
_QUERIES: Final[Mapping[str, str]] = {"deleteJobs": "label=team:ops"}


@dataclass(frozen=True, slots=True)
class Names:
    """What a request names: a namespace, and things in it.

    `runs` has the name of a run of each job that has one.
    """

    namespace: str
    jobs: Mapping[str, str]
    runs: Mapping[str, str]
    calendar: str
    policy: str
    secret: str
    window: str
    batch: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the OpenAPI document."""

    name: str
    method: str
    path: str
    access: str
    successes: frozenset[int]
    example: Any
    has_cursor: bool

    @property
    def names_namespace(self) -> bool:
        """Whether the path says whose things the call is about."""
        return "{namespace}" in self.path

    @property
    def is_read(self) -> bool:
        """Whether the call changes nothing."""
        return self.method == "GET" or self.name in {"previewOccurrences", "previewCalendar"}

    def url(self, names: Names, query: str = "") -> str:
        """The URL of the call about these things. A query is added to the one that the call needs."""
        job = _JOBS.get(self.name, "steady")
        path = self.path.format(
            namespace=names.namespace,
            name=names.jobs[job],
            runId=names.runs.get(job, ""),
            calendar=names.calendar,
            policy=names.policy,
            secret=names.secret,
            window=names.window,
            batchId=names.batch,
            id=names.key_id,
            asset=names_of_assets()["app.js"],
        )
        query = "&".join(each for each in (_QUERIES.get(self.name, ""), query) if each)
        return f"{path}?{query}" if query else path

    def body(self, names: Names) -> Any:
        """The first example of the document. A namespace in it is that of the names."""
        if isinstance(self.example, dict) and "namespace" in self.example:
            return {**self.example, "namespace": names.namespace}
        return self.example


def calls() -> list[Call]:
    """The calls in the order of the document."""
    return [
        _call(path, method, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def _call(path: str, method: str, operation: Mapping[str, Any]) -> Call:
    parameters = operation.get("parameters", [])
    content = operation.get("requestBody", {}).get("content", {})
    examples = [each["value"] for kind in content.values() for each in kind["examples"].values()]
    return Call(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        access=operation["x-access"],
        successes=frozenset(int(status) for status in operation["responses"] if status.startswith("2")),
        example=examples[0] if examples else None,
        has_cursor=any(each["name"] == "cursor" for each in parameters),
    )
