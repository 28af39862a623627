"""The methods of the client that take several calls, and those that no command uses."""

import re
from typing import Any

import pytest
from infra.local.places import ROOT
from tests.fakes.http_server import Server
from tests.unit.client.conftest import JOB, TARGET

from sweephand.base.errors import StoreError, UnavailableError
from sweephand.web.http.problems import problem_of
from sweephand.web.routes import bulk
from sweephand_client.api import calls
from sweephand_client.api.calls import Calls
from sweephand_client.api.client import Client
from sweephand_client.http.errors import PreconditionError
from sweephand_client.http.transport import Transport
from sweephand_client.openapi.requests import NamedJobRequest


def names(number: int) -> list[str]:
    return [f"job-{each:03}" for each in range(number)]


def test_the_page_names_each_part_of_the_client(client: Client) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    (listed,) = re.findall("^- `client.(jobs`, .+) have a method for each call", page, re.MULTILINE)
    parts = {name for name, each in vars(client).items() if isinstance(each, Calls)}
    assert set(re.findall("[a-z]+(?=`)", listed)) == parts


def test_a_list_reads_pages_until_there_are_no_more(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_PAGE", 2)
    list(client.jobs.put_many("ns", [{"name": name, **JOB} for name in names(5)]))
    server.requests.clear()

    found = client.jobs.list("ns")

    assert next(found)["name"] == "job-000"
    assert len(server.requests) == 1, "a page is read when it is needed"
    assert [each["name"] for each in found] == names(5)[1:]


def test_many_jobs_are_written_a_hundred_at_a_time_and_answered_in_order(
    server: Server, client: Client
) -> None:
    jobs: list[NamedJobRequest] = [{"name": name, **JOB} for name in names(201)]
    jobs[150] = {"name": "wrong", "schedule": "never"}

    results = list(client.jobs.put_many("ns", jobs))

    assert server.calls() == ["POST /v1/namespaces/ns/jobs"] * 3
    assert [each["name"] for each in results] == [each["name"] for each in jobs]
    assert [each["status"] for each in results].count(201) == 200
    assert results[150]["problem"]["status"] == 422


def test_a_bulk_write_stays_below_the_limit_of_bodies(server: Server, client: Client) -> None:
    jobs: list[NamedJobRequest] = [{"name": name, **JOB, "data": "x" * 250_000} for name in names(9)]

    assert {each["status"] for each in client.jobs.put_many("ns", jobs)} == {201}
    assert len(server.requests) == 3


def transport_that_writes_one(problem: Any, sent: list[list[str]]) -> Transport:
    """A stack that writes the first job of each call. The others have that problem."""

    class WritesOne(Transport):
        def call(self, *_: object, **given: Any) -> Any:
            first, *others = [each["name"] for each in given["body"]["jobs"]]
            sent.append([first, *others])
            results = [{"name": first, "status": 201, "rev": "1"}]
            results += [{"name": each, "status": problem["status"], "problem": problem} for each in others]
            return {"results": results}

    return WritesOne("http://127.0.0.1", None)


def test_a_job_for_which_the_stack_had_no_time_is_sent_again() -> None:
    sent: list[list[str]] = []
    problem = problem_of(UnavailableError(bulk._NO_TIME))
    client = Client("http://127.0.0.1", transport=transport_that_writes_one(problem, sent))
    results = list(client.jobs.put_many("ns", [{"name": name} for name in "abcdefg"]))

    assert [len(each) for each in sent] == [7, 6, 5, 4, 3]
    assert [each["status"] for each in results] == [201] * 5 + [503] * 2
    assert [each["name"] for each in results] == list("abcdefg")


def test_a_job_that_may_have_been_written_is_not_sent_again() -> None:
    sent: list[list[str]] = []
    transport = transport_that_writes_one(problem_of(StoreError("lost")), sent)
    results = list(
        Client("http://127.0.0.1", transport=transport).jobs.put_many("ns", [{"name": "a"}, {"name": "b"}])
    )

    assert sent == [["a", "b"]]
    assert [each["status"] for each in results] == [201, 503]


def test_a_write_can_depend_on_the_revision(client: Client) -> None:
    first = client.jobs.put("ns", "job", JOB, if_absent=True)
    second = client.jobs.patch("ns", "job", {"description": "x"}, if_match=first["rev"])
    assert second["description"] == "x"
    for write in (
        lambda: client.jobs.put("ns", "job", JOB, if_match=first["rev"]),
        lambda: client.jobs.pause("ns", "job", if_match=first["rev"]),
        lambda: client.jobs.resume("ns", "job", if_match=first["rev"]),
        lambda: client.jobs.delete("ns", "job", if_match=first["rev"]),
    ):
        with pytest.raises(PreconditionError):
            write()
    client.jobs.delete("ns", "job", if_match="*")


def test_settings_and_policies_can_depend_on_the_revision(client: Client) -> None:
    settings = client.namespaces.put("ns", {"limits": {"jobs": 5}}, if_absent=True)
    client.namespaces.put("ns", {"limits": {}}, if_match=settings["rev"])
    with pytest.raises(PreconditionError):
        client.namespaces.put("ns", {"limits": {}}, if_match=settings["rev"])
    policy = client.policies.put("ns", "mail", {"maxConcurrent": 5}, if_absent=True)
    with pytest.raises(PreconditionError):
        client.policies.put("ns", "mail", {"maxConcurrent": 6}, if_absent=True)
    client.policies.delete("ns", "mail", if_match=policy["rev"])


def test_a_batch_is_listed_and_shown(client: Client) -> None:
    client.jobs.put("ns", "job", {**JOB, "batch": {"count": 3}})
    made = client.jobs.trigger("ns", "job")
    assert made["count"] == 3

    assert list(client.jobs.batches("ns", "job")) == []
    assert client.jobs.batch("ns", "job", made["batchId"])["total"] == 3


def test_the_health_of_jobs_is_shown_if_a_call_asks_for_it(client: Client) -> None:
    client.jobs.put("ns", "nightly", JOB)
    assert "health" not in client.jobs.get("ns", "nightly")
    health = client.jobs.get("ns", "nightly", include="health")["health"]
    assert health == {"failing": False, "failuresInARow": 0, "runs": []}
    assert [each["health"] for each in client.jobs.list("ns", include="health")] == [health]
    assert list(client.jobs.list("ns", health="failing")) == []


def test_the_runs_beside_a_run_are_shown_if_a_call_asks_for_them(client: Client) -> None:
    client.jobs.put("ns", "nightly", JOB)
    made = client.jobs.trigger("ns", "nightly")
    assert "neighbours" not in client.runs.get("ns", "nightly", made["id"])
    found = client.runs.get("ns", "nightly", made["id"], include="neighbours")
    assert found["neighbours"] == {"before": None, "after": None}


def test_an_old_signing_secret_is_ended(client: Client) -> None:
    (first,) = client.signing.secrets("ns")
    newest, old = client.signing.rotate_secrets("ns")
    assert old["secret"] == first["secret"]
    client.signing.end_old_secrets("ns")
    assert client.signing.secrets("ns") == [newest]


def test_signing_keys_are_made_shown_and_ended(client: Client) -> None:
    assert client.signing.keys("ns") == []
    assert len(client.signing.rotate_keys("ns")) == 1
    client.signing.end_keys("ns")
    assert client.signing.keys("ns") == []


def test_limits_and_health_are_shown(client: Client) -> None:
    assert client.limits()["jobsPerBulkMax"] == 100
    assert client.health()["status"] == "ok"


def test_a_trigger_takes_data_and_nothing_else(client: Client) -> None:
    client.jobs.put("ns", "job", {"target": TARGET})
    assert client.jobs.trigger("ns", "job", data=None)["id"]
    with pytest.raises(TypeError, match="payload"):
        client.jobs.trigger("ns", "job", payload=1)  # type: ignore[call-arg]


def test_many_jobs_are_deleted_by_label(client: Client) -> None:
    client.jobs.put("ns", "a", {**JOB, "labels": {"team": "ops"}})
    client.jobs.put("ns", "b", JOB)
    assert client.jobs.delete_many("ns", labels={"team": "ops"}) == 1
    assert [each["name"] for each in client.jobs.list("ns")] == ["b"]
