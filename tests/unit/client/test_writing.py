"""`apply` and `import` write each job once, also if an answer is lost."""

from collections.abc import Sequence
from typing import Any, Final

import pytest
from tests.fakes.http_server import Fault, Server
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand_client.api.client import Client
from sweephand_client.http import errors
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.writing import INCOMPLETE, Write, create_paused, write_jobs

LOST: Final = Fault(reaches_api=True)
FAILED: Final = Fault(504)
ONCE: Final[JobRequest] = {"dueTime": "2s", "target": TARGET}
EVERY: Final[JobRequest] = {
    "schedule": "* * * * * *",
    "target": TARGET,
    "data": {"n": 1},
    "labels": {"team": "ops"},
}


def statuses(client: Client, writes: list[Write]) -> list[int | None]:
    return [None if each is None else each.status for each in write_jobs(client, "ns", writes)]


def whats(client: Client, name: str) -> Sequence[str]:
    """What the changes of a job did, oldest first."""
    return [each["what"] for each in client.jobs.changes("ns", name)][::-1]


@pytest.mark.parametrize("fault", [LOST, Fault(504, reaches_api=True), FAILED])
def test_a_call_whose_outcome_is_unknown_writes_each_job_once(
    server: Server, client: Client, fault: Fault
) -> None:
    old = client.jobs.put("ns", "old", EVERY)
    server.faults.append(fault)

    assert statuses(client, [Write("once", ONCE, None), Write("old", {**EVERY, "data": 2}, old["rev"])]) == [
        None,
        None,
    ]

    assert whats(client, "once") == ["created"]
    assert whats(client, "old") == ["created", "replaced"]


def test_a_one_off_that_fired_after_a_lost_answer_does_not_begin_anew(server: Server, client: Client) -> None:
    class FiresMeanwhile(list[Fault]):
        """The answer to the first request is lost, and the job fires before the second request."""

        def __bool__(self) -> bool:
            if len(server.requests) == 2:
                server.api.world.clock.time += 60_000
            return len(server.requests) == 1

    server.faults = FiresMeanwhile([LOST])

    assert statuses(client, [Write("once", ONCE, None)]) == [None]

    assert client.jobs.get("ns", "once")["state"] == "completed"
    assert whats(client, "once") == ["created"]


def test_what_somebody_else_wrote_meanwhile_stays(server: Server, client: Client) -> None:
    read = client.jobs.put("ns", "job", EVERY)
    client.jobs.put("ns", "job", {**EVERY, "data": "theirs"})
    server.faults.append(FAILED)

    assert statuses(client, [Write("job", {**EVERY, "data": "ours"}, read["rev"])]) == [412]
    assert client.jobs.get("ns", "job")["data"] == "theirs"


def test_many_jobs_are_written_in_one_call_and_none_that_somebody_else_wrote(
    server: Server, client: Client
) -> None:
    revs = {name: client.jobs.put("ns", name, EVERY)["rev"] for name in ("ours", "changed", "same")}
    theirs: JobRequest = {**EVERY, "data": "theirs"}
    ours: JobRequest = {**EVERY, "data": "ours"}
    client.jobs.put("ns", "changed", theirs)
    client.jobs.put("ns", "created", theirs)
    client.jobs.put("ns", "same", ours)
    server.requests.clear()
    writes = [Write(name, ours, revs.get(name)) for name in ("ours", "new", "changed", "created", "same")]

    assert statuses(client, writes) == [None, None, 412, 412, None]

    assert server.calls()[0] == "POST /v1/namespaces/ns/jobs"
    assert {each.partition(" ")[0] for each in server.calls()[1:]} == {"GET"}
    stored = {each.name: client.jobs.get("ns", each.name)["data"] for each in writes}
    assert stored == dict.fromkeys(("ours", "new", "same"), "ours") | dict.fromkeys(
        ("changed", "created"), "theirs"
    )
    assert whats(client, "same") == ["created", "replaced"]


def test_a_job_that_deletes_itself_is_not_written_again(server: Server, client: Client) -> None:
    fleeting = Write("once", {**ONCE, "deleteAfterCompletion": True}, None)
    server.faults.append(FAILED)
    assert statuses(client, [fleeting]) == [503]
    server.faults.append(LOST)
    assert statuses(client, [fleeting]) == [None]


def test_jobs_after_the_unknown_call_are_written_in_bulk_again(server: Server, client: Client) -> None:
    writes = [Write(f"job-{number:03}", {"target": TARGET}, None) for number in range(150)]
    server.faults.append(LOST)

    assert statuses(client, writes) == [None] * 150
    assert server.calls().count("POST /v1/namespaces/ns/jobs") == 2


def test_an_address_where_nothing_answers_ends_the_writes() -> None:
    transport = Transport("http://127.0.0.1:1", Bearer("sh_admin"), sleep=lambda _: None)
    with pytest.raises(errors.UnreachableError):
        statuses(Client("http://127.0.0.1:1", transport=transport), [Write("a", ONCE, None)])


@pytest.mark.parametrize("requests", [1, 2, 3])
@pytest.mark.parametrize("fault", [LOST, FAILED])
def test_a_paused_job_is_created_once_whichever_answer_is_lost(
    server: Server, client: Client, requests: int, fault: Fault
) -> None:
    class Nth(list[Fault]):
        def __bool__(self) -> bool:
            return len(server.requests) == requests

    server.faults = Nth([fault])

    create_paused(client, "ns", "job", EVERY, "tonight")

    found = client.jobs.get("ns", "job")
    assert (found["state"], found["schedule"], found["data"]) == ("paused", "* * * * * *", {"n": 1})
    assert found.get("description") is None
    assert whats(client, "job") == ["created", "paused", "replaced"]


def test_a_paused_job_that_exists_is_not_overwritten(client: Client) -> None:
    client.jobs.put("ns", "job", {"target": TARGET, "description": "mine"})
    with pytest.raises(errors.PreconditionError):
        create_paused(client, "ns", "job", EVERY, None)
    assert client.jobs.get("ns", "job")["description"] == "mine"


@pytest.mark.parametrize("requests", [2, 3])
def test_a_creation_that_was_interrupted_goes_on_later(server: Server, client: Client, requests: int) -> None:
    class From(list[Fault]):
        def __bool__(self) -> bool:
            return requests <= len(server.requests)

        def pop(self, _: Any = 0) -> Fault:
            return Fault(504)

    server.faults = From()
    with pytest.raises(errors.StackFailedError):
        create_paused(client, "ns", "job", EVERY, "tonight")
    server.faults = []
    assert client.jobs.get("ns", "job")["description"] == INCOMPLETE

    create_paused(client, "ns", "job", EVERY, "tonight")

    found = client.jobs.get("ns", "job")
    assert (found["state"], found["schedule"], found["labels"]) == ("paused", "* * * * * *", {"team": "ops"})


@pytest.mark.parametrize(("paused", "state"), [("", "active"), (", paused: true", "paused")])
def test_apply_treats_an_incomplete_job_as_absent(
    sweephand: CommandLine, client: Client, paused: str, state: str
) -> None:
    client.jobs.put("ns", "a", {"target": TARGET, "description": INCOMPLETE})
    client.jobs.pause("ns", "a")
    text = f"jobs: [{{name: a, schedule: '@hourly', target: {{type: http, url: '{TARGET['url']}'}}{paused}}}]"

    assert sweephand.ok("apply", "-f", "-", given=text).out == "a created\n1 created, 0 unchanged\n"

    found = client.jobs.get("ns", "a")
    assert (found["state"], found["schedule"], found.get("description")) == (state, "@hourly", None)
