"""A call writes one log line, which also publishes its metrics."""

import json
import re
from itertools import count
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from aws_lambda_powertools import Logger
from tests.fakes.doubles import NOON
from tests.fakes.metrics import Metric, printed

from sweephand.runtime import metrics
from sweephand.runtime.metrics import UNITS, Always, Values
from sweephand.runtime.settings import Settings
from sweephand.storage.connect import Seen

NUMBERS = count()
DOCS = Path(__file__).parents[3] / "docs"

#: Metrics of AWS that the pages name.
OF_AWS = frozenset(
    {
        "ConcurrentExecutions",
        "Duration",
        "Errors",
        "ReadThrottleEvents",
        "Throttles",
        "WriteThrottleEvents",
    }
)
STACK = frozenset({("stack", "sweephand")})


class Answers:
    """What DynamoDB's answers have shown."""

    def __init__(self, seen: Seen = Seen()) -> None:  # noqa: B008 - it cannot be changed
        self.seen = seen

    def take(self) -> Seen:
        return self.seen


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    found = Answers()
    monkeypatch.setattr(metrics, "answers", lambda: found)
    return found


@pytest.fixture
def all_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack with the parameter `Metrics=namespaces`."""
    chosen = Settings.read({"METRICS": "namespaces"})
    monkeypatch.setattr(metrics, "settings", lambda: chosen)


def written(
    capsys: pytest.CaptureFixture[str], values: Values, *, level: str = "INFO", **fields: object
) -> list[dict[str, Any]]:
    """The lines of a call."""
    # Powertools keeps a logger, and the stream that was there, for each service.
    logger = Logger(service=f"metrics {next(NUMBERS)}", level=level)
    metrics.write(logger, "delivered", fields, values, NOON)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def published(lines: list[dict[str, Any]], at: int = NOON) -> dict[Metric, list[float]]:
    """The values that the lines publish, which all have this time."""
    found: dict[Metric, list[float]] = {}
    for datum in printed(map(json.dumps, lines)):
        assert datum.at == at
        found.setdefault(datum.metric, []).append(datum.value)
    return found


def test_a_call_writes_one_line_with_its_counts_and_its_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {"Failures": [0, 1], "Lateness": [12, 700]}, succeeded=1, retrying=1)
    assert (line["message"], line["succeeded"], line["retrying"]) == ("delivered", 1, 1)
    assert published([line]) == {
        Metric("Sweephand", "Failures", STACK): [0, 1],
        Metric("Sweephand", "Lateness", STACK): [12, 700],
    }


def test_a_call_without_values_publishes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {"CursorAge": []}, triggers=0)
    assert "_aws" not in line
    assert "stack" not in line


def test_metrics_do_not_depend_on_the_log_level(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {"Failures": [1]}, level="ERROR", failed=1)
    assert "message" not in line
    assert published([line]) == {Metric("Sweephand", "Failures", STACK): [1]}
    assert written(capsys, {}, level="ERROR", failed=1) == []


@pytest.mark.parametrize("level", ["INFO", "ERROR"])
def test_values_beyond_those_that_cloudwatch_takes_from_a_line_go_into_further_lines(
    capsys: pytest.CaptureFixture[str], level: str
) -> None:
    lateness = list(range(250))
    lines = written(capsys, {"Failures": [1], "Lateness": lateness}, level=level)
    assert len(lines) == 3
    assert published(lines) == {
        Metric("Sweephand", "Failures", STACK): [1],
        Metric("Sweephand", "Lateness", STACK): lateness,
    }


@pytest.mark.usefixtures("all_metrics")
def test_every_metric_can_be_published_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {name: [1] for name in UNITS})
    assert {each.name for each in published([line])} == set(UNITS)


def test_by_default_only_the_metrics_of_the_alarms_are_published(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {name: [1] for name in UNITS})
    assert {each.name for each in published([line])} == set(get_args(Always))


ORDERS: Final[dict[str, Values]] = {"orders": {"Failures": [1]}}


@pytest.mark.usefixtures("all_metrics")
def test_metrics_of_a_namespace_have_a_line_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    logger = Logger(service=f"metrics {next(NUMBERS)}")
    metrics.write(logger, "delivered", {}, {"Failures": [0, 1]}, NOON, by_namespace=ORDERS)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert published(lines) == {
        Metric("Sweephand", "Failures", STACK): [0, 1],
        Metric("Sweephand", "Failures", STACK | {("namespace", "orders")}): [1],
    }


def test_by_default_no_metric_is_that_of_a_namespace(capsys: pytest.CaptureFixture[str]) -> None:
    logger = Logger(service=f"metrics {next(NUMBERS)}")
    metrics.write(logger, "delivered", {}, {"Failures": [0, 1]}, NOON, by_namespace=ORDERS)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert published(lines) == {Metric("Sweephand", "Failures", STACK): [0, 1]}


def test_throttled_requests_are_published_where_they_were_seen(
    capsys: pytest.CaptureFixture[str], answers: Answers
) -> None:
    answers.seen = Seen(throttled=3)
    assert published(written(capsys, {})) == {Metric("Sweephand", "Throttled", STACK): [3]}


@pytest.mark.parametrize("skew_ms", [600_000, 1_000, -1_000, -600_000])
@pytest.mark.parametrize("level", ["INFO", "ERROR"])
def test_the_metrics_of_a_clock_that_is_wrong_have_the_time_of_aws(
    capsys: pytest.CaptureFixture[str], answers: Answers, skew_ms: int, level: str
) -> None:
    answers.seen = Seen(skew_ms=skew_ms)
    lines = written(capsys, {"Lateness": list(range(150))}, level=level)
    assert published(lines, NOON - skew_ms) == {
        Metric("Sweephand", "Lateness", STACK): list(range(150)),
        Metric("Sweephand", "ClockSkew", STACK): [abs(skew_ms)],
    }


@pytest.mark.parametrize("skew_ms", [999, -999])
def test_a_clock_that_differs_by_less_than_a_second_is_right(
    capsys: pytest.CaptureFixture[str], answers: Answers, skew_ms: int
) -> None:
    answers.seen = Seen(skew_ms=skew_ms)
    assert published(written(capsys, {"Failures": [0]})) == {Metric("Sweephand", "Failures", STACK): [0]}


@pytest.mark.usefixtures("all_metrics")
def test_the_metrics_of_a_namespace_have_the_time_of_aws(
    capsys: pytest.CaptureFixture[str], answers: Answers
) -> None:
    answers.seen = Seen(skew_ms=600_000)
    logger = Logger(service=f"metrics {next(NUMBERS)}")
    metrics.write(logger, "delivered", {}, {}, NOON, by_namespace=ORDERS)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(published(lines, NOON - 600_000)) == 2


def test_the_line_names_the_function_whose_report_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = written(capsys, {})
    assert line["location"].startswith("test_the_line_names_the_function_whose_report_it_is:")


def test_the_pages_name_no_metric_that_does_not_exist() -> None:
    named = {
        name
        for page in DOCS.rglob("*.md")
        for names in re.findall(r"\bmetrics? ((?:`\w+`(?:, | and )?)+)", page.read_text("utf-8"))
        for name in re.findall(r"\w+", names.replace(" and ", " "))
    }
    assert "StackLimited" in named
    assert named - OF_AWS <= set(UNITS)
