"""The log has a line for each trigger that somebody may ask about later, with the names to find it by."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools import Logger
from tests.fakes.deliveries import FAILED
from tests.fakes.faults import failing
from tests.fakes.functions import forget_the_environment, function
from tests.fakes.metrics import printed
from tests.fakes.world import NOON, World

from sweephand.model.trigger import Trigger
from sweephand.runs.flow_intake import Worked
from sweephand.runs.received import Handled, Outcome, OutcomeName, Received
from sweephand.runtime import delivery, flow

CONTEXT = SimpleNamespace(aws_request_id="8f507cfc", get_remaining_time_in_millis=lambda: 90_000)
NUMBERS = count()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A stack with all metrics."""
    world = World(shards=1)
    world.flow_functions_max = 2
    deliveries = world.deliveries()
    flow_intake = world.flow_intake(deliveries)
    for module in (delivery, flow):
        monkeypatch.setattr(module, "deliveries", lambda: deliveries)
    monkeypatch.setattr(flow, "flow_intake", lambda: flow_intake)
    monkeypatch.setenv("METRICS", "namespaces")
    forget_the_environment()
    yield world
    forget_the_environment()


def called(
    name: str, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[dict[str, Any]]:
    """The lines that a function writes."""
    # Powertools keeps a logger, and the stream that was there, for each service.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"lines {next(NUMBERS)}")
    function(name).handler(event, CONTEXT)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def due(world: World, *names: str, traceparent: str | None = None) -> dict[str, Any]:
    """The event with the triggers of these jobs, which are due now."""
    for name in names:
        world.put(name, dueTime="10s", traceparent=traceparent)
    world.clock.time = NOON + 10_000
    return {
        "Records": [
            {
                "messageId": each.id,
                "receiptHandle": each.receipt,
                "attributes": {"ApproximateReceiveCount": "1"},
                "body": each.body,
            }
            for each in world.queue.take()
        ]
    }


def test_a_failed_attempt_has_a_line_that_names_trigger_job_run_and_request(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.consumers.answering = lambda _: FAILED
    line, *_ = called("deliver", due(world, "nightly"), monkeypatch, capsys)
    assert (line["level"], line["message"], line["outcome"]) == ("INFO", "trigger", "retrying")
    uid = world.stored("nightly").uid
    assert line["trigger_id"] == f"{uid}-{NOON + 10_000}-0"
    assert (line["namespace"], line["job"], line["run_id"]) == ("ns", "nightly", f"{NOON + 10_000}-0")
    assert (line["attempt"], line["request_id"]) == (1, "8f507cfc")


def test_a_line_has_the_trace_id_of_the_attempt_if_a_request_with_a_context_asked_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.consumers.answering = lambda _: FAILED
    event = due(world, "traced", traceparent=f"00-{'a' * 32}-{'b' * 16}-01")
    line, *_ = called("deliver", event, monkeypatch, capsys)
    assert line["trace_id"] == "a" * 32
    world.clock.time = NOON
    line, *_ = called("deliver", due(world, "plain"), monkeypatch, capsys)
    assert (line["job"], "trace_id" in line) == ("plain", False)


def test_a_delivered_trigger_has_no_line_unless_the_log_level_is_debug(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = called("deliver", due(world, "nightly"), monkeypatch, capsys)
    assert [each.get("message") for each in lines] == ["delivered", None]
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "DEBUG")
    world.clock.time = NOON
    lines = called("deliver", due(world, "another"), monkeypatch, capsys)
    assert [each["outcome"] for each in lines if each.get("message") == "trigger"] == ["succeeded"]


def test_a_fault_has_an_error_that_names_the_trigger(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = due(world, "nightly")
    failing(world, "consumers.deliver")
    line, *_ = called("deliver", event, monkeypatch, capsys)
    assert (line["level"], line["message"], line["outcome"]) == ("ERROR", "fault", "fault")
    assert (line["job"], line["request_id"]) == ("nightly", "8f507cfc")
    assert "as the test asks" in line["exception"]


def test_a_message_that_nobody_can_read_has_an_error_without_a_trigger(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = due(world, "nightly")
    event["Records"][0]["body"] = "nonsense"
    line, *_ = called("deliver", event, monkeypatch, capsys)
    assert (line["level"], line["outcome"], "trigger_id" in line) == ("ERROR", "buried", False)
    assert world.queue.buried


def test_a_delivery_counts_by_outcome_and_by_namespace(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = due(world, "one", "two", "three")
    world.clock.time += 70
    world.consumers.answering = lambda attempt: attempt_answers[attempt.trigger.key.name]
    attempt_answers = {
        "one": FAILED,
        "two": FAILED._replace(is_final=True),
        "three": FAILED._replace(succeeded=True, code=200),
    }
    lines = called("deliver", event, monkeypatch, capsys)
    found: dict[tuple[str, bool], list[float]] = {}
    for datum in printed(map(json.dumps, lines)):
        of_namespace = ("namespace", "ns") in datum.metric.dimensions
        found.setdefault((datum.metric.name, of_namespace), []).append(datum.value)
    assert found == {
        ("Failures", False): [0, 1, 1],
        ("Failures", True): [0, 1, 1],
        ("Lateness", False): [70] * 3,
        ("Lateness", True): [70] * 3,
        ("Delivered", False): [1],
        ("Retried", False): [1],
        ("DeadLettered", False): [1],
    }


def test_the_flow_function_counts_permits_in_use_and_names_triggers(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trigger = Trigger(world.put("nightly", dueTime="10s").job.key, "uid", "rev", NOON, 1, NOON)
    failed = Handled(Received("", "", 1, ""), Outcome("retrying"), trigger=trigger, attempt=3)
    outcomes: Counter[OutcomeName] = Counter({"succeeded": 2, "retrying": 1})
    worked = Worked("served", outcomes, [failed], open_max=3, namespace="ns")
    monkeypatch.setattr(flow, "work", lambda *_: worked)
    first, *lines = called("flow", {"Records": [{"messageId": "1"}]}, monkeypatch, capsys)
    assert (first["trigger_id"], first["attempt"], first["request_id"]) == (f"uid-{NOON}-0", 3, "8f507cfc")
    found = [
        (each.metric.name, len(each.metric.dimensions), each.value)
        for each in printed(map(json.dumps, lines))
    ]
    assert found == [
        ("Delivered", 1, 2),
        ("Retried", 1, 1),
        ("Failures", 1, 0),
        ("Failures", 1, 0),
        ("Failures", 1, 1),
        ("PermitsInUse", 1, 3),
        ("Failures", 2, 0),
        ("Failures", 2, 0),
        ("Failures", 2, 1),
    ]


def test_a_call_that_cannot_be_counted_has_a_warning_and_succeeds(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.counts_deliveries = True
    counting = world.deliveries()
    monkeypatch.setattr(delivery, "deliveries", lambda: counting)
    called("deliver", due(world, "one"), monkeypatch, capsys)
    [(_, counted)] = world.stats.minutes("ns", NOON, NOON + 60_000).items()
    assert counted.outcomes == Counter({"succeeded": 1})
    world.clock.time = NOON
    event = due(world, "two")
    failing(world, "stats.add")
    lines = called("deliver", event, monkeypatch, capsys)
    (warning,) = (each for each in lines if each.get("message") == "uncounted")
    assert (warning["level"], warning["request_id"]) == ("WARNING", "8f507cfc")
    assert len(world.consumers.times) == 2


def test_what_became_of_triggers_at_a_gate_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.counts_deliveries = True
    counting = world.deliveries()
    monkeypatch.setattr(flow, "deliveries", lambda: counting)
    worked = Worked("served", Counter[OutcomeName]({"succeeded": 3, "kept": 2}), namespace="ns")
    flow.count(Logger(service=f"lines {next(NUMBERS)}"), worked, "8f507cfc", 90_000)
    [(_, counted)] = world.stats.minutes("ns", NOON, NOON + 60_000).items()
    assert (counted.outcomes, counted.lateness) == (Counter({"succeeded": 3}), Counter())
