"""The health of jobs over HTTP: shown if a call asks for it, and jobs listed by it."""

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

from sweephand.model.attempt import Answer, Attempt

JOBS = "/v1/namespaces/ns/jobs"


@pytest.fixture
def client() -> Client:
    """A stack whose jobs have fired three times: `bad` has failed the last two times, `good` never."""
    client = Client()

    def answer(attempt: Attempt) -> Answer:
        failed = attempt.trigger.key.name.startswith("bad") and attempt.trigger.sequence > 1
        return Answer(succeeded=not failed, code=500 if failed else 204)

    client.world.consumers.answering = answer
    for name in ("bad", "bad-too", "good"):
        client.put(name, {"schedule": "@every 10s", "target": TARGET, "retry": {"maxAttempts": 1}})
    client.world.run_until(NOON + 31_000)
    return client


def test_a_job_shows_its_health_if_the_call_asks_for_it(client: Client) -> None:
    assert "health" not in client.get("bad").json
    assert client.send("GET", f"{JOBS}/bad?include=health").json["health"] == {
        "failing": True,
        "failuresInARow": 2,
        "runs": [
            {"id": f"{NOON + 30_000}-0", "state": "failed"},
            {"id": f"{NOON + 20_000}-0", "state": "failed"},
            {"id": f"{NOON + 10_000}-0", "state": "succeeded"},
        ],
    }


def test_a_list_shows_the_health_of_its_jobs_if_the_call_asks_for_it(client: Client) -> None:
    assert all("health" not in each for each in client.send("GET", JOBS).json["items"])
    items = client.send("GET", f"{JOBS}?include=health").json["items"]
    assert [(each["name"], each["health"]["failuresInARow"]) for each in items] == [
        ("bad", 2),
        ("bad-too", 2),
        ("good", 0),
    ]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("health=failing", ["bad", "bad-too"]),
        ("health=failing&sort=failure", ["bad", "bad-too"]),
        ("health=failing&sort=name", ["bad", "bad-too"]),
        ("health=failing&contains=too", ["bad-too"]),
        ("health=failing&sort=name&contains=too", ["bad-too"]),
        ("sort=name", ["bad", "bad-too", "good"]),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 50])
def test_failing_jobs_are_listed_page_by_page(
    client: Client, query: str, names: list[str], limit: int
) -> None:
    found: list[str] = []
    cursor = ""
    while True:
        page = client.send("GET", f"{JOBS}?{query}&limit={limit}{cursor}").json
        found += [each["name"] for each in page["items"]]
        assert all(each["health"]["failing"] for each in page["items"] if "health" in query)
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert sorted(found) == names


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("health=good", "/health"),
        ("include=data", "/include"),
        ("sort=nextRun", "/sort"),
        ("sort=failure", "/sort"),
        ("sort=failure&include=health", "/sort"),
    ],
)
def test_what_no_list_can_do_is_refused_by_its_name(client: Client, query: str, pointer: str) -> None:
    refused = client.send("GET", f"{JOBS}?{query}")
    assert (refused.status, refused.pointers) == (422, [pointer])


def test_a_cursor_goes_on_in_the_order_that_made_it(client: Client) -> None:
    by_failure = client.send("GET", f"{JOBS}?health=failing&limit=1").json["nextCursor"]
    by_name = client.send("GET", f"{JOBS}?limit=1").json["nextCursor"]
    for query, cursor in (("sort=name", by_failure), ("health=failing", by_name)):
        refused = client.send("GET", f"{JOBS}?{query}&cursor={cursor}")
        assert (refused.status, refused.pointers) == (422, ["/cursor"])
