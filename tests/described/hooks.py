"""What the tests tell schemathesis about the API beyond its OpenAPI document. schemathesis imports this file.

Each request is made from the document, so it can be valid for the document and still be refused: JSON Schema
cannot say that an instant has to lie ahead. Such refusals are in EXCUSED, each with its reason. Every other
refusal of a valid request is a finding.
"""

import json
import os
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import schemathesis

#: All that is written is written here, so that the test can take it away again.
NAMESPACE: Final = os.environ["SWEEPHAND_FUZZED_NAMESPACE"]

#: Where each call is written down: the phase of schemathesis, and the operation.
CALLED: Final = Path(os.environ["SWEEPHAND_FUZZED_CALLS"])

#: An address on which no program listens (RFC 863's port, on loopback), for jobs that fire during the test.
NOWHERE: Final = "http://127.0.0.1:9/"

#: Nothing that is written here fires while the tests run.
FAR: Final = "2190-01-01T00:00:00Z"

#: How schemathesis calls the operation that writes many jobs.
MANY_JOBS: Final = "POST /v1/namespaces/{namespace}/jobs"

#: What a gateway without a route for a path answers.
NO_ROUTE: Final = '{"message":"Not Found"}'

#: The ids of keys that were made here.
MADE: Final[set[str]] = set()

#: Schedules of every notation. A text that is made of a pattern is hardly ever one.
SCHEDULES: Final = (
    "30 2 * * MON-FRI",
    "CRON_TZ=Europe/Riga 0 0 9 L * ?",
    "@every 1h30m",
    "@monthly",
    "rate(5 minutes)",
    "cron(0 10 ? * 6L 2199)",
    "at(2199-03-01T09:00:00)",
    "R4/PT3S",
    {"hour": "3,6,9", "dayOfWeek": "MON-FRI"},
    ["2199-12-24T14:00:00Z", "2199-12-31T14:00:00Z"],
)

_BOUNDED: Final = "a pattern says how a duration is written, not how long it may be"
_AHEAD: Final = "an instant must exist and lie ahead of the request, and after other instants of the job"
#: Refusals of valid requests that the document cannot rule out: pointer, the sentence, and the reason.
EXCUSED: Final[tuple[tuple[str, str, str], ...]] = (
    (r"/cursor", r"Give the nextCursor of an answer", "only an answer of the same list makes a cursor"),
    (
        r"/If-Match",
        r"Give the ETag",
        "schemathesis covers optional headers with the text 0, whatever their pattern",
    ),
    (r"", r"Select the jobs", "one of two query parameters is required"),
    (r"/label", r"Give each name once", "the same label twice with two values"),
    (
        r"/((r|defaultR)etry/\w+|catchup/window|batch/window|rate/per|breaker/probeAfter|bucket|heartbeatTimeout|maxRunTime|alertAfter|historyRetention|retention|expiresIn|overlap|jitter)",
        r"at most|at least|more than 0|more than nothing|out of range|292 years",
        _BOUNDED,
    ),
    (r"/labels", r"of JSON in ASCII", "labels have a limit of their bytes in all"),
    (r"/target", r"has no defaultTarget", "a job without a target needs the default of its namespace"),
    (r"/(target|onComplete|onAlert)/timeout", r"Give a duration of more than 0 and at most", _BOUNDED),
    (
        r"/(dueTime|ttl)",
        r"is past|names no instant|beyond the year|too long|before the first|ends before",
        _AHEAD,
    ),
    (r"/until", r"in the future|is past|names no instant|beyond the year|too long|292 years", _AHEAD),
    (r"/catchup", r"Give `until` too", "a mode is for a pause that ends by itself"),
    (r"/bucket", r"whole seconds, at least|292 years|such buckets", _BOUNDED),
    (r"/step", r"whole minutes, at least|out of range|292 years|such steps", _BOUNDED),
    (r"/since", r".", "an instant lies in the last 14 days"),
    (r"/until", r"Give an instant after `since`", "a span has a beginning and an end"),
    (r"/(from|to)", r".", "a span lies in the past, and ends after it begins"),
    (
        r"/allowedTargets/(hosts|networks)/\d+",
        r"is no ",
        "hosts and networks have grammars of their own",
    ),
    (r"/(target|onComplete|onAlert)/roleArn", r"may not assume", "the operator lists the roles"),
    (r"/timezone", r"is no time zone", "the names of zones are in the time zone database"),
    (r"/timezone", r"conflicts with", "a schedule can name a zone, which has to be the same"),
    (r"/repeats", r"without a schedule", "a one-off fires once"),
    (r"/(waitLimit|heartbeatTimeout|maxRunTime)", r"has no effect", "the field needs another beside it"),
    (r"/(alertAfter|onAlert)", r"Give it with", "each of the two needs the other"),
    (
        r"/(from|schedule|duration)",
        r"Give from and to, or schedule and duration",
        "a window opens once, or recurs",
    ),
    (r"/schedule", r"counts from when it is written", "only fixed times open a window"),
    (r"/duration", r"it opens at|at most|more than 0|out of range|292 years", _BOUNDED),
    (r"/spread", r"at most|out of range|292 years", _BOUNDED),
    (r"/namespace", r"calendar|namespace", "the namespace of a calendar must exist, and have the calendar"),
    (r"/(open|closed)/\d+(/(from|to))?", r"is no date|days after from", "dates of 230 years, spans of one"),
    (r"/overlap", r"batch run beside", "a batch excludes that runs take turns"),
    (r"", r"fieldValuesMax", "a body has a limit of its values in all"),
    (r"/calendar(/\w+)?", r"no calendar|on demand|expected skip|lies near|never falls", "it exists and fits"),
    (
        r"/holidays/\d+(/\w+(/\d+)?)?",
        r"is not known|either a country or a market",
        "a library knows the countries, their parts and the markets",
    ),
    (r"/ics", r"iCalendar|VEVENT|time of day|not both", "an iCalendar file has a grammar of its own"),
    (r"/(closed|open)", r"dates and spans", "both lists together have a limit"),
    (r"/(closed|weekend)", r"is open", "some day must be open"),
    (r"/breaker", r"has no breaker", "a policy with `by` has none"),
    (
        r"/alertAfter",
        r"with batch yet|fires only on demand",
        "neither has a watch",
    ),
    (r"/history", r"a watch needs the records", "a watch needs the records of successes"),
    (
        r"/(onComplete|onAlert|target)/(url|queueUrl)",
        r".",
        "a URL has a grammar of its own, and a host that is allowed",
    ),
    (
        r"/(onComplete|onAlert|target)/headers(/.*)?",
        r"set by|given|once|bytes|leave it out",
        "some names are Sweephand's",
    ),
    (r"/(onComplete|onAlert|target)/method", r"sends no body", "data is sent in a body"),
    (r"/deadLetterQueue", r".", "a URL has a grammar of its own, and the stack allows only certain queues"),
    (r"/data", r"sends no body|bytes", "data is sent in a body, and its bytes are counted"),
)


def calm(_: Any, case: Any) -> Any:
    """The case in the test's own namespace, about keys of its own, and with jobs that do not fire."""
    if isinstance(case.path_parameters, dict) and is_valid(case, "path"):
        if "namespace" in case.path_parameters:
            case.path_parameters["namespace"] = NAMESPACE
        if "id" in case.path_parameters and case.path_parameters["id"] not in MADE:
            case.path_parameters["id"] = "unknown"
    if isinstance(case.body, dict) and is_valid(case, "body"):
        if case.path in ("/v1/keys", "/v1/rebuild", "/v1/audit"):
            case.body["namespace"] = NAMESPACE
        if case.body.get("defaultTarget") is not None:
            case.body["defaultTarget"] = {"type": "http", "url": NOWHERE}
        is_whole_job = case.method.upper() == "PUT" and case.path.endswith("/jobs/{name}")
        jobs = case.body["jobs"] if isinstance(case.body.get("jobs"), list) else [case.body]
        for number, job in enumerate(jobs):
            if isinstance(job, dict):
                settle(job, number, is_whole=is_whole_job or "jobs" in case.body)
    return case


def remember(_: Any, case: Any, response: Any) -> None:
    """Keep which operation was called in which phase, and the ids of the keys that were made here.

    No other key is ever revoked.
    """
    phase = "unknown" if case.meta is None else case.meta.phase.name.value
    with CALLED.open("a", encoding="utf-8") as called:
        called.write(f"{phase}\t{case.method.upper()} {case.path}\n")
    if (
        case.method.upper() == "POST"
        and case.path in ("/v1/keys", "/v1/keys/{id}/rotate")
        and response.status_code == HTTPStatus.CREATED
    ):
        MADE.add(response.json()["id"])


def settle(job: dict[str, Any], number: int, *, is_whole: bool) -> None:
    """Give a document a schedule that can be read, and a job a far due time and a target that is nowhere.

    A whole job may leave its target to its namespace, whose default target is nowhere too.
    """
    if job.get("schedule") is not None:
        job["schedule"] = chosen(job["schedule"])
    if is_whole or "target" in job:
        job["dueTime"] = FAR
        if job.get("target") is not None:
            job["target"] = {"type": "http", "url": f"{NOWHERE}{number}"}
        for name in ("ttl", "timezone", "calendar", "onComplete", "deadLetterQueue"):
            job.pop(name, None)
        if job.get("onAlert") is not None:
            job["onAlert"] = {"type": "http", "url": f"{NOWHERE}{number}"}


def chosen(drawn: Any) -> Any:
    """One of the schedules: always the same for the same text."""
    return SCHEDULES[sum(json.dumps(drawn).encode()) % len(SCHEDULES)]


def is_valid(case: Any, part: str = "") -> bool:
    """Whether the document has this request, or this part of it."""
    if case.meta is None:
        return True
    modes = {place.value: each.mode for place, each in case.meta.components.items()}
    # A part can be invalid though the case is called valid.
    asked = [modes[part]] if part in modes else [case.meta.generation.mode, *modes.values()]
    return all(each.is_positive for each in asked)


def accepted_or_excused(_: Any, response: Any, case: Any) -> None:
    """What is valid for the document is accepted, or refused for a reason that the document cannot say.

    This stands for schemathesis's positive_data_acceptance, which takes every refusal for a finding.
    """
    if not is_valid(case) or response.status_code not in (400, 405, 413, 415, 422):
        return
    problem = response.json()
    errors = problem.get("errors") or [{"pointer": "", "detail": problem["detail"]}]
    for error in errors:
        if not any(
            re.fullmatch(pointer, error["pointer"]) and re.search(sentence, error["detail"])
            for pointer, sentence, _ in EXCUSED
        ):
            raise AssertionError(f"{case.method} {case.path} refused a valid request: {json.dumps(error)}")


def is_called_positive(case: Any) -> bool:
    """Whether schemathesis says of a case that it changed nothing about it to make it invalid."""
    changed = case.meta.phase.data
    return getattr(changed, "description", None) == "Positive test case" and not changed.mutations


def is_ours(_: Any, failure: Any, case: Any, response: Any) -> bool:
    """Whether a failure is Sweephand's.

    A call about many jobs answers 200 and says of each what became of it; schemathesis takes all for made.
    It also counts a case as invalid that it describes as positive, its path being that of a job that exists.

    The local gateway's routes match no path with a line break, where AWS's match every path. Its own 404 is
    then the answer, and Sweephand is never asked; a unit test sends such paths to Sweephand.
    """
    if getattr(failure, "created_with", None) == MANY_JOBS:
        return False
    if type(failure).__name__ == "AcceptedNegativeData" and is_called_positive(case):
        return False
    has_line_break = "%0a" in response.request.url.lower()
    return not (has_line_break and response.status_code == HTTPStatus.NOT_FOUND and response.text == NO_ROUTE)


schemathesis.hook("map_case")(calm)
schemathesis.hook("filter_failure")(is_ours)
schemathesis.hook("after_call")(remember)
schemathesis.check(accepted_or_excused)
