"""The client knows every operation of the API as the OpenAPI document has it."""

import ast
from pathlib import Path
from typing import Any, Final, get_type_hints, is_typeddict

import pytest
from tests.fakes.http_events import document

import sweephand_client.api
from sweephand_client.api import answers, figures, repairs
from sweephand_client.http.operations import OPERATIONS

#: The operations that the client leaves out, and why.
LEFT_OUT: Final = {
    "heartbeatRun": "A consumer calls it with the token of its run, from its own code.",
    "completeRun": "A consumer calls it with the token of its run, from its own code.",
    "failRun": "A consumer calls it with the token of its run, from its own code.",
    "showPage": "A page for a browser.",
    "showConsole": "A page for a browser.",
    "showConsoleAsset": "A file of a page for a browser.",
    "showDescription": "The OpenAPI document itself, for tools that read OpenAPI.",
}

#: The schema of each answer in the document. Pages and bodies of requests have no types in the client.
SCHEMAS: Final = {
    "Failure": "FailureResponse",
    "Run": "RunResponse",
    "AdminChange": "AdminChangeResponse",
    "NamespaceRun": "NamespaceRunResponse",
    "Job": "JobResponse",
    "WholeJob": "WholeJobResponse",
    "Nearest": "NearestResponse",
    "Next": "NextResponse",
    "Explanation": "ExplainResponse",
    "Redriven": "RedriveResponse",
    "Triggered": "TriggerResponse",
    "Backfilled": "BackfillResponse",
    "BatchEnd": "BatchEndResponse",
    "ListedBatch": "ListedBatchResponse",
    "Batch": "BatchResponse",
    "Occurrence": "OccurrenceResponse",
    "Skipped": "SkippedResponse",
    "Occurrences": "OccurrencesResponse",
    "ForecastBucket": "ForecastBucketResponse",
    "Forecast": "ForecastResponse",
    "LatenessClass": "LatenessClassResponse",
    "StatsStep": "StatsStepResponse",
    "Stats": "StatsResponse",
    "FieldChange": "FieldChangeResponse",
    "Change": "ChangeResponse",
    "Rate": "PolicyRateResponse",
    "Policy": "PolicyResponse",
    "WholePolicy": "WholePolicyResponse",
    "Namespace": "NamespaceSummary",
    "NamespaceSettings": "NamespaceResponse",
    "Secret": "NamedSecretResponse",
    "SigningSecret": "SecretResponse",
    "PublicKey": "PublicKeyResponse",
    "Key": "KeyResponse",
    "NewKey": "NewKeyResponse",
    "RotatedKey": "RotatedKeyResponse",
    "Me": "MeResponse",
    "Health": "HealthResponse",
    "NotRebuilt": "NotRebuiltResponse",
    "Rebuilt": "RebuildResponse",
    "LostTimer": "LostTimerResponse",
    "LostRun": "LostRunResponse",
    "NotAudited": "NotAuditedResponse",
    "Audited": "AuditResponse",
    "BulkResult": "BulkWriteResult",
}


#: The types of the client's answers by their names.
ANSWERS: Final[dict[str, Any]] = {
    name: kind
    for name, kind in {**vars(answers), **vars(figures), **vars(repairs)}.items()
    if is_typeddict(kind)
}


def described() -> dict[str, tuple[str, str]]:
    """The method and the path of each operation of the document, by its name."""
    return {
        operation["operationId"]: (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_is_in_the_table_or_left_out_for_a_reason() -> None:
    known = {name: (each.method, each.path) for name, each in OPERATIONS.items()}

    assert known == {name: where for name, where in described().items() if name not in LEFT_OUT}
    assert LEFT_OUT.keys() <= described().keys()


def test_a_method_of_the_client_calls_each_operation_of_the_table() -> None:
    texts = {
        node.value
        for path in Path(sweephand_client.api.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }

    assert set(OPERATIONS) - texts == set()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_type_of_an_answer_has_the_fields_of_its_schema(name: str) -> None:
    schema: dict[str, Any] = document()["components"]["schemas"][SCHEMAS[name]]
    kind = ANSWERS[name]

    assert set(get_type_hints(kind)) == set(schema["properties"])
    assert set(kind.__required_keys__) == set(schema["required"])


def test_every_type_is_compared_with_a_schema() -> None:
    assert set(ANSWERS) == set(SCHEMAS)


def test_only_requests_that_make_something_new_each_time_are_never_repeated() -> None:
    assert {name for name, each in OPERATIONS.items() if each.repeats == "never"} == {
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
    assert OPERATIONS["putJob"].is_repeatable(headers, job) == is_repeatable


def test_only_reads_change_nothing() -> None:
    assert {name for name, each in OPERATIONS.items() if each.reads and each.method != "GET"} == {
        "previewOccurrences"
    }
