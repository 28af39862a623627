"""The rules of a job, as any API of Sweephand uses them: without HTTP."""

import json
from typing import Any

import pytest
from tests.fakes.targets import HTTP, SECURE
from tests.fakes.world import NOON

from sweephand.base.errors import Violation
from sweephand.base.limits import DATA_BYTES_MAX, SQS_DATA_BYTES_MAX
from sweephand.jobs.validation import job_violations, payload_of, payload_violations
from sweephand.model.definition import Payload
from sweephand.targets.reach import NO_QUEUE

ALERT: dict[str, Any] = {"alertAfter": "10m", "onAlert": HTTP}
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/letters"
JOB: dict[str, Any] = {"dueTime": "10s", "target": HTTP}
#: A target within its bounds. Two of them are too large for one job.
LARGE: dict[str, Any] = {**HTTP, "headers": {"x-large": "x" * 8_000}}


def pointers(written: dict[str, Any], payload: Payload | None = None, **options: Any) -> list[str]:
    found = job_violations(written, payload, **{"reach": SECURE, "requested_at": NOON, **options})
    return [each.pointer for each in found]


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        {"target": HTTP},
        {**JOB, "retry": {"initialDelay": "0s"}, "catchup": {"mode": "all"}, "labels": {"team": "ops"}},
        {**JOB, "overlap": "wait", "waitLimit": 5, "deadLetterQueue": QUEUE},
        {**JOB, "onComplete": {"type": "job", "name": "next"}},
        {**JOB, **ALERT},
        {**JOB, **ALERT, "alertAfter": "7d", "history": "full"},
        {**JOB, **ALERT, "alertAfter": "PT1M", "onAlert": {"type": "default"}},
    ],
)
def test_a_valid_job_has_no_violation(job: dict[str, Any]) -> None:
    assert pointers(job) == []


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"target": {"type": "http"}}, "/target/url"),
        ({"onComplete": {"type": "job"}}, "/onComplete/name"),
        ({"retry": {"maxAge": "soon"}}, "/retry/maxAge"),
        ({"retry": {"maxAge": "0s"}}, "/retry/maxAge"),
        ({"retry": {"maxDelay": "31d"}}, "/retry/maxDelay"),
        ({"catchup": {"window": "119s"}}, "/catchup/window"),
        ({"deadLetterQueue": "letters"}, "/deadLetterQueue"),
        ({"labels": {"a:b": ""}}, "/labels/a:b"),
        ({"waitLimit": 5}, "/waitLimit"),
        ({"maxRunTime": "5m"}, "/maxRunTime"),
        ({"target": LARGE, "onComplete": LARGE}, ""),
        ({"alertAfter": "10m"}, "/onAlert"),
        ({"onAlert": HTTP}, "/alertAfter"),
        ({**ALERT, "alertAfter": "59s"}, "/alertAfter"),
        ({**ALERT, "alertAfter": "169h"}, "/alertAfter"),
        ({**ALERT, "alertAfter": "soon"}, "/alertAfter"),
        ({**ALERT, "alertAfter": "0s"}, "/alertAfter"),
        ({**ALERT, "onAlert": {"type": "http"}}, "/onAlert/url"),
        ({**ALERT, "onAlert": {"type": "job", "name": "next"}}, "/onAlert/type"),
        ({**ALERT, "history": "failures"}, "/history"),
        ({**ALERT, "batch": {"count": 5}}, "/alertAfter"),
    ],
)
def test_a_broken_rule_is_a_violation_with_its_pointer(fields: dict[str, Any], pointer: str) -> None:
    assert pointers({**JOB, **fields}) == [pointer]


def test_a_job_that_has_no_due_time_has_nothing_to_watch() -> None:
    assert pointers({"target": HTTP, **ALERT}) == ["/alertAfter"]


def test_all_violations_come_at_once_with_those_of_the_times() -> None:
    job = {"dueTime": "2020-01-01T00:00:00Z", "timezone": "Nowhere", "target": {"type": "http"}}
    assert pointers(job) == ["/target/url", "/timezone", "/dueTime"]


def test_the_times_of_a_valid_job_are_left_to_the_writer() -> None:
    assert pointers({**JOB, "dueTime": "2020-01-01T00:00:00Z"}) == []


def test_a_field_whose_shape_was_refused_is_not_judged_again() -> None:
    job = {**JOB, "labels": 5, "timezone": "Nowhere"}
    assert pointers(job, refused=[Violation("/labels", "Must be an object.")]) == ["/timezone"]


def test_no_rule_judges_a_field_whose_shape_was_refused() -> None:
    job = {**JOB, "waitLimit": 0, "timezone": "x" * 65, "dueTime": "2020-01-01T00:00:00Z"}
    refused = [Violation("/waitLimit", "Must be at least 1."), Violation("/timezone", "Too long.")]
    assert pointers(job, refused=refused) == ["/dueTime"]


def test_a_duration_is_judged_beside_a_field_of_another_shape() -> None:
    job = {**JOB, "retry": {"maxAttempts": "3", "maxAge": "0s"}}
    assert pointers(job, refused=[Violation("/retry/maxAttempts", "Must be a whole number.")]) == [
        "/retry/maxAge"
    ]


def test_the_violations_come_in_the_order_of_the_fields() -> None:
    job = {"labels": {"a:b": ""}, "retry": {"maxAge": "0s"}, "target": {"type": "http"}, "dueTime": "10s"}
    assert pointers(job) == ["/target/url", "/retry/maxAge", "/labels/a:b"]


def test_a_stored_field_may_be_without_effect_and_one_that_is_written_may_not() -> None:
    job = {**JOB, "waitLimit": 5}
    assert pointers(job, asked={"dueTime"}) == []
    assert pointers(job, asked={"waitLimit"}) == ["/waitLimit"]


def test_a_job_that_fires_on_demand_has_no_occurrences_to_catch_up_with() -> None:
    job = {"target": HTTP, "catchup": {"mode": "all"}, "deleteAfterCompletion": True}
    assert pointers(job) == ["/catchup", "/deleteAfterCompletion"]


def test_a_queue_that_the_stack_does_not_list_is_refused() -> None:
    reach = SECURE._replace(queues=NO_QUEUE)
    assert pointers({**JOB, "deadLetterQueue": QUEUE}, reach=reach) == ["/deadLetterQueue"]


def test_data_needs_a_target_that_sends_it() -> None:
    job = {**JOB, "target": {**HTTP, "method": "GET"}}
    assert pointers(job) == []
    assert pointers(job, payload_of("1")) == ["/target/method"]


def test_labels_have_room_in_a_header() -> None:
    longest = {f"{number:02d}".ljust(128, "n"): "v" * 128 for number in range(20)}
    assert pointers({**JOB, "labels": longest}) == []
    assert pointers({**JOB, "labels": dict.fromkeys(longest, "\u00fc" * 128)}) == ["/labels"]


def test_data_leaves_room_for_labels_where_one_message_holds_both() -> None:
    sqs, labels = {"type": "sqs", "queueUrl": QUEUE}, {"team": "\u00fc"}
    assert len(json.dumps(labels, separators=(",", ":"))) == 17
    for target, most in ((sqs, SQS_DATA_BYTES_MAX - 17), (HTTP, DATA_BYTES_MAX)):
        job = {**JOB, "target": target, "labels": labels}
        assert pointers(job, payload_of('"' + "x" * (most - 2) + '"')) == []
    (found,) = job_violations(
        {**JOB, "target": sqs, "labels": labels},
        payload_of('"' + "x" * (SQS_DATA_BYTES_MAX - 18) + '"'),
        reach=SECURE,
        requested_at=NOON,
    )
    assert found.pointer == "/data"
    assert found.detail.endswith("of type sqs give at most 261103 (sqsDataBytesMax less the labels).")


def test_the_size_of_data_counts_the_bytes_that_are_sent() -> None:
    assert payload_of('"\uffff"').text == '"\\uffff"'
    assert payload_violations(payload_of('"' + "x" * (DATA_BYTES_MAX - 2) + '"')) == []
    (found,) = payload_violations(payload_of('"' + "x" * (DATA_BYTES_MAX - 1) + '"'))
    assert found.pointer == "/data"
