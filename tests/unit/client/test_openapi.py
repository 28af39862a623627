"""The client's types and operations are those of the OpenAPI document."""

import ast
from pathlib import Path
from typing import Any, Final

import pytest
from infra import client_types
from tests.fakes.http_events import document

import sweephand_client.api
from sweephand_client.api.client import Client
from sweephand_client.http.errors import InvalidError
from sweephand_client.http.operation import Operation
from sweephand_client.openapi import operations

OPERATIONS: Final[dict[str, Operation[Any, Any]]] = {
    constant: each for constant, each in vars(operations).items() if isinstance(each, Operation)
}


def test_what_is_committed_is_what_the_document_says() -> None:
    written = {path.stem: path.read_text("utf-8") for path in client_types.FOLDER.glob("[!_]*.py")}
    assert written == client_types.modules(document()), "run make client-types, and commit what it writes"


def test_every_operation_that_the_client_leaves_out_exists() -> None:
    described = {each["operationId"] for methods in document()["paths"].values() for each in methods.values()}
    assert described == client_types.LEFT_OUT.keys() | {each.name for each in OPERATIONS.values()}


def test_a_method_of_the_client_calls_each_operation() -> None:
    named = {
        node.attr
        for path in Path(sweephand_client.api.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert OPERATIONS.keys() - named == set()


# Below, `make types` fails where mypy accepts what the API refuses: it reports an ignore without an error.


def test_mypy_and_the_api_refuse_a_field_that_no_job_has(client: Client) -> None:
    with pytest.raises(InvalidError, match="/schedul: There is no such field"):
        client.jobs.put("ns", "job", {"schedul": 1})  # type: ignore[typeddict-unknown-key]


def test_mypy_and_the_api_refuse_a_value_that_no_field_of_a_job_has(client: Client) -> None:
    with pytest.raises(InvalidError, match="/overlap: "):
        client.jobs.put("ns", "job", {"overlap": "wiat"})  # type: ignore[typeddict-item]


def test_mypy_and_the_api_refuse_a_target_without_its_address(client: Client) -> None:
    with pytest.raises(InvalidError, match="/target/url: Give a URL"):
        client.jobs.put("ns", "job", {"target": {"type": "http"}})  # type: ignore[typeddict-item]


def test_mypy_and_the_api_refuse_a_state_that_no_run_has(client: Client) -> None:
    with pytest.raises(InvalidError, match="/state: "):
        next(client.runs.list("ns", "job", state="runing"))  # type: ignore[arg-type]


def test_mypy_knows_the_fields_of_an_answer(client: Client) -> None:
    with pytest.raises(KeyError):
        client.me()["rolle"]  # type: ignore[typeddict-item]


def test_only_requests_that_make_something_new_each_time_are_never_repeated() -> None:
    assert {each.name for each in OPERATIONS.values() if not each.is_repeatable({"if-match": '"1"'}, {})} == {
        "putJobs",
        "triggerJob",
        "backfillJob",
        "redriveRun",
        "redriveRuns",
        "makeKey",
        "rotateKey",
        "rotateSigningSecrets",
        "rotateSigningKeys",
    }


@pytest.mark.parametrize(
    ("headers", "job", "is_repeatable"),
    [
        ({}, {"dueTime": "2s"}, False),
        ({"if-match": "*"}, {"dueTime": "2s"}, False),
        ({"if-match": '"1"'}, {"dueTime": "2s"}, True),
        ({"if-none-match": "*"}, {"dueTime": "2s"}, True),
        ({"if-none-match": "*"}, {"dueTime": "2s", "deleteAfterCompletion": True}, False),
        ({"if-match": '"1"'}, {"dueTime": "2s", "deleteAfterCompletion": True}, True),
    ],
)
def test_a_job_is_written_twice_only_if_the_second_write_is_refused(
    headers: dict[str, str], job: dict[str, Any], *, is_repeatable: bool
) -> None:
    assert operations.PUT_JOB.is_repeatable(headers, job) == is_repeatable


def test_only_reads_change_nothing() -> None:
    assert {each.name for each in OPERATIONS.values() if each.reads({}) and each.method != "GET"} == {
        "previewOccurrences",
        "previewCalendar",
    }
    assert not operations.PUT_JOBS.is_repeatable({}, {"jobs": []})
    assert operations.PUT_JOBS.reads({"jobs": [], "dryRun": True})
    assert operations.PUT_JOBS.is_repeatable({}, {"jobs": [], "dryRun": True})
