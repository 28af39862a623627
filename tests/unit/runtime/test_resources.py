"""Jobs, policies and calendars that templates of CloudFormation declare, by the API of a world in memory."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from tests.fakes.http_events import ONE_REQUEST, Client, document
from tests.fakes.world import World

from sweephand.base.errors import InvalidError, StoreError, SweephandError
from sweephand.delivery.cloudformation import ANSWER_MS_MAX
from sweephand.delivery.functions import CALL_MS_MAX
from sweephand.model.job import JobKey
from sweephand.runtime.declared import KINDS, typed
from sweephand.runtime.resources import RefusedError, Resources, Written
from sweephand.web.http import json_text

STACK: Final = (
    "arn:aws:cloudformation:eu-west-1:123456789012:stack/orders/51af3dc0-da77-11e4-872e-1234567db123"
)
TARGET: Final = {"type": "http", "url": "https://consumer.example/hook"}
JOB: Final = {"namespace": "ns", "name": "nightly", "schedule": "0 30 2 * * *", "target": TARGET}
POLICY: Final = {"namespace": "ns", "name": "mailer", "maxConcurrent": "5"}
CALENDAR: Final = {"namespace": "ns", "name": "works", "weekend": ["SUN"]}

NAMED: Final = document()["components"]["schemas"]

OWNER: Final = f"{STACK}/Nightly"

#: The properties of a resource of each kind, a change of them, and its path.
CASES: Final[dict[str, tuple[dict[str, Any], dict[str, Any], str]]] = {
    "Job": (JOB, {"schedule": "0 0 4 * * *"}, "/v1/namespaces/ns/jobs/nightly"),
    "Policy": (POLICY, {"maxConcurrent": "7"}, "/v1/namespaces/ns/policies/mailer"),
    "Calendar": (CALENDAR, {"weekend": ["SAT", "SUN"]}, "/v1/namespaces/ns/calendars/works"),
}


class Killed(BaseException):
    """Ends a function, whatever it catches."""


class Deployment:
    """A stack of CloudFormation whose resource `Nightly` is declared by templates."""

    def __init__(self, kind: str = "Job", namespaces: tuple[str, ...] = ("*",)) -> None:
        self.world = World()
        self.world.flow_functions_max = 4
        self.api = Client(self.world)
        self.kind = kind
        self.asked: list[str] = []
        self.time_left_ms = 300_000
        self.resources = Resources(call=self.call, clock=self.world.clock, namespaces=namespaces)
        #: Called with the method of each call of the API function, before and after it.
        self.during: Callable[[str], None] = lambda _: None

    def call(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        method = event["requestContext"]["http"]["method"]
        self.asked.append(f"{method} {event['rawPath']}")
        self.during(f"before {method}")
        with ONE_REQUEST:
            answer = self.api.handler(event, None)
        self.during(f"after {method}")
        return answer

    def ask(self, what: str, properties: Mapping[str, Any], **more: Any) -> Written:
        event = {
            "RequestType": what,
            "StackId": STACK,
            "RequestId": "one",
            "LogicalResourceId": "Nightly",
            "ResourceType": f"Custom::Sweephand{self.kind}",
            "ResourceProperties": {"ServiceToken": "arn", "ServiceTimeout": "300", **properties},
            **more,
        }
        return self.resources.handle(event, lambda: self.time_left_ms)

    def create(self, properties: Mapping[str, Any], **more: Any) -> str:
        """Its physical id."""
        return str(self.ask("Create", properties, **more).physical_id)

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
        """Its physical id."""
        asked = self.ask("Update", new, PhysicalResourceId=physical_id, OldResourceProperties=old)
        return str(asked.physical_id)

    def delete(self, physical_id: str, properties: Mapping[str, Any]) -> None:
        self.ask("Delete", properties, PhysicalResourceId=physical_id)

    def shown(self, path: str) -> Any:
        """What the API shows; None without it."""
        answer = self.api.send("GET", path)
        return answer.json if answer.status == 200 else None


def by_hand(deployment: Deployment) -> tuple[dict[str, Any], str]:
    """Somebody has made the resource by the API. Return its properties and its path."""
    properties, _, path = CASES[deployment.kind]
    fields = {name: each for name, each in properties.items() if name not in ("namespace", "name")}
    body = typed(fields, NAMED[KINDS[f"Custom::Sweephand{deployment.kind}"].body], NAMED)
    assert deployment.api.send("PUT", path, text=json_text.write(body)).status == 201
    return properties, path


@pytest.fixture(params=CASES)
def deployment(request: pytest.FixtureRequest) -> Deployment:
    return Deployment(request.param)


def test_a_resource_is_created_changed_and_deleted(deployment: Deployment) -> None:
    properties, change, path = CASES[deployment.kind]
    physical_id = deployment.create(properties)
    assert physical_id == f"ns/{properties['name']}"
    assert deployment.update(physical_id, properties, {**properties, **change}) == physical_id
    [name] = change
    assert str(deployment.shown(path)[name]) == str(change[name])
    deployment.delete(physical_id, properties)
    assert deployment.shown(path) is None


def test_a_template_reads_when_a_job_is_due_next_and_nothing_that_may_be_secret() -> None:
    target = {**TARGET, "headers": {"authorization": "Bearer hunter2"}}
    made = Deployment().ask("Create", {**JOB, "target": target})
    assert made.attributes == {"namespace": "ns", "name": "nightly", "nextRun": "2026-11-22T02:30:00.000Z"}
    idle = Deployment().ask("Create", {"namespace": "ns", "name": "idle", "target": target})
    assert idle.attributes["nextRun"] == "", "Fn::GetAtt of a missing attribute would fail the template"


def test_the_console_and_the_changes_say_which_resource_of_which_stack_owns_a_job() -> None:
    deployment = Deployment()
    deployment.create(JOB)
    path = CASES["Job"][2]
    assert deployment.shown(path)["owner"] == OWNER
    [change] = deployment.shown(f"{path}/changes")["items"]
    assert (change["who"], change["what"]) == (OWNER, "created")


def test_an_update_that_changes_nothing_of_a_job_makes_no_revision() -> None:
    deployment = Deployment()
    deployment.create(JOB)
    before = deployment.shown(CASES["Job"][2])
    deployment.update("ns/nightly", {**JOB, "Marker": "1"}, JOB)
    assert deployment.shown(CASES["Job"][2]) == before


def test_a_repeated_request_ends_as_the_first_one_did(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    first = deployment.create(properties)
    before = deployment.shown(path)
    assert deployment.create(properties) == first
    assert deployment.shown(path) == before
    for _ in range(2):
        deployment.delete(first, properties)


def test_a_change_by_hand_is_undone_by_the_next_update_and_a_deleted_job_comes_back() -> None:
    deployment = Deployment()
    deployment.create(JOB)
    path = CASES["Job"][2]
    deployment.api.send("PATCH", path, {"schedule": "@daily"})
    deployment.update("ns/nightly", JOB, {**JOB, "description": "x"})
    assert deployment.shown(path)["schedule"] == JOB["schedule"]
    deployment.api.send("DELETE", path)
    deployment.update("ns/nightly", JOB, JOB)
    assert deployment.shown(path) is not None


def test_what_exists_already_is_not_taken_over_and_survives_the_rollback(deployment: Deployment) -> None:
    properties, path = by_hand(deployment)
    before = deployment.shown(path)
    with pytest.raises(RefusedError, match=f"There is a .* {properties['name']} already"):
        deployment.create(properties)
    # CloudFormation deletes what failed by the id of the answer, which is the logical one then.
    deployment.delete("Nightly", properties)
    assert deployment.shown(path) == before


def test_another_stack_does_not_take_over_what_a_stack_has_made(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    deployment.create(properties)
    with pytest.raises(RefusedError, match="already"):
        deployment.create(properties, StackId=f"{STACK}-other")
    deployment.ask("Delete", properties, PhysicalResourceId="Nightly", StackId=f"{STACK}-other")
    assert deployment.shown(path) is not None


def test_what_somebody_made_in_place_of_a_deleted_resource_is_not_taken_over(deployment: Deployment) -> None:
    properties = CASES[deployment.kind][0]
    deployment.delete(deployment.create(properties), properties)
    deployment.world.clock.time += 1
    by_hand(deployment)
    with pytest.raises(RefusedError, match="already"):
        deployment.create(properties)


@pytest.mark.parametrize("moment", ["before PUT", "after PUT"])
def test_a_creation_that_was_killed_is_repeated_or_rolled_back(deployment: Deployment, moment: str) -> None:
    properties, _, path = CASES[deployment.kind]

    def kill(now: str) -> None:
        if now == moment:
            raise Killed

    deployment.during = kill
    with pytest.raises(Killed):
        deployment.create(properties)
    deployment.during = lambda _: None
    made = deployment.create(properties)  # Lambda repeats a request without an answer
    assert deployment.shown(path) is not None
    deployment.delete(made, properties)

    deployment.during = kill
    with pytest.raises(Killed):
        deployment.create(properties)
    deployment.during = lambda _: None
    deployment.delete("orders-Nightly-1ABC", properties)  # CloudFormation makes up an id
    assert deployment.shown(path) is None


def test_another_name_is_another_resource_whose_former_one_is_deleted_last(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    old_id = deployment.create(properties)
    renamed = {**properties, "name": "other"}
    new_id = deployment.update(old_id, properties, renamed)
    other = path.rpartition("/")[0] + "/other"
    assert new_id == "ns/other"
    assert None not in (deployment.shown(path), deployment.shown(other))
    deployment.delete(old_id, properties)
    assert deployment.shown(path) is None
    assert deployment.shown(other) is not None


def test_a_rollback_of_a_new_name_finds_the_former_resource_unchanged(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    old_id = deployment.create(properties)
    renamed = {**properties, "name": "other"}
    new_id = deployment.update(old_id, properties, renamed)
    before = deployment.shown(path)
    assert deployment.update(new_id, renamed, properties) == old_id
    deployment.delete(new_id, renamed)
    assert deployment.shown(path) == before


def test_a_new_name_that_was_killed_leaves_nothing_behind_after_the_rollback(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    old_id = deployment.create(properties)
    renamed = {**properties, "name": "other"}

    def kill(now: str) -> None:
        if now == "after PUT":
            raise Killed

    deployment.during = kill
    with pytest.raises(Killed):
        deployment.update(old_id, properties, renamed)
    deployment.during = lambda _: None
    deployment.update(old_id, renamed, properties)
    assert deployment.shown(path.rpartition("/")[0] + "/other") is None
    assert deployment.shown(path) is not None


def test_a_new_name_that_is_taken_is_refused_and_the_rollback_leaves_it_alone(deployment: Deployment) -> None:
    properties, path = by_hand(deployment)
    mine = {**properties, "name": "mine"}
    mine_id = deployment.create(mine)
    with pytest.raises(RefusedError, match="already"):
        deployment.update(mine_id, mine, properties)
    deployment.update(mine_id, properties, mine)
    assert deployment.shown(path) is not None


@pytest.mark.parametrize(
    ("kind", "properties", "pointer"),
    [
        ("Job", {**JOB, "schedule": "tomorrow"}, "/schedule"),
        ("Job", {**JOB, "repeats": "many"}, "/repeats"),
        ("Job", {**JOB, "colour": "red"}, "/colour"),
        ("Job", {**JOB, "target": {"type": "http", "url": "ftp://x"}}, "/target/url"),
        ("Policy", {**POLICY, "maxConcurrent": "0"}, "/maxConcurrent"),
        ("Calendar", {**CALENDAR, "weekend": ["SUNDAY"]}, "/weekend/0"),
        ("Job", {**JOB, "name": "a/b"}, "/name"),
        ("Job", {**JOB, "namespace": "../x"}, "/namespace"),
        ("Job", {"name": "nightly"}, "/namespace"),
        ("Job", {**JOB, "dataJson": "{"}, "/dataJson"),
        ("Job", {**JOB, "dataJson": {"a": "1"}}, "/dataJson"),
        ("Job", {**JOB, "dataJson": "1", "data": "1"}, "/dataJson"),
    ],
)
def test_what_is_wrong_fails_the_deployment_with_the_field_and_leaves_nothing(
    kind: str, properties: dict[str, Any], pointer: str
) -> None:
    deployment = Deployment(kind)
    with pytest.raises(SweephandError, match=f"{pointer}: "):
        deployment.create(properties)
    deployment.delete("Nightly", properties)
    path = CASES[kind][2].rpartition("/")[0]
    assert deployment.shown(path)["items"] == []


def test_a_type_of_no_kind_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidError, match=r"/ResourceType: .*Custom::SweephandJob, Custom::SweephandPolicy"):
        Deployment("Jobs").create(JOB)


def test_a_calendar_that_jobs_name_and_a_policy_that_is_paused_are_not_deleted() -> None:
    deployment = Deployment("Calendar")
    deployment.create(CALENDAR)
    job = {name: JOB[name] for name in ("schedule", "target")}
    deployment.api.put("job", {**job, "calendar": {"name": "works"}})
    with pytest.raises(RefusedError, match="Jobs name the calendar works: job"):
        deployment.delete("ns/works", CALENDAR)
    deployment = Deployment("Policy")
    deployment.create(POLICY)
    deployment.api.send("POST", f"{CASES['Policy'][2]}/pause", {})
    with pytest.raises(RefusedError, match="The policy mailer is paused"):
        deployment.delete("ns/mailer", POLICY)


def test_only_the_namespaces_that_the_operator_names_may_be_written() -> None:
    deployment = Deployment(namespaces=("team-*", "ns"))
    deployment.create(JOB)
    deployment.create({**JOB, "namespace": "team-a"})
    with pytest.raises(InvalidError, match=r"/namespace: .*TemplateNamespaces.*team-\*, ns"):
        deployment.create({**JOB, "namespace": "other"})
    asked = len(deployment.asked)
    deployment.delete("Nightly", {**JOB, "namespace": "other"})
    assert len(deployment.asked) == asked, "what was refused left nothing to delete"
    with pytest.raises(InvalidError, match="/namespace"):
        deployment.delete("other/nightly", {**JOB, "namespace": "other"})


def test_a_store_that_does_not_answer_is_asked_again_and_then_fails_the_deployment(
    deployment: Deployment,
) -> None:
    properties, _, path = CASES[deployment.kind]
    failures = ["PUT", "PUT"]

    def fail(now: str) -> None:
        if failures and now == f"before {failures[0]}":
            raise StoreError(f"the function api did not answer: {failures.pop()}")

    deployment.during = fail
    deployment.create(properties)
    assert deployment.asked.count(f"PUT {path}") == 3
    failures += ["DELETE"] * 3
    with pytest.raises(RefusedError, match="the function api did not answer"):
        deployment.delete(f"ns/{properties['name']}", properties)


def test_a_store_of_the_api_that_fails_for_a_moment_fails_no_deployment(deployment: Deployment) -> None:
    properties, _, path = CASES[deployment.kind]
    failures = ["once", "twice"]

    def fail(call: str) -> None:
        if failures and call.startswith(("before jobs.", "before policies.", "before calendars.")):
            raise StoreError(failures.pop())

    deployment.world.announce = fail
    deployment.create(properties)
    assert deployment.asked.count(f"PUT {path}") == 3


def test_an_answer_that_was_lost_after_the_write_is_no_conflict_with_oneself(deployment: Deployment) -> None:
    properties, _, _ = CASES[deployment.kind]
    lost = ["PUT"]

    def lose(now: str) -> None:
        if lost and now == "after PUT":
            raise StoreError(lost.pop())

    deployment.during = lose
    assert deployment.create(properties) == f"ns/{properties['name']}"


def test_no_call_begins_that_would_outlast_the_function() -> None:
    deployment = Deployment()
    deployment.time_left_ms = CALL_MS_MAX + ANSWER_MS_MAX - 1
    with pytest.raises(RefusedError, match="in time"):
        deployment.create(JOB)
    assert deployment.asked == []


@pytest.mark.parametrize(
    ("properties", "field", "stored"),
    [
        ({"repeats": "3"}, "repeats", 3),
        ({"retry": {"maxAttempts": "4", "multiplier": "1.5", "maxAge": "90s"}}, "retry", None),
        ({"deleteAfterCompletion": "true"}, "deleteAfterCompletion", True),
        ({"labels": {"code": "7", "flag": "true"}}, "labels", {"code": "7", "flag": "true"}),
        ({"description": "7"}, "description", "7"),
        ({"schedule": {"second": "0", "minute": "30"}}, "schedule", {"second": "0", "minute": "30"}),
        ({"data": {"count": "5"}}, "data", {"count": "5"}),
        ({"dataJson": '{"count": 5, "ok": true}'}, "data", {"count": 5, "ok": True}),
    ],
)
def test_a_job_is_stored_as_the_template_says(properties: dict[str, Any], field: str, stored: Any) -> None:
    deployment = Deployment()
    deployment.create({**JOB, **properties})
    found = deployment.shown(CASES["Job"][2])[field]
    assert found == (stored or {"maxAttempts": 4, "multiplier": 1.5, "maxAge": "90s"})


def test_a_number_in_the_data_keeps_its_digits() -> None:
    deployment = Deployment()
    deployment.create({**JOB, "dataJson": "[1.10, 12345678901234567890]"})
    payload = deployment.world.jobs.get(JobKey("ns", "nightly"))
    assert payload is not None
    assert payload.definition.payload is not None
    assert payload.definition.payload.text == "[1.10,12345678901234567890]"
