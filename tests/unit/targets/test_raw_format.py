"""The format `raw`: which targets have it, what it fills in, and which data it cannot send."""

import json
from typing import Any, Final

import pytest
from tests.fakes.targets import EVENTBRIDGE, HTTP, LAMBDA, SECURE, SNS, SQS, STEPFUNCTIONS, pointers

from sweephand.model.definition import Payload
from sweephand.targets.raw_format import Filling, raw_text
from sweephand.targets.registry import data_violations, target_violations

ARN = "arn:aws:scheduler:eu-west-1:123456789012:schedule/default/nightly"
FILLING = Filling(ARN, 1_795_262_400_250, "trigger", 2)
OF_AWS = [LAMBDA, SQS, SNS, EVENTBRIDGE, STEPFUNCTIONS]


@pytest.mark.parametrize("spec", OF_AWS, ids=lambda each: each["type"])
def test_each_target_of_aws_has_the_format(spec: dict[str, Any]) -> None:
    assert pointers(spec | {"format": "json"}) == []
    assert pointers(spec | {"format": "raw"}) == []
    assert pointers(spec | {"format": "raw", "scheduleArn": ARN}) == []


@pytest.mark.parametrize("spec", OF_AWS, ids=lambda each: each["type"])
@pytest.mark.parametrize(
    ("fields", "pointer", "said"),
    [
        ({"format": "rwa"}, "/target/format", "Did you mean raw? Use one of json, raw."),
        ({"format": 5}, "/target/format", "Use one of json, raw."),
        ({"format": "raw", "scheduleArn": "nightly"}, "/target/scheduleArn", f"for instance {ARN}."),
        ({"scheduleArn": ARN}, "/target/scheduleArn", 'only "format": "raw" fills it in.'),
    ],
)
def test_a_wrong_format_is_refused(
    spec: dict[str, Any], fields: dict[str, Any], pointer: str, said: str
) -> None:
    (found,) = target_violations(spec | fields, has_data=True, reach=SECURE)
    assert found.pointer == pointer
    assert found.detail.endswith(said)


def test_http_has_formats_of_its_own() -> None:
    assert pointers(HTTP | {"format": "raw"}) == ["/target/format"]


@pytest.mark.parametrize(
    ("data", "sent"),
    [
        ('"plain text"', "plain text"),
        (r'"two\nlines \u00fc"', "two\nlines ü"),
        ('{"n":1.10}', '{"n":1.10}'),
        ("null", "null"),
        ('"<aws.scheduler.schedule-arn>"', ARN),
        ('{"at":"<aws.scheduler.scheduled-time>"}', '{"at":"2026-11-21T12:00:00Z"}'),
        ('"<aws.scheduler.attempt-number>/<aws.scheduler.attempt-number>"', "2/2"),
        (
            '"<aws.scheduler.execution-id> <aws.scheduler.other> <aws.other>"',
            "trigger <aws.scheduler.other> <aws.other>",
        ),
    ],
)
def test_the_consumer_gets_the_data_alone_with_its_placeholders_filled_in(data: str, sent: str) -> None:
    assert raw_text(data, FILLING) == sent


def test_what_is_filled_in_is_not_read_again() -> None:
    filling = FILLING._replace(id="<aws.scheduler.attempt-number>")
    assert raw_text('"<aws.scheduler.execution-id>"', filling) == "<aws.scheduler.attempt-number>"


ANY = ['"text"', '"{}"', "{}", "[1]", "null", '"{\\"n\\": <aws.scheduler.attempt-number>}"']


@pytest.mark.parametrize(
    ("spec", "taken"),
    [
        (SQS, ANY),
        (SNS, ANY),
        (LAMBDA, ANY[1:]),
        (STEPFUNCTIONS, ANY[1:]),
        (EVENTBRIDGE, ['"{}"', "{}", ANY[-1]]),
    ],
    ids=lambda each: each.get("type") if isinstance(each, dict) else "",
)
def test_data_that_the_service_would_refuse_is_refused_when_it_is_written(
    spec: dict[str, Any], taken: list[str]
) -> None:
    raw = spec | {"format": "raw"}
    assert [each for each in ANY if not data_violations(raw, Payload.of(each), {})] == taken
    refused = [data_violations(raw, Payload.of(each), {}) for each in ANY if each not in taken]
    for (found,) in refused:
        assert found.pointer == "/data"
        assert found.detail.endswith(("takes only JSON.", "takes only a JSON object."))
    assert not any(data_violations(spec, Payload.of(each), {}) for each in ANY)


NAMED: Final = '{"sweephand": {"namespace": "billing", "job": "invoices"}, "data": 1}'


@pytest.mark.parametrize(
    "data",
    [
        NAMED,
        json.dumps(NAMED),
        f'{{"detail": {NAMED}}}',
        f'{{"Records": [{{"eventSource": "aws:sqs", "messageAttributes": {NAMED}}}]}}',
        NAMED.replace("sweephand", r"\u0073weephand"),
        json.dumps(NAMED.replace("sweephand", "sweep<aws.scheduler.schedule-arn>hand")),
    ],
)
def test_nobody_can_write_a_delivery_with_names_for_a_consumer_of_the_data_alone(data: str) -> None:
    for spec in (LAMBDA, STEPFUNCTIONS, EVENTBRIDGE):
        (found,) = data_violations(spec | {"format": "raw"}, Payload.of(data), {})
        assert (found.pointer, "the field sweephand" in found.detail) == ("/data", True)
        assert data_violations(spec, Payload.of(data), {}) == []
    for spec in (SQS, SNS):
        assert data_violations(spec | {"format": "raw"}, Payload.of(data), {}) == []


def test_data_alone_may_speak_of_sweephand() -> None:
    data = Payload.of('{"text": "sweephand", "\\u0061": ["sweephand"]}')
    assert data_violations(LAMBDA | {"format": "raw"}, data, {}) == []


#: The characters at the bounds of what SQS takes, and those beyond.
TAKEN = "\t\n\r \x7f\x80\ud7ff\ue000\ufffd\U00010000\U0010ffff"
OTHERS = "\x00\x08\x0b\x0c\x0e\x1f\ufffe\uffff"


@pytest.mark.parametrize("character", TAKEN + OTHERS, ids=ascii)
def test_a_text_with_a_character_that_sqs_does_not_take_is_refused(character: str) -> None:
    data = Payload.of(json.dumps(f"a{character}b"))
    expected = [] if character in TAKEN else ["/data"]
    assert [each.pointer for each in data_violations(SQS | {"format": "raw"}, data, {})] == expected
    assert data_violations(SNS | {"format": "raw"}, data, {}) == []
    assert data_violations(SQS, data, {}) == []


@pytest.mark.parametrize("spec", [SQS, SNS], ids=lambda each: each["type"])
def test_a_text_that_would_be_empty_is_refused(spec: dict[str, Any]) -> None:
    arn = '"<aws.scheduler.schedule-arn>"'
    for target, text in ((spec, '""'), (spec, arn), (spec | {"scheduleArn": ""}, arn)):
        (found,) = data_violations(target | {"format": "raw"}, Payload.of(text), {})
        assert found.detail == "This target gets the text alone, and takes no empty one."
    assert data_violations(spec | {"format": "raw", "scheduleArn": ARN}, Payload.of(arn), {}) == []
    assert data_violations(spec | {"format": "raw"}, Payload.of('" "'), {}) == []
    assert data_violations(spec, Payload.of('""'), {}) == []


@pytest.mark.parametrize("arn", [5, None, ["a"]])
def test_data_beside_a_schedule_arn_of_another_type_can_be_judged(arn: object) -> None:
    target = SQS | {"format": "raw", "scheduleArn": arn}
    assert data_violations(target, Payload.of('"a <aws.scheduler.schedule-arn>"'), {}) == []


def test_a_text_that_is_nested_too_deeply_is_refused() -> None:
    deep = json.dumps("[" * 100_000)
    (found,) = data_violations(LAMBDA | {"format": "raw"}, Payload.of(deep), {})
    assert found.pointer == "/data"
