"""The JSON Schema of a file of jobs refuses what `apply` refuses for its shape, and takes what it takes."""

import json
from typing import Any, Final

import pytest
from tests.fakes.http_events import document
from tests.unit.client.conftest import JOB, CommandLine
from tests.unit.client.jobs_schema import errors_of, errors_of_job
from tests.unit.client.test_jobs_file import FILE, MISSHAPEN
from tests.unit.docs.blocks import all_blocks

from sweephand.web.schemas.job_requests import NamedJobRequest
from sweephand.web.schemas.shapes import check
from sweephand_client.tasks.jobs_file import jobs_schema

#: Values of every type, of which each field refuses some.
VALUES: Final[tuple[Any, ...]] = (-1, 1.5, 10**9, True, "", "x" * 3_000, [], [1], {}, {"x": 1}, {"x": "y"})

#: Fields that take every value here. A rule of its own judges the shape of a schedule.
ANY_VALUE: Final = ("schedule", "data")

#: Jobs that the API refuses for their shape.
REFUSED: Final[tuple[dict[str, Any], ...]] = (
    {"schedul": "@daily"},
    {"schedule": {"minut": 1}},
    {"schedule": []},
    {"dueTime": 3},
    {"overlap": "wiat"},
    {"retry": {"maxAttempts": 0}},
    {"retry": {"attempts": 3}},
    {"batch": {"window": "1h"}},
    {"labels": {"a:b": "c"}},
    {"labels": {"a": 1}},
    {"target": {"type": "htp"}},
    {"target": {"type": "http"}},
    {"target": {"type": "http", "url": "https://consumer.example/", "method": "POTS"}},
    {"target": {"type": "sqs", "url": "https://consumer.example/"}},
    {"onComplete": {"type": "job"}},
)


def test_the_command_prints_the_schema_of_the_stack(sweephand: CommandLine) -> None:
    assert json.loads(sweephand.ok("schema").out) == jobs_schema(document())


def test_the_schema_has_every_reference_and_no_type_that_nothing_names() -> None:
    schema = jobs_schema(document())
    assert {"HttpTarget", "RetryRequest", "Dst"} <= schema["components"]["schemas"].keys()
    assert "RunResponse" not in schema["components"]["schemas"]


@pytest.mark.parametrize(
    "block",
    [
        each
        for each in all_blocks("yaml")
        if "\ncommands:\n" not in f"\n{each.text}" and each.page.name != "jobs-as-code.md"
    ],
    ids=lambda each: each.place,
)
def test_the_schema_accepts_the_files_of_the_pages(block: Any) -> None:
    assert errors_of(block.text) == []


def test_the_schema_accepts_a_file_with_everything() -> None:
    assert errors_of(FILE) == []


@pytest.mark.parametrize(("text", "said"), MISSHAPEN)
def test_the_schema_refuses_what_the_reader_of_files_refuses(text: str, said: str) -> None:
    assert errors_of(text), said


def test_apply_refuses_each_job_of_a_wrong_shape_and_so_does_the_schema(sweephand: CommandLine) -> None:
    jobs = [{"name": f"job-{number}", **JOB, **each} for number, each in enumerate(REFUSED)]
    path = sweephand.file("jobs.json", json.dumps({"jobs": jobs}))
    results = sweephand.run("apply", "-f", path, "--json").json["results"]
    assert {each["name"] for each in results if each["did"] == "refused"} == {each["name"] for each in jobs}
    assert [each for each in jobs if not errors_of_job(each)] == []


@pytest.mark.parametrize("field", document()["components"]["schemas"]["NamedJobRequest"]["properties"])
def test_the_schema_refuses_each_value_that_the_api_refuses_for_its_shape(field: str) -> None:
    jobs = [{"name": "job", field: value} for value in VALUES]
    refused = [job for job in jobs if check(NamedJobRequest, job)[1]]
    assert [job for job in refused if not errors_of_job(job)] == []
    assert bool(refused) == (field not in ANY_VALUE)
