"""The answer to bad input has a bounded size, however large and however wrong the input is."""

import json
from collections.abc import Iterator
from time import process_time
from typing import Any, Final, NamedTuple

import pytest
from tests.fakes.http_events import JOB, TARGET, Client, event_of

from sweephand.base.limits import BODY_BYTES_MAX, JOBS_PER_BULK_MAX, PROBLEM_BYTES_MAX, PROBLEM_ERRORS_MAX

JOBS: Final = "/v1/namespaces/ns/jobs"
NAMESPACE: Final = "/v1/namespaces/ns"

#: What Lambda lets a function answer. The answer is JSON, and its body is a text in it.
LAMBDA_ANSWER_BYTES_MAX: Final = 6_291_556

#: The gateway takes a request line and headers of 10,240 bytes together.
LINE_LENGTH_MAX: Final = 8_000


class Bad(NamedTuple):
    """A request that cannot be accepted. `body` is sent as JSON unless it is a text already."""

    what: str
    method: str
    url: str
    body: Any = None


#: Characters that take more room in JSON, in a JSON pointer, in UTF-8 or as an escape sequence.
FILLERS: Final = ("x", "~", '"', "\x00", "💥", "\u202e")


def long(filler: str, share: int = 1) -> str:
    """A text of this filler that fills a body, or one part of `share` parts of it."""
    return filler * (
        (BODY_BYTES_MAX - 2_000) // share // len(json.dumps(filler, ensure_ascii=False).encode()[1:-1])
    )


def many(count: int = 10_000, value: Any = 0) -> dict[str, Any]:
    return {f"unknown{number}": value for number in range(count)}


def bad_requests() -> Iterator[Bad]:
    yield from bad_jobs()
    yield from bad_bulks()
    yield Bad("10,000 unknown fields of a key", "POST", "/v1/keys", many())
    yield Bad(
        "a namespace of 1 MB for a key", "POST", "/v1/keys", {"namespace": long("/"), "role": long('"')}
    )
    dates = [long("9", 2), *many()]
    calendar = {"weekend": dates, "holidays": [many()] * 10, "closed": dates, "open": [many()], **many()}
    yield Bad("a calendar", "PUT", f"{NAMESPACE}/calendars/c", calendar)
    yield Bad("500 dates of 1 KB", "PUT", f"{NAMESPACE}/calendars/c", {"closed": ["9" * 1_000] * 500})
    yield Bad("a policy", "PUT", f"{NAMESPACE}/policies/p", {"rate": many(), **many()})
    headers = {"limits": many(), "defaultTarget": {**TARGET, "headers": many()}, "defaultRetry": many()}
    yield Bad("settings", "PUT", NAMESPACE, headers)
    yield Bad("a secret of 1 MB", "PUT", f"{NAMESPACE}/secrets/s", {"value": long("é")})
    yield Bad("a schedule to preview", "POST", "/v1/occurrences", {"schedule": many(), "after": long("9", 2)})
    yield Bad("a filter", "POST", f"{NAMESPACE}/pause", {"labels": many(), "reason": long("x", 2)})
    yield Bad("a cursor of 1 MB", "POST", f"{NAMESPACE}/redrive", {"prefix": "a", "cursor": long("x")})
    yield Bad("a span", "POST", f"{JOBS}/job/backfill", {"from": long("x", 2), "to": long("9", 3)})
    yield Bad("a name twice", "PUT", f"{JOBS}/job", f'{{"{long("x", 3)}": 1, "{long("x", 3)}": 2}}')
    yield Bad("no JSON", "PUT", f"{JOBS}/job", long("[", 2))
    line = "x" * LINE_LENGTH_MAX
    yield Bad("a long name", "GET", f"{JOBS}/{line}")
    yield Bad("a long path", "GET", f"/v1/{line}")
    yield Bad("a long run", "GET", f"{JOBS}/job/runs/{line}")
    yield Bad("a long batch", "GET", f"{JOBS}/job/batches/{line}")
    yield Bad("a long key", "DELETE", f"/v1/keys/{line}")
    yield Bad("a long method", line, JOBS)
    yield Bad("a long cursor", "GET", f"{JOBS}?cursor={line}")
    yield Bad("a long parameter", "GET", f"{JOBS}?{line}=1")
    yield Bad("4,000 parameters", "GET", f"{JOBS}?" + "&".join(f"{n}=" for n in range(1_600)))
    yield Bad("4,000 labels", "GET", f"{JOBS}?" + "&".join(["label="] * 1_100))
    yield Bad("a parameter of escapes", "GET", f"{JOBS}?" + "%00" * 2_600)


def bad_jobs() -> Iterator[Bad]:
    for filler in FILLERS:
        text = ascii(filler)
        for name, job in {
            "a field": {**JOB, long(filler): 0},
            "a field of the target": {**JOB, "target": {**TARGET, long(filler): 0}},
            "a label": {**JOB, "labels": {f":{long(filler, 2)}": long(filler, 2)}},
            "a header": {**JOB, "target": {**TARGET, "headers": {long(filler, 2): long(filler, 2)}}},
            "a type and a schedule": {"target": {"type": long(filler, 2)}, "schedule": long(filler, 2)},
            "a URL and a zone": {"target": {**TARGET, "url": long(filler, 2)}, "timezone": long(filler, 2)},
        }.items():
            yield Bad(f"{name} of 1 MB of {text}", "PUT", f"{JOBS}/job", job)
    for where, job in {
        "of a job": {**JOB, **many()},
        "of a target": {**JOB, "target": {**TARGET, **many()}},
        "of headers": {**JOB, "target": {**TARGET, "headers": many(30), **many()}},
        "of labels": {**JOB, "labels": {**many(9_000, ""), **many(1_000, 1)}},
        "of a schedule": {**JOB, "schedule": many()},
        "of everything": {each: many(800) for each in ("target", "retry", "dst", "catchup", "batch")},
    }.items():
        yield Bad(f"10,000 unknown fields {where}", "PUT", f"{JOBS}/job", job)
    yield Bad("10,000 parts of cron", "PUT", f"{JOBS}/job", {**JOB, "schedule": "61," * 10_000 + " * * * *"})
    yield Bad("a cron list", "PUT", f"{JOBS}/job", {**JOB, "schedule": "61," * 300 + "61 * * * *"})
    yield Bad("10,000 instants", "PUT", f"{JOBS}/job", {**JOB, "schedule": ["never"] * 10_000})
    yield Bad("100 instants", "PUT", f"{JOBS}/job", {**JOB, "schedule": [long("x", 101)] * 100})
    yield Bad("1 MB of digits", "PUT", f"{JOBS}/job", f'{{"target": {{}}, "repeats": {long("9")}}}')


def bad_bulks() -> Iterator[Bad]:
    for filler in FILLERS:
        text = ascii(filler)
        share = JOBS_PER_BULK_MAX
        jobs: list[Any] = [{long(filler, share): 0, "name": "a"}] * share
        yield Bad(f"100 jobs with a field of {text}", "POST", JOBS, {"jobs": jobs})
        yield Bad(f"100 names of {text}", "POST", JOBS, {"jobs": [{"name": long(filler, share)}] * share})
        names = {"name": {long(filler, 2): [long(filler, 2)]}}
        yield Bad(f"a name that is an object of {text}", "POST", JOBS, {"jobs": [names] * 1})
    for fields in (10, 50, 500):
        jobs = [{"name": f"{number}", **many(fields)} for number in range(JOBS_PER_BULK_MAX)]
        yield Bad(f"100 jobs with {fields} unknown fields", "POST", JOBS, {"jobs": jobs})
    jobs = [{"name": f"{n}", "target": {"type": "http", **many(300)}} for n in range(JOBS_PER_BULK_MAX)]
    yield Bad("100 jobs with unknown fields of their targets", "POST", JOBS, {"jobs": jobs})
    yield Bad("10,000 jobs", "POST", JOBS, {"jobs": [{}] * 10_000})
    yield Bad("100 numbers", "POST", JOBS, f'{{"jobs": [{",".join([long("9", 101)] * 100)}]}}')
    numbers = ",".join([f'{{"name": {long("9", 101)[:-20]}}}'] * 100)
    yield Bad("100 names that are numbers", "POST", JOBS, f'{{"jobs": [{numbers}]}}')


def sent(bad: Bad) -> tuple[Any, int, str]:
    """The answer to the bad request, and the size of the answer of the function."""
    body = (
        bad.body
        if bad.body is None or isinstance(bad.body, str)
        else json.dumps(bad.body, ensure_ascii=False)
    )
    typed = {"content-type": "application/json"} if body else {}
    answer = Client().handler(event_of(bad.method, bad.url, body=body, headers=typed), None)
    return answer, len(json.dumps(answer, ensure_ascii=False).encode()), answer.get("body") or ""


@pytest.mark.parametrize("bad", list(bad_requests()), ids=lambda each: each.what)
def test_the_answer_to_bad_input_has_a_bounded_size(bad: Bad) -> None:
    began_s = process_time()
    answer, size, body = sent(bad)
    assert process_time() - began_s < 10
    document = json.loads(body, parse_int=str)
    problems = [each["problem"] for each in document["results"]] if "results" in document else [document]
    assert answer["statusCode"] in ((200,) if "results" in document else (400, 404, 405, 413, 422))
    for problem in problems:
        assert len(json.dumps(problem, ensure_ascii=False).encode()) <= PROBLEM_BYTES_MAX
        errors = problem.get("errors", [])
        assert len(errors) <= PROBLEM_ERRORS_MAX
        assert errors or problem["status"] != 422
    assert size < LAMBDA_ANSWER_BYTES_MAX


def test_a_problem_that_cannot_name_every_field_says_how_many_it_names() -> None:
    refused = Client().put(job={**JOB, **many(PROBLEM_ERRORS_MAX + 1)})
    assert len(refused.json["errors"]) == PROBLEM_ERRORS_MAX
    assert refused.json["detail"] == "More than 50 fields cannot be accepted. The first 50 are named."
    few = Client().put(job={**JOB, **{("x" * 5_000) + str(number): 0 for number in range(40)}})
    named = len(few.json["errors"])
    assert 0 < named < 40
    assert few.json["detail"] == f"40 fields cannot be accepted. The first {named} are named."


def test_a_pointer_and_a_sentence_that_are_too_long_end_in_an_ellipsis() -> None:
    (error,) = Client().put(job={**JOB, "x" * 5_000: 0}).json["errors"]
    assert error["pointer"].startswith("/xxx")
    assert error["pointer"].endswith("x…")
    missing = Client().send("GET", f"{JOBS}/job/runs/{'x' * 5_000}").json["detail"]
    assert missing.startswith("The job job has no record of a run xxx")
    assert missing.endswith("x…")


def test_the_result_of_a_bulk_write_shows_the_beginning_of_a_name_that_is_too_long() -> None:
    names = ["x" * 129, "x" * 1_000, {"a": "x" * 1_000}]
    results = Client().send("POST", JOBS, {"jobs": [{"name": each, **JOB} for each in names]}).json["results"]
    assert [each["name"] for each in results] == ["x" * 129, "x" * 256 + "…", None]
